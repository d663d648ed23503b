"""Whoever learns in a study, by name: agents, and imitators of an optimal expert."""

import math
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

import numpy as np

from optimist import checks
from optimist.agents import AGENTS, Agent, RmaxRaviUcb
from optimist.agents.psrl import PsrlConfig
from optimist.core.tabular import PSRL, check_tables
from optimist.envs import Gym, World
from optimist.experiments.parameters import from_plain
from optimist.features import FeatureMap, OneHot, OneHotState, StateOnly
from optimist.imitation import FeatureDataset, FraIL, FraILConfig


@dataclass(frozen=True)
class ImitationConfig(FraILConfig):
    """The parameters of FRA-IL, and what it is shown: an optimal policy of the world it is in.

    Attributes
    ----------
    samples
        tau_E, how many features of the expert there are; inf for its exact expectation.
    features
        What is shown of a pair (x, a): "states" for e_x, "pairs" for both, "linear" for the
        features in which the world is linear.
    """

    samples: float = math.inf
    features: str = "states"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.samples != math.inf:
            whole(self.samples)
        if self.features not in FEATURES:
            raise ValueError(f"features = {self.features!r} is none of {', '.join(FEATURES)}")


Shown = Literal["states", "pairs", "linear"]
FEATURES: tuple[str, ...] = get_args(Shown)

LEARNERS: dict[str, type[Any]] = {**AGENTS, FraIL.__name__: FraIL}
"""Every learner by name."""

CONFIGS: dict[str, type[Any]] = {
    **{name: agent.Config for name, agent in AGENTS.items()},
    FraIL.__name__: ImitationConfig,
}
"""The parameters that a study gives each of them."""


def study_config(given: Any) -> Any:
    """A learner's configuration in a study: of its class the default one."""
    for name, learner in LEARNERS.items():
        if given is learner:
            return from_plain(CONFIGS[name], {})
    if type(given) is FraILConfig:  # with the default expert
        return ImitationConfig(**{f.name: getattr(given, f.name) for f in fields(given)})
    return given


def check_together(world: World | Gym, config: Any) -> None:
    """Refuse an imitator where no expert is known, and tables without states, or of too many."""
    if not isinstance(world, Gym):
        if isinstance(config, PsrlConfig):  # whose table is quadratic in the states
            check_tables(world.mdp, PSRL)
        return
    if isinstance(config, ImitationConfig):
        raise ValueError(
            f"FraIL imitates an optimal expert in a study, and none is known in {world.id}"
        )
    for name, kind in CONFIGS.items():
        if type(config) is kind and not issubclass(LEARNERS[name], RmaxRaviUcb):
            raise ValueError(f"{name} learns in finite worlds, and {world.id} is an environment")


def make_learner(
    name: str, config: Any, world: World | Gym, episodes: int, stride: int, seed: int
) -> Agent:
    """A learner before its first episode."""
    made: Agent
    if isinstance(world, Gym):
        phi: Any = world.features or None
        given: Any = {"config": config, "seed": seed, "stride": stride, **world.terms}
        made = AGENTS[name](world.make(), features=phi, **given)
    elif isinstance(config, ImitationConfig):
        phi_r = shown_features(world, config.features)
        expert = expert_data(world, phi_r, config.samples, seed)
        made = FraIL(world, expert, phi_r, world.features, config, episodes, seed, stride)
    else:
        made = AGENTS[name](world, config=config, seed=seed, stride=stride)
    return made


def shown_features(world: World, features: str) -> FeatureMap:
    """The map phi_r of a world by its name."""
    X, A = world.mdp.n_states, world.mdp.n_actions
    if features == "linear":
        return world.features
    return OneHot(X, A) if features == "pairs" else StateOnly(OneHotState(X), A)


def expert_data(
    world: World, phi_r: FeatureMap, samples: float, seed: int, policy: Any = None
) -> FeatureDataset:
    """What a policy shows of a world, by default an optimal one; exactly if samples is infinite."""
    expert = world.mdp.optimal().policy if policy is None else policy
    if samples == math.inf:
        return FeatureDataset.from_policy(world, expert, phi_r)
    # Independent of a learner's own numbers, which come of the seed alone.
    rng = np.random.default_rng([seed, 1])
    return FeatureDataset.from_rollouts(world, expert, phi_r, whole(samples), rng)


def whole(samples: float) -> int:
    """A number of samples that is not infinite."""
    if not float(samples).is_integer():
        raise ValueError(f"samples = {samples:g} is not a whole number, nor inf")
    return checks.count(int(samples), "samples")
