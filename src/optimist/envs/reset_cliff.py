"""ResetCliff: one right action per state; every mistake leads over a cliff, for ever."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from optimist import checks
from optimist.checks import FloatArray, IntArray
from optimist.envs.world import World, in_rows, scatter_actions
from optimist.mdp import FiniteMDP
from optimist.mdp.kernel import compact


@dataclass(frozen=True)
class ResetCliff(World):
    """The hard instance of behavioural cloning (Rajaraman, Yang, Jiao and Ramchandran, 2020).

    The last state is bad and absorbing, the others are good. In a good state one action a*(x) leads
    to a draw of rho and all others lead to the bad state. Episodes start from rho. Good states pay
    1, so the expert, who plays a*, has the value H = 1 / (1 - gamma). A policy that falls with
    probability q per step in a state drawn from rho loses gamma q H^2 / (1 + gamma q H). Cloning
    falls with q = (1 - 1/A) rho(unseen); a learner that knows that falling is bad has no need to.

    Attributes
    ----------
    n
        Number of states, the bad one included.
    n_actions
        Number of actions.
    m
        0 for a uniform rho. Otherwise rho is the hardest one for m expert pairs: 1 / (m + 1) on all
        good states but the first, which has the rest; m must be at least n - 2.
    pairs
        Whether a good state pays for a*(x) only, instead of for all actions. The loss is then
        q H^2 / (1 + gamma q H).
    seed
        Seed of the right actions.
    gamma
        The discount factor.

    Examples
    --------
    >>> world = ResetCliff(5, n_actions=3, m=7)
    >>> world.rho
    array([0.625, 0.125, 0.125, 0.125, 0.   ])
    >>> round(world.mdp.value(world.expert), 6), world.mdp.value(world.mdp.uniform_policy) < 2.2
    (10.0, True)
    """

    n: int = 20
    n_actions: int = 5
    m: int = 0
    pairs: bool = False
    seed: int = 0
    gamma: float = 0.9

    def build(self) -> FiniteMDP:
        n = checks.count(self.n, "n", least=2)
        n_actions = checks.count(self.n_actions, "n_actions", least=2)
        if not isinstance(self.pairs, bool):
            raise TypeError(f"pairs must be True or False; got {self.pairs!r}")
        self.check_size(n, n_actions, successors=1 + n // n_actions)
        special, rho = self.special_actions, self.rho
        # Good pairs (x, a*(x)) lead to rho, and all other pairs to the bad state.
        good = np.arange(n - 1) * n_actions + special[:-1]
        others = np.setdiff1d(np.arange(n * n_actions), good)
        rows = np.r_[np.repeat(good, n - 1), others]
        columns = np.r_[np.tile(np.arange(n - 1), n - 1), np.full(others.size, n - 1)]
        data = np.r_[np.tile(rho[:-1], n - 1), np.ones(others.size)]
        P = sp.csr_array(sp.coo_array((data, (rows, columns)), shape=(n * n_actions, n)))
        r = np.ones((n, n_actions))
        if self.pairs:
            r = np.eye(n_actions)[special]
        r[-1] = 0
        return FiniteMDP(compact(P, n_actions), r, rho, self.gamma)

    @property
    def rho(self) -> FloatArray:
        """The law of the first state, and of the state after a*, [X]."""
        good, m = self.n - 1, checks.count(self.m, "m", least=0)
        if not m:
            return np.append(np.full(good, 1 / good), 0.0)
        if m < good - 1:
            raise ValueError(f"m must be 0 or at least n - 2 = {good - 1}; got {m}")
        rho = np.full(self.n, 1 / (m + 1))
        rho[0] = 1 - (good - 1) / (m + 1)
        rho[-1] = 0
        return rho

    @property
    def special_actions(self) -> IntArray:
        """The action a*(x) of each state, [X]; in the bad state it does nothing special."""
        return scatter_actions(self.n, self.n_actions, self.seed)

    @property
    def expert(self) -> FloatArray:
        """The expert pi_E, which always plays a*, [X, A]."""
        return np.eye(self.n_actions)[self.special_actions]

    @property
    def board(self) -> tuple[str, ...]:
        """The good states, then the bad one."""
        return in_rows("$" * (self.n - 1) + "x")
