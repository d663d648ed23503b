"""RiverSwim: a large reward against the current, and a small one at the start."""

from dataclasses import dataclass

import numpy as np

from optimist import checks
from optimist.envs.world import World, start_in_first
from optimist.mdp import FiniteMDP, build_kernel

LEFT, RIGHT = 0, 1


@dataclass(frozen=True)
class RiverSwim(World):
    """A chain of n states with a current to the left (Strehl and Littman, 2008).

    The numbers are those of Osband, Russo and Van Roy (2013).

    Swimming left always succeeds. Swimming right moves ahead with probability 0.35, keeps still
    with 0.6 and slips back with 0.05; at the first state it moves ahead with 0.6 and keeps still
    with 0.4, at the last it keeps still with 0.6 and slips back with 0.4. The first state pays
    0.005 for left, the last pays 1 for right. Episodes start at the first, so random play earns the
    small reward and almost never the large one.

    Attributes
    ----------
    n
        Number of states.
    gamma
        The discount factor.
    """

    n: int = 6
    gamma: float = 0.99

    def build(self) -> FiniteMDP:
        n = checks.count(self.n, "n", least=2)
        self.check_size(n, n_actions=2, successors=2)
        here = np.arange(n)
        behind, before = np.maximum(here - 1, 0), np.minimum(here + 1, n - 1)
        back, still, ahead = np.full(n, 0.05), np.full(n, 0.6), np.full(n, 0.35)
        back[0], still[0], ahead[0] = 0, 0.4, 0.6
        back[-1], still[-1], ahead[-1] = 0.4, 0.6, 0
        moves = [(RIGHT, behind, back), (RIGHT, here, still), (RIGHT, before, ahead)]
        P = build_kernel(n_actions=2, moves=[(LEFT, behind, 1.0), *moves])
        r = np.zeros((n, 2))
        r[0, LEFT] = 0.005
        r[n - 1, RIGHT] = 1
        return FiniteMDP(P, r, start_in_first(n), self.gamma)

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
