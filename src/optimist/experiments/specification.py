"""The specification of a run as data: a world, an agent, episodes, a stride and a seed."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from optimist import checks
from optimist.agents import Agent
from optimist.envs import WORLDS, Gym, World
from optimist.errors import DataError
from optimist.experiments.learners import CONFIGS, check_together, make_learner
from optimist.parameters import Plain, did_you_mean, from_plain, to_plain

FORMAT = 2
"""The format of specifications in files."""

StudyWorld = World | Gym
"""A world of a study: a known MDP, or a Gymnasium environment."""

KINDS: dict[str, type[Any]] = {**WORLDS, Gym.__name__: Gym}
"""The class of each world by name."""

EVALUATIONS = 400
"""About how many policies of a run are evaluated by default."""


@dataclass(frozen=True)
class Specification:
    """All inputs of a run. Two runs with the same specification are the same run.

    Attributes
    ----------
    world
        A shipped world, or `envs.Gym`.
    agent
        The configuration of an agent; its class determines the agent.
    episodes
        The number of episodes.
    stride
        The policy is evaluated exactly every ``stride`` episodes. In a Gymnasium environment,
        returns are averaged over ``stride`` episodes.
    seed
        The seed of the agent.

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
    episodes: int
    stride: int
    seed: int

    def __post_init__(self) -> None:
        world_name(self.world), agent_name(self.agent)
        check_together(self.world, self.agent)
        for name, least in (("episodes", 1), ("stride", 1), ("seed", 0)):
            object.__setattr__(self, name, checks.count(getattr(self, name), name, least))

    @cached_property
    def plain(self) -> Plain:
        """The specification as plain data, with every parameter."""
        return {
            "format": FORMAT,
            "world": world_table(self.world),
            "agent": agent_table(self.agent),
            "episodes": self.episodes,
            "stride": self.stride,
            "seed": self.seed,
        }

    @cached_property
    def id(self) -> str:
        """The name of the run: a digest of its specification."""
        return digest(self.plain)[:16]

    @classmethod
    def from_plain(cls, data: Plain) -> "Specification":
        """Read a specification from plain data."""
        if data.get("format") != FORMAT:
            raise ValueError(f"format must be {FORMAT}; got {data.get('format')!r}")
        keys = {"format", "world", "agent", "episodes", "stride", "seed"}
        if set(data) != keys:
            wrong = ", ".join(sorted(set(data) ^ keys))
            listed = ", ".join(sorted(keys))
            raise ValueError(f"keys must be {listed}; missing or unknown: {wrong}")
        return cls(
            read_world(data["world"]),
            read_agent(data["agent"]),
            data["episodes"],
            data["stride"],
            data["seed"],
        )

    def learner(self) -> Agent:
        """Create the agent."""
        name = agent_name(self.agent)
        return make_learner(name, self.agent, self.world, self.episodes, self.stride, self.seed)


def digest(data: Plain) -> str:
    """Compute the digest of plain data."""
    text = json.dumps(data, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


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


def world_name(world: Any) -> str:
    """The name of a world's class, which must be a shipped one or `envs.Gym`."""
    name = type(world).__name__
    if isinstance(world, Gym) and not isinstance(world.id, str):
        raise TypeError(f"a study needs an environment's id; got an instance of {world.name}")
    if type(world) is not KINDS.get(name):
        raise TypeError(f"world must be one of {', '.join(KINDS)}; got {world!r}")
    return name


def world_table(world: StudyWorld) -> Plain:
    """A world as a table: its name and its parameters."""
    return {"world": world_name(world), **to_plain(world)}


def agent_table(config: Any) -> Plain:
    """An agent as a table: its name and its parameters."""
    return {"agent": agent_name(config), **to_plain(config)}


def agent_name(config: Any) -> str:
    """The name of the agent that a configuration belongs to."""
    for name, kind in CONFIGS.items():
        if type(config) is kind:
            return name
    known = ", ".join(CONFIGS)
    raise TypeError(f"agent must be the configuration of one of {known}; got {config!r}")


def read_world(data: Mapping[str, Any], path: tuple[str, ...] = ()) -> StudyWorld:
    """Read a world from the table of its name and parameters."""
    kind, parameters = _split(data, "world", KINDS, path)
    world: StudyWorld = from_plain(kind, parameters, path)
    return world


def read_agent(data: Mapping[str, Any], path: tuple[str, ...] = ()) -> Any:
    """Read the configuration of an agent from the table of its name and parameters."""
    kind, parameters = _split(data, "agent", CONFIGS, path)
    return from_plain(kind, parameters, path, data["agent"])


def _split(
    data: Mapping[str, Any], key: str, known: Mapping[str, Any], path: tuple[str, ...]
) -> tuple[Any, Plain]:
    """The class that a table names, and the rest of the table."""
    if key not in data:
        raise DataError(path, f"{key} is missing: give one of {', '.join(known)}")
    name = data[key]
    if not isinstance(name, str) or name not in known:
        hint = did_you_mean(str(name), known, "there are")
        raise DataError((*path, key), f"there is no {key} {name!r}: {hint}")
    return known[name], {k: v for k, v in data.items() if k != key}
