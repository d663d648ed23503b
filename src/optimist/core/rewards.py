"""Choosers of the rewards r_k; in the paper an adversary chooses them anew after each episode.

A chooser is asked before an episode and answers with the rewards [X, A] and for how many episodes
they hold, so that rewards that seldom change cost nothing. It receives the policy that will play.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from optimist import checks
from optimist.checks import FloatArray
from optimist.display.text import one_line
from optimist.mdp import FiniteMDP

FOR_EVER = 2**62


class Rewards(Protocol):
    """A chooser of rewards."""

    def choose(self, episode: int, policy: FloatArray) -> tuple[FloatArray, int]:
        """The rewards [X, A] of this episode, counted from 0, and how many episodes they hold."""
        ...


@dataclass(frozen=True)
class Fixed:
    """The same rewards always."""

    __repr__ = one_line

    r: FloatArray

    def choose(self, episode: int, policy: FloatArray) -> tuple[FloatArray, int]:
        """The rewards, for ever."""
        return self.r, FOR_EVER


@dataclass(frozen=True)
class Sequence:
    """Rewards given in advance, one for each episode, [K, X, A]."""

    __repr__ = one_line

    r: FloatArray

    def choose(self, episode: int, policy: FloatArray) -> tuple[FloatArray, int]:
        """The rewards of this episode."""
        if episode >= len(self.r):
            raise ValueError(f"there are rewards for {len(self.r)} episodes, not for more")
        return self.r[episode], 1


@dataclass(frozen=True)
class Switching:
    """Several rewards [m, X, A] in turn, each for some episodes, over and over.

    Examples
    --------
    >>> turns = Switching(np.zeros((2, 1, 1)) + [[[0.0]], [[1.0]]], every=10)
    >>> turns.choose(13, policy=np.ones((1, 1)))
    (array([[1.]]), 7)
    """

    __repr__ = one_line

    r: FloatArray
    every: int

    def __post_init__(self) -> None:
        checks.count(self.every, "every")

    def choose(self, episode: int, policy: FloatArray) -> tuple[FloatArray, int]:
        """The rewards of the present turn, for the rest of it."""
        turn, within = divmod(episode, self.every)
        return self.r[turn % len(self.r)], self.every - within


@dataclass(frozen=True)
class Drifting:
    """From one reward function to another in a straight line, then staying there."""

    __repr__ = one_line

    first: FloatArray
    last: FloatArray
    episodes: int

    def __post_init__(self) -> None:
        checks.count(self.episodes, "episodes")

    def choose(self, episode: int, policy: FloatArray) -> tuple[FloatArray, int]:
        """The rewards at this point of the line."""
        if episode >= self.episodes:
            return self.last, FOR_EVER
        way = episode / self.episodes
        return (1 - way) * self.first + way * self.last, 1


@dataclass(frozen=True)
class Adversary:
    """Of some candidates [m, X, A], those that pay the coming policy least, by exact values.

    ``every`` says after how many episodes it chooses again.
    """

    mdp: FiniteMDP
    candidates: FloatArray
    every: int = 1

    def __post_init__(self) -> None:
        checks.count(self.every, "every")

    def choose(self, episode: int, policy: FloatArray) -> tuple[FloatArray, int]:
        """The candidate r that minimises <mu(pi), r>."""
        earned = np.einsum("xa,mxa->m", self.mdp.occupancy(policy), self.candidates)
        return self.candidates[int(np.argmin(earned))], self.every
