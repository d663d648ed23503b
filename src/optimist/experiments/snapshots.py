"""What an agent believed on the way: pictures of its optimism, for worlds that can be drawn."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from optimist.agents import Agent
from optimist.checks import FloatArray, IntArray
from optimist.core import storage
from optimist.envs import World
from optimist.errors import FileError

MOST_STATES = 2000
"""Worlds with more states are not drawn."""


@dataclass(frozen=True)
class Shots(ABC):
    """Beliefs after some numbers of episodes: arrays that all have one entry for each.

    Attributes
    ----------
    episodes
        After how many episodes, [n].
    """

    KIND: ClassVar[str]

    episodes: IntArray

    @abstractmethod
    def taken(self, agent: Agent, world: Any) -> Self:
        """These, and one of an agent in a world as it is now."""

    def _and(self, *now: Any) -> Self:
        """These, and one more, in the order of the fields."""
        pairs = zip(vars(self).values(), now, strict=True)
        return type(self)(*(np.concatenate([before, [one]]) for before, one in pairs))

    def until(self, episodes: int) -> Self:
        """Those after at most so many episodes."""
        keep = self.episodes <= episodes
        return type(self)(**{name: array[keep] for name, array in vars(self).items()})

    def write(self, path: Path, run: str) -> None:
        """Write those of a run; the file appears whole or not at all."""
        storage.write(path, self.KIND, {"run": run}, vars(self))

    @classmethod
    def read(cls, path: Path, run: str | None = None) -> Self:
        """Those in a file; of this run, if one is given."""
        header, arrays = storage.read(path)
        if header["kind"] != cls.KIND:
            raise FileError(f"{path} holds a {header['kind']}, not {cls.KIND}")
        if run is not None and header["run"] != run:
            raise FileError(f"{path} is of the run {header['run']}, not of {run}")
        return cls(**arrays)


@dataclass(frozen=True)
class Snapshots(Shots):
    """Beliefs about every state of a finite world.

    Attributes
    ----------
    value
        The agent's V, [n, X].
    bonus, ascension
        Its bonuses CB and probabilities of heaven p+, [n, X, A].
    policy
        What it would play next, [n, X, A].
    """

    KIND = "snapshots"

    value: FloatArray
    bonus: FloatArray
    ascension: FloatArray
    policy: FloatArray

    @classmethod
    def none(cls, world: World) -> "Snapshots":
        """No snapshots yet."""
        X, A = world.mdp.r.shape
        pairs = np.zeros((0, X, A))
        return cls(np.zeros(0, dtype=np.int64), np.zeros((0, X)), pairs, pairs, pairs)

    def taken(self, agent: Agent, world: Any) -> Self:
        now = agent.diagnostics
        pi = agent.policy.probabilities(np.arange(len(now.V)))
        return self._and(agent.episodes, now.V, now.CB, now.p, pi)


def can_be_drawn(world: World) -> bool:
    """Whether a world says what it looks like, and is small enough to show."""
    return type(world).board is not World.board and world.mdp.n_states <= MOST_STATES
