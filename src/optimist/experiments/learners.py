"""The learners of a study: agents, algorithms in plain Python, imitators of an optimal expert."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, make_dataclass
from functools import cache
from inspect import signature
from typing import Any

from optimist.agents import (
    AGENTS,
    ALGORITHMS,
    Agent,
    Algorithm,
    Optimist,
    PythonAgent,
    Rlsvi,
    StableBaselines,
    TrainedModel,
    VariantAgent,
)
from optimist.agents.psrl import PsrlConfig
from optimist.core.tabular import Peer, check_tables
from optimist.envs import Gym, RandomMixture, RiverSwim, World
from optimist.experiments.experts import (
    ExpertData,
    ExpertTrajectories,
    expert_data,
    expert_trajectories,
    shown_features,
)
from optimist.imitation import (
    IMITATORS,
    FraIL,
    FraILConfig,
    Imitator,
    OgaIL,
    OgaILConfig,
)
from optimist.imitation.oga_il import NO_KERNELS
from optimist.registry import Registry, is_ours, source_digest


def sees_trajectories(kind: type[Any]) -> bool:
    """Whether a learner imitates trajectories of an expert, rather than features."""
    return issubclass(kind, Imitator) and kind.sees != "features"


def plays(kind: type[Any]) -> bool:
    """Whether a learner plays episodes, as a study needs."""
    return not issubclass(kind, Imitator) or kind.plays


LEARNERS = Registry(
    "agent",
    {
        **AGENTS,
        **ALGORITHMS,
        **{kind.__name__: kind for kind in (FraIL, StableBaselines)},
        **{name: kind for name, kind in IMITATORS.items() if plays(kind)},
    },
    ("optimist.agents", "optimist.imitators"),
)
"""Every learner by name, those of other people too."""


@dataclass(frozen=True)
class ImitationConfig(ExpertData, FraILConfig):
    """The parameters of FRA-IL and of its expert data."""


@dataclass(frozen=True)
class UnknownAgent:
    """An agent whose class is not imported: its results can be read, but it cannot be run."""

    name: str
    parameters: Mapping[str, Any] = field(hash=False)
    source: str


def _is_imitator(kind: type[Any]) -> bool:
    """Whether a learner imitates: its constructor takes the data of an expert."""
    return "expert" in signature(kind).parameters


is_imitator: Callable[[Any], bool] = cache(_is_imitator)  # called for each run of a study


def _config_of(kind: Any) -> type[Any]:
    """The class of a learner's configuration in a study."""
    if kind is FraIL:
        return ImitationConfig
    if is_imitator(kind):
        data = ExpertTrajectories if sees_trajectories(kind) else ExpertData
        bases = (data, kind.Config)
        return make_dataclass(f"{kind.__name__}Config", (), bases=bases, frozen=True)
    found: type[Any] = kind.Config
    return found


config_of: Callable[[Any], type[Any]] = cache(_config_of)  # each class is made once

CONFIGS: dict[str, type[Any]] = {name: config_of(kind) for name, kind in LEARNERS.shipped.items()}
"""The configuration class of each shipped learner in a study."""


def learner_of(config: Any) -> type[Any]:
    """The learner that a configuration belongs to, by the configuration's class."""
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
    kind = learner_of(config)
    if not plays(kind):
        raise ValueError(f"{kind.__name__} plays no episodes, as a study needs: call its learn()")
    if not isinstance(world, Gym):
        if isinstance(config, PsrlConfig):  # its tables are quadratic in the number of states
            check_tables(world.mdp, Peer.PSRL)
        if isinstance(config, OgaILConfig) and not config.table and not hasattr(world, "kernels"):
            raise ValueError(NO_KERNELS)
        return
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
    """Create a learner of a study, for a length in episodes or steps, before its first episode."""
    how: Any = {"seed": seed, "stride": stride}
    made: Agent
    if issubclass(kind, Algorithm):
        made = PythonAgent(world, config, **how)
    elif isinstance(config, ExpertData):
        assert isinstance(world, World)  # `check_together` refuses environments
        phi_r = shown_features(world, config.features)
        expert = expert_data(world, phi_r, config.samples, seed)
        phi_P = () if kind is OgaIL else (world.features,)  # it has the world's kernels instead
        made = kind(world, expert, phi_r, *phi_P, K=length, config=config, **how)
    elif isinstance(config, ExpertTrajectories):
        assert isinstance(world, World)
        data = expert_trajectories(world, config.trajectories, seed, length=config.length)
        made = kind(world, data, K=length, config=config, **how)
    elif isinstance(config, StableBaselines.Config):
        given = {"seed": seed, "total_timesteps": length, **config.hyperparameters}
        made = kind(world, config.algorithm, **given)
    else:
        made = kind(world, config=config, **how)
    return made


FIRST_EPISODES = 10
"""Episodes in which a learner calls all of its compiled loops: `MbTail` has one for each phase."""


def compile_learner(kind: type[Any], streams: bool = False) -> None:
    """Compile the loop of a learner in finite worlds, or that of all learners in environments."""
    if streams:
        env = RiverSwim(2).make()
        Optimist(env, gamma=0.5, geometric=True).learn(1, show_progress=False)
    else:  # with default parameters, which all fit this world
        world = RandomMixture(d=1, n_states=2, n_actions=2, successors=2)
        learner = make_learner(kind, config_of(kind)(), world, FIRST_EPISODES, 1, 0)
        learner.learn(FIRST_EPISODES, show_progress=False)
