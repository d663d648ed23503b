"""Learners of the library with the interface of their transcriptions, for tests of properties."""

from types import SimpleNamespace

import numpy as np
from transcriptions.common import uniform
from transcriptions.oal import theory_steps

from optimist.core import mirror
from optimist.imitation import ForwardAIL, Oal, TrajectoryDataset
from optimist.imitation.forward_ail import solve_game
from optimist.mdp import FiniteMDP

GO_ON = np.zeros(1, dtype=np.bool_)
ROUNDS = 100
"""K of the learner; its steps are given as multiples of those for K."""


def pairs_of(mu, n=100_000):
    """Trajectories of one step, of which the pairs have the frequencies mu up to 1 / n."""
    counts = np.diff(np.rint(n * np.cumsum(mu)), prepend=0).astype(int)
    x, a = np.divmod(np.repeat(np.arange(mu.size), counts), mu.shape[1])
    return TrajectoryDataset(x[:, None], a[:, None])


class LibraryOal:
    """`optimist.imitation.Oal`, one episode at a time."""

    def __new__(cls, *args, told=None, **options):
        return super().__new__(cls if told is None else ToldOal)

    def __init__(self, P, nu0, gamma, mu_E, rng, *, t_pi, t_c, bonus):
        X, A, _ = P.shape
        self.H = 1 / (1 - gamma)
        steps = np.array([t_pi, t_c]) / theory_steps(self.H, X, A, ROUNDS)
        self.world, self.data = FiniteMDP(P, np.zeros((X, A)), nu0, gamma), pairs_of(mu_E)
        self.told = {"policy_step": steps[0], "cost_step": steps[1], "K": ROUNDS, "stride": 1}
        self.seed, self.bonus = int(rng.integers(2**32)), bonus

    @property
    def bonus(self):
        return None

    @bonus.setter
    def bonus(self, function):
        told = {**self.told, "bonus": float(function(1)) / self.H}
        self.il = Oal(self.world, self.data, seed=self.seed, **told)

    def episode(self):
        self.il.learn(1)

    def evaluate(self):
        """V of the states; Q is not kept, and V is 0 where all Q are."""
        return np.repeat(self.il.diagnostics.V[:, None], self.world.n_actions, axis=1)

    @property
    def counts(self):
        """States all of whose pairs were not visited count as such."""
        n = self.il.visits
        return SimpleNamespace(n=np.broadcast_to(n.sum(axis=1, keepdims=True), n.shape))

    @property
    def policies(self):
        return self.il.history.policies

    @property
    def costs(self):
        return self.il.history.costs


class ToldOal(LibraryOal):
    """The compiled moves of both players with a model that is told, and no bonus."""

    def __init__(self, P, nu0, gamma, mu_E, rng, *, t_pi, t_c, bonus, told, tolerance):
        X, A, _ = P.shape
        first = np.arange(0, X * A * X + 1, X)
        P_hat, self.nu0 = told
        self.rows = first, np.tile(np.arange(X), X * A), P_hat.ravel()
        self.gamma, self.mu_E, self.t_pi, self.t_c = gamma, mu_E, t_pi, t_c
        self.tolerance = tolerance / (1 - gamma)
        self.pi, self.c, self.S = uniform(X, A), np.full((X, A), 0.5), np.zeros((X, A))
        self.V, self.m, self.occupancies = np.zeros(X), np.zeros(X), []

    def episode(self):
        Q, W, none = np.zeros_like(self.pi), np.zeros_like(self.V), np.zeros_like(self.pi)
        mirror.evaluate_costs(
            *self.rows, self.gamma, self.c, none, self.pi, self.tolerance, self.V, W, Q, GO_ON
        )
        starts = np.rint(1e9 * self.nu0).astype(np.int64)
        mirror.solve_occupancy(*self.rows, self.gamma, starts, self.pi, self.m)
        self.occupancies.append(self.m[:, None] * self.pi)
        mirror.step_costs(self.m, self.pi, self.mu_E, self.t_c, self.c)
        mirror.step_policy(Q, self.t_pi, self.S, self.pi, W[:, None] + none)


def library_fail(w, states, actions, K, rng, literal=False):
    """The tables of `ForwardAIL`."""
    world = FiniteMDP(w.P, w.r, w.nu0, w.gamma)
    data = TrajectoryDataset(states, actions)
    il = ForwardAIL(world, data, seed=int(rng.integers(2**32)), literal=literal)
    il.learn(K)
    return il.output.tables


def library_fail_told(P, nu0, laws):
    """The games of `ForwardAIL` with true nu and P in the place of counts."""
    tables, law = [], [nu0]
    for m in laws:
        tables.append(solve_game(law[-1][:, None, None] * P, m))
        law.append(np.einsum("x,xa,xay->y", law[-1], tables[-1], P))
    return np.array(tables), np.array(law)
