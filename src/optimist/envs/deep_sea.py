"""DeepSea: a treasure that only n right moves in a row reach."""

import math
from dataclasses import dataclass

import numpy as np

from optimist import checks
from optimist.envs.world import World, start_in_first
from optimist.mdp import FiniteMDP, build_kernel

LEFT, RIGHT = 0, 1


@dataclass(frozen=True)
class DeepSea(World):
    """An n x n sea in which every move sinks one row (Osband, Van Roy, Russo and Wen, 2019).

    From the top left, each step goes down and one column left or right, or straight down where
    there is no column to the left. Choosing right on the bottom right cell finds the treasure,
    worth 1. Every left pays 0.01 / n: the usual cost of moving right, shifted so that no reward is
    negative. The bottom row leads to an absorbing state, the last, which pays 0. With probability
    ``slip`` a move to the right goes left.

    The states are the cells that can be reached, column <= row, counted row by row.

    Attributes
    ----------
    n
        Number of rows, and of columns.
    slip
        Probability that a move to the right goes left.
    gamma
        The discount factor.
    """

    n: int = 10
    slip: float = 0.0
    gamma: float = 0.99

    def build(self) -> FiniteMDP:
        n, slip = checks.count(self.n, "n", least=2), checks.probability(self.slip, "slip")
        self.check_size(n * (n + 1) // 2 + 1, n_actions=2, successors=2)
        row, column = np.tril_indices(n)
        end = len(row)
        below = (row + 1) * (row + 2) // 2  # the first state of the next row
        left = np.append(np.where(row < n - 1, below + np.maximum(column - 1, 0), end), end)
        right = np.append(np.where(row < n - 1, below + column + 1, end), end)
        P = build_kernel(
            n_actions=2, moves=[(LEFT, left, 1.0), (RIGHT, left, slip), (RIGHT, right, 1 - slip)]
        )
        r = np.zeros((end + 1, 2))
        r[:end, LEFT] = 0.01 / n
        r[end - 1, RIGHT] = 1
        return FiniteMDP(P, r, start_in_first(end + 1), self.gamma)

    @property
    def board(self) -> tuple[str, ...]:
        """The reachable triangle, and below it the ground."""
        sea = ["." * (row + 1) + " " * (self.n - row - 1) for row in range(self.n)]
        sea[0] = "s" + sea[0][1:]
        sea[-1] = sea[-1][:-1] + "$"
        return (*sea, "=" * self.n)

    def position(self, state: int) -> tuple[int, int]:
        row = (math.isqrt(8 * state + 1) - 1) // 2  # rows begin at the states row (row + 1) / 2
        return row, state - row * (row + 1) // 2

    @property
    def moves(self) -> tuple[tuple[int, int], ...]:
        """Down and left, down and right."""
        return (1, -1), (1, 1)
