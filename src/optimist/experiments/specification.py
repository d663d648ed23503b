"""The specification of a run as data: a world, an agent, a length and a seed."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from optimist import checks
from optimist.agents import Agent
from optimist.core.guarantee import failure_probability
from optimist.digests import digest
from optimist.envs import Gym
from optimist.errors import DataError
from optimist.experiments.learners import (
    LEARNERS,
    UnknownAgent,
    agent_name,
    agent_source,
    check_together,
    config_of,
    learner_of,
    make_learner,
    study_config,
)
from optimist.experiments.worlds import StudyWorld, read_world, study_world, world_table
from optimist.parameters import Plain, from_plain, to_plain
from optimist.registry import is_reference

FORMAT = 2
"""The format of specifications in files."""

Unit = Literal["episodes", "steps"]
"""The unit of the length of a run."""

EVALUATIONS = 400
"""About how many policies of a run are evaluated by default."""


@dataclass(frozen=True, eq=False)
class Specification:
    """All inputs of a run. Two runs with the same specification are the same run.

    Attributes
    ----------
    world
        A world, or `envs.Gym`.
    agent
        The configuration of an agent; its class determines the agent. Or an `Algorithm`.
    episodes
        The number of episodes; None in a run by steps.
    stride
        The policy is evaluated exactly every ``stride`` episodes. In a Gymnasium environment,
        returns are averaged over ``stride`` episodes. It is 1 in a run by steps.
    seed
        The seed of the agent.
    steps
        The number of steps in a Gymnasium environment, instead of episodes.
    certify
        The delta at which certificates are asked for, in a finite world; None if they are not.

    Examples
    --------
    >>> from optimist import agents, envs
    >>> rmax = agents.Rmax.Config()
    >>> spec = Specification(envs.RiverSwim(6), rmax, episodes=100, stride=1, seed=0)
    >>> spec.id
    '6b42373e12bc4f96'
    >>> Specification.from_plain(spec.plain) == spec
    True
    """

    world: StudyWorld
    agent: Any
    episodes: int | None
    stride: int
    seed: int
    steps: int | None = None
    certify: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "world", study_world(self.world))
        object.__setattr__(self, "agent", study_config(self.agent))
        check_unit(self.episodes, self.steps)
        if self.steps is not None:
            check_steps(self.world)
        check_together(self.world, self.agent, self.steps is not None)
        for name, least in ((self.unit, 1), ("stride", 1), ("seed", 0)):
            object.__setattr__(self, name, checks.count(getattr(self, name), name, least))
        if self.steps is not None and self.stride != 1:
            raise ValueError(f"stride must be 1 in a run of so many steps; got {self.stride}")
        object.__setattr__(self, "certify", read_certify(self.certify, self.world))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Specification) and self.plain == other.plain

    def __hash__(self) -> int:
        return hash(self.id)

    @property
    def unit(self) -> Unit:
        """The unit of the length of the run: episodes or steps."""
        return "episodes" if self.steps is None else "steps"

    @property
    def length(self) -> int:
        """The number of episodes, or of steps."""
        length: int = getattr(self, self.unit)
        return length

    @cached_property
    def kind(self) -> type[Any] | None:
        """The class of the learner; None if it is not imported."""
        return None if isinstance(self.agent, UnknownAgent) else learner_of(self.agent)

    def __getstate__(self) -> dict[str, Any]:
        """The data that another process needs: names and digests as in this one."""
        _ = self.plain, self.kind
        return vars(self)

    @cached_property
    def plain(self) -> Plain:
        """The specification as plain data, with every parameter."""
        return {
            "format": FORMAT,
            "world": world_table(self.world),
            "agent": agent_table(self.agent),
            **length_table(self.unit, self.length, self.stride),
            "seed": self.seed,
            **certify_table(self.certify),
        }

    @cached_property
    def id(self) -> str:
        """The name of the run: a digest of its specification."""
        return digest(self.plain)[:16]

    @classmethod
    def from_plain(cls, data: Plain, folder: Path | None = None) -> "Specification":
        """Read a specification from plain data; nothing is imported for it.

        ``folder`` is that of the study, which has the arrays of user-defined worlds.
        """
        if data.get("format") != FORMAT:
            raise ValueError(f"format must be {FORMAT}; got {data.get('format')!r}")
        length = {"steps"} if "steps" in data else {"episodes", "stride"}
        keys = {"format", "world", "agent", "seed", *length, *certify_table(data.get("certify"))}
        if set(data) != keys:
            wrong = ", ".join(sorted(set(data) ^ keys))
            listed = ", ".join(sorted(keys))
            raise ValueError(f"keys must be {listed}; missing or unknown: {wrong}")
        world = read_world(data["world"], folder=folder, load=False)
        agent = read_agent(data["agent"], load=False)
        episodes, stride = data.get("episodes"), data.get("stride", 1)
        rest = data.get("steps"), data.get("certify")
        return cls(world, agent, episodes, stride, data["seed"], *rest)

    def learner(self) -> Agent:
        """Create the agent."""
        if self.kind is None:
            raise DataError((), f"the agent {self.agent.name} is not imported: it cannot be run")
        how = (self.world, self.length, self.stride, self.seed)
        return make_learner(self.kind, self.agent, *how)


def check_unit(episodes: Any, steps: Any) -> None:
    """Refuse a length that is given in episodes and in steps, or in neither."""
    if (episodes is None) == (steps is None):
        got = "none" if steps is None else "both"
        raise ValueError(f"exactly one of episodes and steps must be given; got {got}")


def check_steps(world: StudyWorld) -> None:
    """Refuse a finite world in a run by steps."""
    if not isinstance(world, Gym):
        raise ValueError(
            f"steps must be those of a Gymnasium environment; {type(world).__name__} is finite: "
            f"give episodes, which have {world.mdp.horizon:g} steps in the mean"
        )


def length_table(unit: Unit, length: int, stride: int) -> Plain:
    """The length of a run as a table."""
    return {"steps": length} if unit == "steps" else {"episodes": length, "stride": stride}


def read_certify(delta: Any, *worlds: StudyWorld) -> float | None:
    """The delta of certificates in some worlds, if they are asked for."""
    if delta is None:
        return None
    gym = next((world for world in worlds if isinstance(world, Gym)), None)
    if gym is not None:
        raise ValueError(
            f"certify must be left out with a Gymnasium environment, whose states are not known; "
            f"got {gym.name}"
        )
    return failure_probability(delta, "certify")


def certify_table(delta: float | None) -> Plain:
    """The delta of certificates as a table, which is empty without them."""
    return {} if delta is None else {"certify": delta}


def derived_seed(seed: int, index: int, world: StudyWorld, agent: Any) -> int:
    """Derive the seed of run ``index`` in a study with base seed ``seed``.

    It depends on the world and the agent of the run, and on nothing else in the study. Adding an
    agent, a world or a seed therefore changes no other run. Runs that differ only in the number of
    episodes share a seed, so one starts like the other, unless a parameter depends on that number,
    as the step size of an imitator does. All other runs are independent.
    """
    own = digest({"world": world_table(world), "agent": agent_table(agent)})
    entropy = [seed, index, int(own[:32], 16)]
    return int(np.random.SeedSequence(entropy).generate_state(1, np.uint64)[0] >> 1)


def default_stride(episodes: int) -> int:
    """The default number of episodes between two evaluations."""
    return max(1, checks.count(episodes, "episodes") // EVALUATIONS)


def agent_table(config: Any) -> Plain:
    """An agent as a table: its name and its parameters, and a digest if it is not shipped."""
    own = isinstance(config, UnknownAgent)
    table = {"agent": agent_name(config), **(config.parameters if own else to_plain(config))}
    source = agent_source(config)
    return {**table, "source": source} if source else table


def read_agent(data: Mapping[str, Any], path: tuple[str, ...] = (), load: bool = True) -> Any:
    """Read the configuration of an agent from the table of its name and parameters.

    Entry points are loaded only if ``load`` says so. An agent with a digest whose class is not
    imported is read as an `UnknownAgent`.
    """
    table = dict(data)
    if "agent" not in table:
        raise DataError(path, f"agent is missing: give one of {', '.join(LEARNERS.names)}")
    name = table.pop("agent")
    if isinstance(name, str) and is_reference(name) and "source" in table:
        source = table.pop("source")
        if not (LEARNERS.knows(name) or (load and LEARNERS.declared(name))):
            return UnknownAgent(name, table, str(source))
    kind = LEARNERS.find(name, (*path, "agent"))
    return from_plain(config_of(kind), table, path, str(name))
