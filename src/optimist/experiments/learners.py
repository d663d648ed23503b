"""The learners of a study: agents, algorithms in plain Python, imitators of an optimal expert."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, make_dataclass
from functools import cache
from inspect import signature
from typing import Any, Literal, get_args

import numpy as np

from optimist import checks
from optimist.agents import (
    AGENTS,
    ALGORITHMS,
    Agent,
    Algorithm,
    PythonAgent,
    Rlsvi,
    StableBaselines,
    TrainedModel,
    VariantAgent,
)
from optimist.agents.psrl import PsrlConfig
from optimist.core.tabular import Peer, check_tables
from optimist.envs import Gym, World
from optimist.features import FeatureMap, OneHot, OneHotState, StateOnly
from optimist.imitation import FeatureDataset, FraIL, FraILConfig, TrajectoryDataset
from optimist.registry import Registry, is_ours, source_digest

Shown = Literal["states", "pairs", "linear"]
FEATURES: tuple[str, ...] = get_args(Shown)

LEARNERS = Registry(
    "agent",
    {**AGENTS, **ALGORITHMS, **{kind.__name__: kind for kind in (FraIL, StableBaselines)}},
    ("optimist.agents", "optimist.imitators"),
)
"""Every learner by name, those of other people too."""


@dataclass(frozen=True)
class ExpertData:
    """The parameters of an imitator's data, which are recorded from an optimal policy.

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
        check_own = getattr(super(), "__post_init__", None)  # the imitator's own parameters
        if check_own is not None:
            check_own()
        if self.samples != math.inf:
            _sample_count(self.samples)
        if self.features not in FEATURES:
            raise ValueError(
                f"features must be one of {', '.join(FEATURES)}; got {self.features!r}"
            )


@dataclass(frozen=True)
class ImitationConfig(ExpertData, FraILConfig):
    """The parameters of FRA-IL and of its expert data."""


@dataclass(frozen=True)
class UnknownAgent:
    """An agent whose class is not imported: its results can be read, and it cannot be run."""

    name: str
    parameters: Mapping[str, Any] = field(hash=False)
    source: str


def _is_imitator(kind: type[Any]) -> bool:
    """Whether a learner imitates: its constructor takes the data of an expert."""
    return "expert" in signature(kind).parameters


is_imitator: Callable[[Any], bool] = cache(_is_imitator)  # each run of a study asks of each class


def _config_of(kind: Any) -> type[Any]:
    """The class of a learner's configuration in a study."""
    if kind is FraIL:
        return ImitationConfig
    if is_imitator(kind):
        bases = (ExpertData, kind.Config)
        return make_dataclass(f"{kind.__name__}Config", (), bases=bases, frozen=True)
    found: type[Any] = kind.Config
    return found


config_of: Callable[[Any], type[Any]] = cache(_config_of)  # which makes each class once

CONFIGS: dict[str, type[Any]] = {name: config_of(kind) for name, kind in LEARNERS.shipped.items()}
"""The configuration class of each shipped learner in a study."""


def learner_of(config: Any) -> type[Any]:
    """The learner that a configuration belongs to: its class says so."""
    if isinstance(config, Algorithm):
        return type(config)
    for kind in _with_config():
        if type(config) is config_of(kind):
            return kind
    raise TypeError(
        "agent must be an agent, its configuration or an Algorithm, as Optimist or "
        f"Optimist.Config() are; got {config!r}"
    )


def _with_config() -> Iterator[type[Any]]:
    """The agents with a configuration of their own; others are bases."""
    return (kind for kind in _all_below(Agent) if "Config" in vars(kind))


def _all_below(kind: type[Any]) -> Iterator[type[Any]]:
    for below in kind.__subclasses__():
        yield below
        yield from _all_below(below)


