"""The learners of a study by name: agents, and FRA-IL with an optimal expert."""

import math
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

import numpy as np

from optimist import checks
from optimist.agents import AGENTS, Agent, Rlsvi, VariantAgent
from optimist.agents.psrl import PsrlConfig
from optimist.core.tabular import Peer, check_tables
from optimist.envs import Gym, World
from optimist.features import FeatureMap, OneHot, OneHotState, StateOnly
from optimist.imitation import FeatureDataset, FraIL, FraILConfig


@dataclass(frozen=True)
class ImitationConfig(FraILConfig):
    """The parameters of FRA-IL and of its expert data, recorded from an optimal policy.

    Attributes
    ----------
    samples
        tau_E, the number of samples of the expert's features; inf gives their exact expectation.
    features
        The reward features: "states" for one-hot states, "pairs" for one-hot pairs, "linear" for
        the features in which the world is linear.
    """

    samples: float = math.inf
    features: str = "states"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.samples != math.inf:
            _sample_count(self.samples)
        if self.features not in FEATURES:
            raise ValueError(
                f"features must be one of {', '.join(FEATURES)}; got {self.features!r}"
            )


Shown = Literal["states", "pairs", "linear"]
FEATURES: tuple[str, ...] = get_args(Shown)

LEARNERS: dict[str, type[Any]] = {**AGENTS, FraIL.__name__: FraIL}
"""Every learner by name."""

CONFIGS: dict[str, type[Any]] = {
    **{name: agent.Config for name, agent in AGENTS.items()},
    FraIL.__name__: ImitationConfig,
}
"""The configuration class of each learner in a study."""


def study_config(given: Any) -> Any:
    """The configuration of a learner in a study, given as a configuration or as its class."""
    for name, learner in LEARNERS.items():
        if given is learner:
            return CONFIGS[name]()
    if type(given) is FraILConfig:  # the expert's data have the defaults
        return ImitationConfig(**{f.name: getattr(given, f.name) for f in fields(given)})
    return given


def check_together(world: World | Gym, config: Any) -> None:
    """Refuse a learner that cannot learn in a world."""
    if not isinstance(world, Gym):
        if isinstance(config, PsrlConfig):  # its tables are quadratic in the number of states
            check_tables(world.mdp, Peer.PSRL)
        return
    if isinstance(config, ImitationConfig):
        raise ValueError(
            f"FraIL imitates an optimal expert in a study; none is known in {world.name}"
        )
    for name, kind in CONFIGS.items():
        learner = LEARNERS[name]
        finite = not issubclass(learner, VariantAgent) or learner is Rlsvi
        if type(config) is kind and finite:
            raise ValueError(f"{name} learns in finite worlds only; {world.name} is not finite")


def make_learner(
    name: str, config: Any, world: World | Gym, episodes: int, stride: int, seed: int
) -> Agent:
    """Create a learner."""
    how: Any = {"seed": seed, "stride": stride, "config": config}
    if isinstance(world, World) and isinstance(config, ImitationConfig):
        phi_r = shown_features(world, config.features)
        expert = expert_data(world, phi_r, config.samples, seed)
        return FraIL(world, expert, phi_r, world.features, K=episodes, **how)
    made: Agent = AGENTS[name](world, **how)
    return made


def shown_features(world: World, features: str) -> FeatureMap:
    """The reward features phi_r of a world, by name."""
    X, A = world.mdp.n_states, world.mdp.n_actions
    if features == "linear":
        return world.features
    return OneHot(X, A) if features == "pairs" else StateOnly(OneHotState(X), A)


def expert_data(
    world: World, phi_r: FeatureMap, samples: float, seed: int, policy: Any = None
) -> FeatureDataset:
    """Expert data of a policy, by default an optimal one; exact if samples is inf."""
    expert = world.mdp.optimal().policy if policy is None else policy
    if samples == math.inf:
        return FeatureDataset.from_policy(world, expert, phi_r)
    # The learner's generator is seeded with the seed alone, so the two are independent.
    rng = np.random.default_rng([seed, 1])
    return FeatureDataset.from_rollouts(world, expert, phi_r, _sample_count(samples), rng)


def _sample_count(samples: float) -> int:
    if not float(samples).is_integer():
        raise ValueError(f"samples must be a whole number or inf; got {samples:g}")
    return checks.count(int(samples), "samples")
