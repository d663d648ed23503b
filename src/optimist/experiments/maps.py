"""Maps: beliefs of an agent during a run, on a grid of two-dimensional observations."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from gymnasium import spaces

from optimist.agents import Agent, VariantAgent
from optimist.checks import FloatArray, IntArray
from optimist.display.text import one_line
from optimist.envs import Gym
from optimist.experiments.snapshots import Shots, Snapshots
from optimist.experiments.worlds import StudyWorld

SIDE = 40
"""Cells of a map along each dimension."""


@dataclass(frozen=True)
class Maps(Shots):
    """Beliefs about the centres of the G = `SIDE`^2 cells of a plane, row by row from the top.

    The first dimension increases from left to right, the second from bottom to top.

    Attributes
    ----------
    value
        The agent's V, [n, G].
    bonus, ascension
        Its bonuses CB and probabilities of heaven p+, averaged over the actions, [n, G].
    visits
        The number of visits, summed over the actions (`Beliefs`), [n, G].
    action
        The most likely action of its next policy, [n, G].
    """

    __repr__ = one_line

    KIND = "maps"

    value: FloatArray
    bonus: FloatArray
    ascension: FloatArray
    visits: FloatArray
    action: IntArray

    @classmethod
    def none(cls) -> "Maps":
        """No maps yet."""
        cells, whole = np.zeros((0, SIDE**2)), np.zeros((0, SIDE**2), dtype=np.int64)
        return cls(np.zeros(0, dtype=np.int64), cells, cells, cells, cells, whole)

    def taken(self, agent: Any, world: Any) -> Self:
        seen = agent.believe(centres(world))
        return self._append(
            agent.episodes,
            seen.value,
            seen.bonus.mean(axis=1),
            seen.ascension.mean(axis=1),
            seen.visits.sum(axis=1),
            seen.policy.argmax(axis=1),
        )


def no_shots(world: StudyWorld) -> Shots:
    """Empty snapshots or maps of a world that can be drawn."""
    return Maps.none() if isinstance(world, Gym) else Snapshots.none(world)


def is_drawn(world: StudyWorld, agent: Agent) -> bool:
    """Whether an agent can be drawn in a world, so that its run records its beliefs."""
    if isinstance(world, Gym):
        return is_plane(world) and isinstance(agent, VariantAgent)
    return world.map is not None


def is_plane(world: Gym) -> bool:
    """Whether the observations of an environment are points of a bounded plane."""
    box = world.observation_space
    return isinstance(box, spaces.Box) and box.shape == (2,) and box.is_bounded()


def corners(world: Gym) -> FloatArray:
    """The bounds of each dimension of a plane, [2, 2]."""
    box = world.observation_space
    assert isinstance(box, spaces.Box)
    return np.array([box.low, box.high], dtype=np.float64).T


def centres(world: Gym) -> FloatArray:
    """The centres of the cells, row by row from the top, [G, 2].

    Examples
    --------
    >>> centres(Gym("MountainCar-v0"))[[0, -1]].round(3)
    array([[-1.178,  0.068],
           [ 0.578, -0.068]])
    """
    (left, right), (bottom, top) = corners(world)
    share = (np.arange(SIDE) + 0.5) / SIDE
    y, x = np.meshgrid(top + share * (bottom - top), left + share * (right - left), indexing="ij")
    return np.stack([x.ravel(), y.ravel()], axis=1)