def study_config(given: Any) -> Any:
    """The configuration of a learner in a study, given as a configuration or as its class."""
    if isinstance(given, UnknownAgent):
        return given
    if isinstance(given, type):
        if issubclass(given, Algorithm):
            return given()
        if issubclass(given, Agent):
            if "Config" not in vars(given):
                raise TypeError(
                    f"{given.__name__} needs a Config of its own: the class of a configuration "
                    "says which agent it belongs to"
                )
            return config_of(given)()
    for kind in _with_config():
        if is_imitator(kind) and type(given) is kind.Config:  # the data have the defaults
            own = {f.name: getattr(given, f.name) for f in fields(given)}
            return config_of(kind)(**own)
    learner_of(given)  # refuses everything else
    return given


def agent_name(config: Any) -> str:
    """The name of a configuration's agent: as it is shipped, or as ``module:Class``."""
    return config.name if isinstance(config, UnknownAgent) else LEARNERS.name_of(learner_of(config))


def agent_source(config: Any) -> str:
    """A digest of the source of an agent that is not part of this library, else nothing."""
    if isinstance(config, UnknownAgent):
        return config.source
    kind = learner_of(config)
    return "" if is_ours(kind) else source_digest(kind)


def check_together(world: World | Gym, config: Any, by_steps: bool) -> None:
    """Refuse a learner that cannot learn in a world, or not without a number of steps."""
    if isinstance(config, TrainedModel) and not config.name:
        raise ValueError(
            "name must be given in a study, whose files tell models apart by it: "
            "TrainedModel(model, name=...)"
        )
    if isinstance(config, UnknownAgent | Algorithm):
        return
    if isinstance(config, StableBaselines.Config) and not by_steps:
        raise ValueError(
            "StableBaselines needs a study by steps, for which its schedules are made: give steps "
            "instead of episodes"
        )
    if not isinstance(world, Gym):
        if isinstance(config, PsrlConfig):  # its tables are quadratic in the number of states
            check_tables(world.mdp, Peer.PSRL)
        return
    kind = learner_of(config)
    if is_imitator(kind):
        raise ValueError(
            f"{kind.__name__} imitates an optimal expert in a study; none is known in {world.name}"
        )
    if not issubclass(kind, VariantAgent | StableBaselines) or kind is Rlsvi:
        raise ValueError(
            f"{kind.__name__} learns in finite worlds only; {world.name} is not finite"
        )


def make_learner(
    kind: type[Any], config: Any, world: World | Gym, length: int, stride: int, seed: int
) -> Agent:
    """Create a learner of a study, for so many episodes or steps, before its first episode."""
    how: Any = {"seed": seed, "stride": stride}
    made: Agent
    if issubclass(kind, Algorithm):
        made = PythonAgent(world, config, **how)
    elif isinstance(config, ExpertData):
        assert isinstance(world, World)  # `check_together` refuses environments
        phi_r = shown_features(world, config.features)
        expert = expert_data(world, phi_r, config.samples, seed)
        made = kind(world, expert, phi_r, world.features, K=length, config=config, **how)
    elif isinstance(config, StableBaselines.Config):
        given = {"seed": seed, "total_timesteps": length, **config.hyperparameters}
        made = kind(world, config.algorithm, **given)
    else:
        made = kind(world, config=config, **how)
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
    rng = _expert_rng(seed)
    return FeatureDataset.from_rollouts(world, expert, phi_r, _sample_count(samples), rng)


def expert_trajectories(
    world: World,
    trajectories: int,
    seed: int,
    policy: Any = None,
    length: int | None = None,
    actions: bool = True,
) -> TrajectoryDataset:
    """Trajectories of a policy, by default an optimal one (see `TrajectoryDataset`)."""
    expert = world.mdp.optimal().policy if policy is None else policy
    rng = _expert_rng(seed)
    return TrajectoryDataset.from_rollouts(
        world, expert, trajectories, rng, length=length, actions=actions
    )


def _expert_rng(seed: int) -> np.random.Generator:
    # The learner's generator is seeded with the seed alone, so the two are independent.
    return np.random.default_rng([seed, 1])


def _sample_count(samples: float) -> int:
    if not float(samples).is_integer():
        raise ValueError(f"samples must be a whole number or inf; got {samples:g}")
    return checks.count(int(samples), "samples")
