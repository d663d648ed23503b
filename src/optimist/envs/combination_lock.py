"""CombinationLock: a chain in which every mistake leads back to the start."""

from dataclasses import dataclass

import numpy as np

from optimist import checks
from optimist.envs.world import World, start_in_first
from optimist.mdp import FiniteMDP, build_kernel


@dataclass(frozen=True)
class CombinationLock(World):
    """A chain of n states; in each, one action leads on and all others lead back to the start.

    The right action of the last state pays 1 and stays there, so an open lock keeps paying. The
    combination is drawn from ``seed``. Uniform play is paid about once in A^n steps.

    Attributes
    ----------
    n
        Number of states, the length of the combination.
    n_actions
        Number of actions, the digits of each place.
    seed
        Seed of the combination.
    gamma
        The discount factor.
    """

    n: int = 6
    n_actions: int = 4
    seed: int = 0
    gamma: float = 0.95

    @property
    def combination(self) -> tuple[int, ...]:
        """The right action of each state."""
        rng = np.random.default_rng(checks.count(self.seed, "seed", least=0))
        return tuple(int(a) for a in rng.integers(self.n_actions, size=self.n))

    def build(self) -> FiniteMDP:
        n = checks.count(self.n, "n")
        n_actions = checks.count(self.n_actions, "n_actions", least=2)
        self.check_size(n, n_actions, successors=1)
        right = np.array(self.combination)
        on = np.minimum(np.arange(n) + 1, n - 1)
        moves = [(a, np.where(right == a, on, 0), 1.0) for a in range(n_actions)]
        r = np.zeros((n, n_actions))
        r[n - 1, right[-1]] = 1
        return FiniteMDP(build_kernel(n_actions, moves), r, start_in_first(n), self.gamma)

    @property
    def board(self) -> tuple[str, ...]:
        """The digits from left to right."""
        return (("s" + "." * self.n)[: self.n - 1] + "$",)

    def position(self, state: int) -> tuple[int, int]:
        return 0, state
