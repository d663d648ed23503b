"""StandardImitation: states that are never left, in which nothing but the action matters."""

from dataclasses import dataclass

import numpy as np

from optimist import checks
from optimist.checks import FloatArray, IntArray
from optimist.envs.world import World, in_rows, scatter_actions
from optimist.mdp import FiniteMDP, build_kernel


@dataclass(frozen=True)
class StandardImitation(World):
    """A world on which matching an empirical occupancy may lose where cloning does not.

    Every state is absorbing under every action, episodes start from the uniform rho, and one action
    a*(x) of each state pays 1; the expert plays it and has the value H = 1 / (1 - gamma). Cloning
    loses H (1 - 1/A) rho(unseen). A learner that matches the frequencies rho^ of expert pairs in L1
    may also err on states that it saw: among the minimisers the gap goes up to
    H sum_x (rho - rho^)_+, about H sqrt(X / (2 pi m)) for m pairs. The states alone say nothing of
    the expert.

    Attributes
    ----------
    n
        Number of states.
    n_actions
        Number of actions.
    seed
        Seed of the paying actions.
    gamma
        The discount factor.

    Examples
    --------
    >>> world = StandardImitation(4, n_actions=2, gamma=0.5)
    >>> world.mdp.value(world.expert), world.mdp.value(world.mdp.uniform_policy)
    (2.0, 1.0)
    """

    n: int = 20
    n_actions: int = 5
    seed: int = 0
    gamma: float = 0.9

    def build(self) -> FiniteMDP:
        n = checks.count(self.n, "n")
        n_actions = checks.count(self.n_actions, "n_actions", least=2)
        self.check_size(n, n_actions, successors=1)
        P = build_kernel(n_actions, [(a, np.arange(n), 1.0) for a in range(n_actions)])
        return FiniteMDP(P, self.expert, np.full(n, 1 / n), self.gamma)

    @property
    def special_actions(self) -> IntArray:
        """The action a*(x) of each state, which pays, [X]."""
        return scatter_actions(self.n, self.n_actions, self.seed)

    @property
    def expert(self) -> FloatArray:
        """The expert pi_E, which always plays a*, [X, A]."""
        return np.eye(self.n_actions)[self.special_actions]

    @property
    def board(self) -> tuple[str, ...]:
        """The states, which all pay."""
        return in_rows("$" * self.n)
