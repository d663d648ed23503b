"""A run as data: a world, an agent, a number of episodes and a seed; and its identity."""

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
from optimist.experiments.parameters import (
    Plain,
    did_you_mean,
    from_plain,
    to_plain,
)

FORMAT = 1

AnyWorld = World | Gym
"""A world that a study can have: a known MDP, or any Gymnasium environment."""

KINDS: dict[str, type[Any]] = {**WORLDS, Gym.__name__: Gym}
"""The classes of worlds by name."""

LATER: dict[str, Plain] = {
    "RmaxRaviUcb": {"lazy": False, "v_max": "none", "bonus": "none", "tolerance": 0.0},
    "FraIL": {"bonus": "none", "tolerance": 0.0},
    "Psrl": {"lazy": False},
    "Rlsvi": {"lazy": False},
    "RaviUcb": {"ridge": 1.0},
    "OptimisticVI": {"ridge": 1.0},
}
"""Parameters of agents that came later, and what they were before: where they still are, the
specification of a run leaves them out, so that runs keep their names and seeds. What is missing
there is what was before, whatever the default value is by now."""

EVALUATIONS = 400
"""About how many policies of a run are evaluated if nobody says."""


@dataclass(frozen=True)
class Specification:
    """Everything that a run depends on. Two runs with the same specification are the same run.

    Attributes
    ----------
    world
        A shipped world, or `envs.Gym`.
    agent
        The configuration of an agent: which agent it is for, its class says.
    episodes
        How many episodes are played.
    stride
        Every so many episodes the policy is evaluated exactly; in a Gymnasium environment, over so
        many episodes a return is averaged.
    seed
        The seed that the agent is given.

    Examples
    --------
    >>> from optimist import agents, envs
    >>> rmax = agents.Rmax.Config()
    >>> spec = Specification(envs.RiverSwim(6), rmax, episodes=100, stride=1, seed=0)
    >>> spec.id
    'fec5a20e8279039b'
    >>> Specification.from_plain(spec.plain) == spec
    True
    """

    world: AnyWorld
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
        """The specification as plain data, every parameter spelt out but for `LATER`."""
        return {
            "format": FORMAT,
            "world": world_table(self.world),
            "agent": _identity(self.agent),
            "episodes": self.episodes,
            "stride": self.stride,
            "seed": self.seed,
        }

    @cached_property
    def id(self) -> str:
        """A digest of the specification, by which the run is known."""
        return digest(self.plain)[:16]

    @classmethod
    def from_plain(cls, data: Plain) -> "Specification":
        """The specification of plain data."""
        if data.get("format") != FORMAT:
            raise ValueError(f"a specification of format {data.get('format')}, not {FORMAT}")
        keys = {"format", "world", "agent", "episodes", "stride", "seed"}
        if set(data) != keys:
            odd = ", ".join(sorted(set(data) ^ keys))
            raise ValueError(f"a specification has {', '.join(sorted(keys))}; wrong about {odd}")
        return cls(
            read_world(data["world"]),
            read_agent(_with_later(data["agent"])),
            data["episodes"],
            data["stride"],
            data["seed"],
        )

    def learner(self) -> Agent:
        """The agent, before its first episode."""
        name = agent_name(self.agent)
        return make_learner(name, self.agent, self.world, self.episodes, self.stride, self.seed)


def digest(data: Plain) -> str:
    """A digest of plain data."""
    text = json.dumps(data, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def derived_seed(seed: int, index: int, world: AnyWorld, agent: Any) -> int:
    """The seed of the run with a number ``index`` in a study of seed ``seed``.

    It depends on the world and the agent of the run and on nothing else of the study, so that
    adding an agent, a world or a seed changes no other run. Runs that differ in the number of their
    episodes alone share it, and one begins as the other, unless its parameters depend on that
    number, as an imitator's step does; all others are independent.
    """
    own = digest({"world": world_table(world), "agent": _identity(agent)})
    entropy = [seed, index, int(own[:32], 16)]
    return int(np.random.SeedSequence(entropy).generate_state(1, np.uint64)[0] >> 1)


def default_stride(episodes: int) -> int:
    """How often policies are evaluated if nobody says."""
    return max(1, checks.count(episodes, "episodes") // EVALUATIONS)


def world_name(world: Any) -> str:
    """The name of a shipped world, or of `envs.Gym`."""
    name = type(world).__name__
    if type(world) is not KINDS.get(name):
        raise TypeError(f"{world!r} is not a shipped world: {', '.join(KINDS)}")
    return name


def world_table(world: AnyWorld) -> Plain:
    """The table that names a world and gives its parameters, but for a bound that is not known.

    There was no such bound at first, and runs keep their names.
    """
    table = {"world": world_name(world), **to_plain(world)}
    return {k: v for k, v in table.items() if (k, v) != ("value_bound", "none")}


def agent_table(config: Any) -> Plain:
    """The table that names an agent and gives its parameters."""
    return {"agent": agent_name(config), **to_plain(config)}


def _identity(config: Any) -> Plain:
    """The table of an agent without what it left as it was before there was a parameter for it."""
    before = LATER.get(agent_name(config), {})
    told = agent_table(config).items()
    return {k: v for k, v in told if k not in before or v != before[k]}


def _with_later(identity: Plain) -> Plain:
    """The table of an agent with what its identity leaves out."""
    before = [LATER[name] for name in LATER if name == identity.get("agent")]
    return {**(before[0] if before else {}), **identity}


def agent_name(config: Any) -> str:
    """The name of the agent that a configuration is for."""
    for name, kind in CONFIGS.items():
        if type(config) is kind:
            return name
    raise TypeError(f"{config!r} is not the configuration of an agent: {', '.join(CONFIGS)}")


def read_world(data: Mapping[str, Any], path: tuple[str, ...] = ()) -> AnyWorld:
    """The world of a table that names it and gives its parameters."""
    kind, parameters = _split(data, "world", KINDS, path)
    world: AnyWorld = from_plain(kind, parameters, path)
    return world


def read_agent(data: Mapping[str, Any], path: tuple[str, ...] = ()) -> Any:
    """The configuration of the agent of a table that names it and gives its parameters."""
    kind, parameters = _split(data, "agent", CONFIGS, path)
    return from_plain(kind, parameters, path, data["agent"])


def _split(
    data: Mapping[str, Any], key: str, known: Mapping[str, Any], path: tuple[str, ...]
) -> tuple[Any, Plain]:
    if key not in data:
        raise DataError(path, f"{key} is missing: one of {', '.join(known)}")
    name = data[key]
    if not isinstance(name, str) or name not in known:
        hint = did_you_mean(str(name), known, "there are")
        raise DataError((*path, key), f"there is no {key} {name!r}: {hint}")
    return known[name], {k: v for k, v in data.items() if k != key}
