"""RiverSwim: swimming against the current, and why a little reward close by is dangerous."""

from dataclasses import dataclass

import numpy as np

from optimist import checks
from optimist.envs.world import World
from optimist.mdp import FiniteMDP

LEFT, RIGHT = 0, 1


@dataclass(frozen=True)
class RiverSwim(World):
    """A chain of n states with a current to the left (Strehl and Littman, 2008).

    The numbers are those of Osband, Russo and Van Roy (2013).

    Swimming left always succeeds. Swimming right moves ahead with probability 0.35, keeps still
    with 0.6 and slips back with 0.05; at the first state it moves ahead with 0.6 and keeps still
    with 0.4, at the last it keeps still with 0.6 and slips back with 0.4. The first state pays
    0.005 for left, the last pays 1 for right. Episodes start at the first, so random play earns the
    small reward and all but never sees the large one.
    """

    n: int = 6
    gamma: float = 0.99

    def build(self) -> FiniteMDP:
        n = checks.count(self.n, "n", least=2)
        P = np.zeros((n, 2, n))
        r = np.zeros((n, 2))
        P[0, LEFT, 0] = 1
        P[0, RIGHT, [0, 1]] = 0.4, 0.6
        for x in range(1, n - 1):
            P[x, LEFT, x - 1] = 1
            P[x, RIGHT, [x - 1, x, x + 1]] = 0.05, 0.6, 0.35
        P[n - 1, LEFT, n - 2] = 1
        P[n - 1, RIGHT, [n - 2, n - 1]] = 0.4, 0.6
        r[0, LEFT] = 0.005
        r[n - 1, RIGHT] = 1
        return FiniteMDP(P, r, np.eye(n)[0], self.gamma)

    @property
    def board(self) -> tuple[str, ...]:
        """The river, source to the right."""
        return ("s" + "." * (self.n - 2) + "$",)

    def position(self, state: int) -> tuple[int, int]:
        return 0, state

    @property
    def moves(self) -> tuple[tuple[int, int], ...]:
        """Left and right."""
        return (0, -1), (0, 1)
