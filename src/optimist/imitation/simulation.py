"""Rollouts of a policy in a finite MDP, played side by side."""

import numpy as np

from optimist.checks import FloatArray, IntArray
from optimist.core.arrays import simulator
from optimist.mdp import FiniteMDP


class Simulation:
    """Rollouts of a policy [X, A] in a finite MDP, played side by side."""

    def __init__(self, mdp: FiniteMDP, pi: FloatArray, rng: np.random.Generator) -> None:
        self.shape, self.rng = pi.shape, rng
        self.entries, self.nu0_sums = simulator(mdp), np.cumsum(mdp.nu0)
        self.pi_sums = np.cumsum(pi, axis=1).ravel()

    def start(self, n: int) -> IntArray:
        """The first states of n rollouts."""
        none = np.zeros(n, dtype=np.int64)
        return draw_entries(self.nu0_sums, none, none + self.shape[0] - 1, self.rng)

    def act(self, states: IntArray) -> IntArray:
        """The actions in these states."""
        A = self.shape[1]
        first = states * A
        return np.asarray(draw_entries(self.pi_sums, first, first + A - 1, self.rng) - first)

    def step(self, states: IntArray, actions: IntArray) -> IntArray:
        """The states after these pairs."""
        pair, entries = states * self.shape[1] + actions, self.entries
        last = entries.first[pair + 1] - 1
        return np.asarray(
            entries.after[draw_entries(entries.cumulative, entries.first[pair], last, self.rng)]
        )


def draw_entries(
    cumulative: FloatArray, first: IntArray, last: IntArray, rng: np.random.Generator
) -> IntArray:
    """Draw one entry of each range, by bisection of its cumulative probabilities."""
    # Scale by the sum, which is 1 only up to rounding. Impossible entries are never drawn.
    goal = rng.random(first.size) * cumulative[last]
    low, high = first, last
    while (low < high).any():
        middle = (low + high) // 2
        beyond = cumulative[middle] <= goal  # false at the last entry, so low stays in range
        low, high = np.where(beyond, middle + 1, low), np.where(beyond, high, middle)
    return low
