"""What an agent believed on the way: pictures of its optimism, for worlds that can be drawn."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from optimist.agents import RmaxRaviUcb
from optimist.checks import FloatArray, IntArray
from optimist.core import storage
from optimist.envs import World

MOST_STATES = 2000
"""Worlds with more states are not drawn."""

KIND = "snapshots"


@dataclass(frozen=True)
class Snapshots:
    """Beliefs after some numbers of episodes.

    Attributes
    ----------
    episodes
        After how many episodes, [n].
    value
        The agent's V, [n, X].
    bonus, ascension
        Its bonuses CB and probabilities of heaven p+, [n, X, A].
    policy
        What it would play next, [n, X, A].
    """

    episodes: IntArray
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

    def taken(self, agent: RmaxRaviUcb) -> "Snapshots":
        """These, and one of an agent as it is now."""
        V, CB, p = agent.optimism
        pi = agent.policy.probabilities(np.arange(len(V)))
        return Snapshots(
            np.append(self.episodes, agent.episodes),
            np.concatenate([self.value, V[None]]),
            np.concatenate([self.bonus, CB[None]]),
            np.concatenate([self.ascension, p[None]]),
            np.concatenate([self.policy, pi[None]]),
        )

    def until(self, episodes: int) -> "Snapshots":
        """Those after at most so many episodes."""
        keep = self.episodes <= episodes
        return Snapshots(**{name: array[keep] for name, array in vars(self).items()})

    def write(self, path: Path, run: str) -> None:
        """Write those of a run; the file appears whole or not at all."""
        storage.write(path, KIND, {"run": run}, vars(self))

    @classmethod
    def read(cls, path: Path, run: str | None = None) -> "Snapshots":
        """Those in a file; of this run, if one is given."""
        header, arrays = storage.read(path)
        if header["kind"] != KIND:
            raise storage.FileError(f"{path} holds a {header['kind']}, not snapshots")
        if run is not None and header["run"] != run:
            raise storage.FileError(f"{path} is of the run {header['run']}, not of {run}")
        return cls(**arrays)


def can_be_drawn(world: World) -> bool:
    """Whether a world says what it looks like, and is small enough to show."""
    return type(world).board is not World.board and world.mdp.n_states <= MOST_STATES
