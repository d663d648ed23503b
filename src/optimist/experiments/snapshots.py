"""Snapshots: beliefs of an agent during a run, for worlds that can be drawn."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from optimist.agents import Agent
from optimist.checks import FloatArray, IntArray
from optimist.core import storage
from optimist.core.timed import table_in
from optimist.display.text import one_line
from optimist.envs import World
from optimist.errors import FileError


@dataclass(frozen=True)
class Shots(ABC):
    """Beliefs at some moments of a run; the first axis of every array is the moment.

    Attributes
    ----------
    episodes
        The number of episodes played by then, [n].
    """

    KIND: ClassVar[str]

    episodes: IntArray

    @abstractmethod
    def taken(self, agent: Agent, world: Any) -> Self:
        """With the present beliefs of an agent appended."""

    def _append(self, *now: Any) -> Self:
        """With one entry appended to each field, in their order."""
        pairs = zip(vars(self).values(), now, strict=True)
        return type(self)(*(np.concatenate([before, [one]]) for before, one in pairs))

    def until(self, episodes: int) -> Self:
        """The entries up to a number of episodes."""
        keep = self.episodes <= episodes
        return type(self)(**{name: array[keep] for name, array in vars(self).items()})

    def write(self, path: Path, run: str) -> None:
        """Write the beliefs of a run atomically."""
        storage.write(path, self.KIND, {"run": run}, vars(self))

    def read(self, path: Path, run: str) -> Self:
        """Read a file; raises `FileError` if it is of another run or its arrays do not fit."""
        try:
            header, arrays = storage.read(path)
        except OSError as error:
            raise FileError(f"{path} cannot be read: {error.strerror or error}") from None
        if header["kind"] != self.KIND:
            raise FileError(f"{path} holds a {header['kind']}, not {self.KIND}")
        if header.get("run") != run:
            raise FileError(f"{path} is of the run {header.get('run')}, not of {run}")
        if _shapes(arrays) != _shapes(vars(self)) or len({len(a) for a in arrays.values()}) > 1:
            raise FileError(f"{path} is damaged: its arrays do not have the shapes of {self.KIND}")
        return type(self)(**arrays)


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
        Its next policy, [n, X, A].
    """

    __repr__ = one_line

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

    def read(self, path: Path, run: str) -> Self:
        found = super().read(path, run)
        if (found.policy < 0).any() or not np.allclose(found.policy.sum(axis=2), 1):
            raise FileError(f"{path} is damaged: its policies are not distributions")
        return found

    def taken(self, agent: Agent, world: Any) -> Self:
        now = agent.diagnostics
        pi = table_in(agent.mdp, agent.policy)
        return self._append(agent.episodes, now.V, now.CB, now.p, pi)


def _shapes(arrays: Mapping[str, Any]) -> dict[str, Any]:
    """The dtype and the shape of one entry of each array."""
    return {name: (array.dtype, array.ndim, array.shape[1:]) for name, array in arrays.items()}
