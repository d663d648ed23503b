"""The library's learners with the arguments and results of their transcriptions.

So that a property is tested of both. The seed of a learner is drawn from the generator given.
"""

from types import SimpleNamespace

import numpy as np
from transcriptions.common import Play, uniform
from transcriptions.mimic_md import Found
from transcriptions.oal import theory_steps
from transcriptions.ogail import Ogail

from optimist.agents import Cfpo
from optimist.core import mirror
from optimist.core.kernels import read_kernels
from optimist.core.mixture import add_visits, evaluate, expect
from optimist.core.regression import solve
from optimist.core.softmax import softmax_table
from optimist.features import Table
from optimist.imitation import (
    Ball,
    FeatureDataset,
    ForwardAIL,
    Ilarl,
    MbTail,
    MimicMD,
    Mobile,
    Oal,
    TrajectoryDataset,
)
from optimist.imitation.forward_ail import solve_game
from optimist.imitation.mb_tail import MbTailDriver
from optimist.imitation.mimic_md import outside_part
from optimist.imitation.mobile import MobileDriver
from optimist.mdp import FiniteMDP, match_occupancy

GO_ON = np.zeros(1, dtype=np.bool_)
OAL_K = 100
"""K of Oal, of which the steps are given as multiples of those for K."""


def world_of(P, nu0, gamma):
    return FiniteMDP(P, np.zeros(P.shape[:2]), nu0, gamma)


def seed_of(rng):
    return int(rng.integers(2**32))


def found_by(il):
    matching = SimpleNamespace(objective=il.objective, policy=il.output.table)
    return Found(*il.target, matching)


def library_mimic_md(P, nu0, gamma, states, actions, rng):
    il = MimicMD(world_of(P, nu0, gamma), TrajectoryDataset(states, actions), seed=seed_of(rng))
    il.learn()
    return found_by(il)


def library_mimic_md_indexed(P, nu0, gamma, states, actions, rng):
    data = TrajectoryDataset(states, actions)
    il = MimicMD(world_of(P, nu0, gamma), data, seed=seed_of(rng), indexed=True)
    il.learn()
    matching = SimpleNamespace(objective=il.objective, policy=il.tables)
    return Found(*il.target, matching)


def library_unknown_part(states, actions, gamma, kappa, shape):
    world = SimpleNamespace(gamma=gamma, r=np.zeros(shape))
    return outside_part(TrajectoryDataset(states, actions), world, kappa)


def watched(kind, driver, made):
    """A learner whose driver is ``driver``, and is kept in the list ``made``."""

    class Watched(driver):
        def __init__(self, *given):
            super().__init__(*given)
            made.append(self)

    return type(kind.__name__, (kind,), {"Driver": Watched})


class LibraryMbTail:
    """With practical bonuses, whatever B is."""

    def __init__(self, P, nu0, gamma, states, actions, K, rng, *, B, told=None):
        class Told(MbTailDriver):
            if told is not None:
                P, nu0, inside = told

        made = []
        Learner = watched(MbTail, MbTailDriver if told is None else Told, made)
        data = TrajectoryDataset(states, actions)
        il = Learner(world_of(P, nu0, gamma), data, K=max(K, 5), seed=seed_of(rng))
        il.learn()
        self.found, self.policy = found_by(il), il.output.table
        self.P, self.nu0 = made[0].P, made[0].nu0
        if told is None:
            self.P = self.P.toarray().reshape(P.shape)


def library_rollouts_in(play, kappa, A, K):
    """mu_in of K episodes of the cloned policy, by a learner that is made at the first call."""
    if not hasattr(play, "il"):
        P = np.diff(play.P, axis=2, prepend=0.0)
        start = np.diff(play.nu0, prepend=0.0)
        known = np.flatnonzero(kappa >= 0)
        data = TrajectoryDataset(known[None], kappa[known][None])  # one path, so that D1 is all
        play.drivers = []
        Learner = watched(MbTail, MbTailDriver, play.drivers)
        play.il = Learner(world_of(P, start, play.gamma), data, K=10**6, stride=0)
        np.testing.assert_array_equal(play.il.target.kappa, kappa)
    (driver,) = play.drivers
    before = driver.tail.counts.copy()
    play.il.learn(K)
    new = driver.tail.counts - before
    return (1 - play.gamma) / K * new.reshape(len(kappa), A)


class LibraryMobile:
    """``m`` is the expert's law of states; ``bonus(n, k)``, or ``told`` for the model's error."""

    def __init__(self, P, nu0, gamma, m, rng, *, bonus=None, told=False):
        outer = self

        class Driver(MobileDriver):
            def __init__(self, *given):
                super().__init__(*given)
                self.m = m

            @property
            def bonus(self):
                if told:
                    model = self.P.toarray().reshape(P.shape)
                    return gamma / (1 - gamma) * np.abs(model - P).sum(axis=2)
                return bonus(self.n, self.episodes)

            def solve(self):
                b, model, start = self.bonus, self.P.toarray().reshape(P.shape), self.nu0.copy()
                super().solve()
                found = outer.match(self.P, start, b)
                np.testing.assert_allclose(found.policy, self.playing.pi, atol=1e-9)
                certificate = found.objective + 2 * (b * found.mu).sum()
                outer.solutions.append((found, b, model, start, certificate))

        class Learner(Mobile):
            pass

        Learner.Driver = Driver
        self.solutions, self.m, self.gamma = [], m, gamma
        world = world_of(P, nu0, gamma)
        self.il = Learner(world, TrajectoryDataset([[0]]), seed=seed_of(rng), stride=0)

    def match(self, P, nu0, b):
        return match_occupancy(P, nu0, self.m, self.gamma, states=True, bonus=b)

    def episode(self):
        self.il.learn(1)

    @property
    def pi(self):
        return self.il.policy.table

    @property
    def certificate(self):
        return self.il.certificate


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
        steps = np.array([t_pi, t_c]) / theory_steps(self.H, X, A, OAL_K)
        self.world, self.data = world_of(P, nu0, gamma), pairs_of(mu_E)
        self.told = {"policy_step": steps[0], "cost_step": steps[1], "K": OAL_K, "stride": 1}
        self.seed, self.bonus = seed_of(rng), bonus

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
    il = ForwardAIL(world, data, seed=seed_of(rng), literal=literal)
    il.learn(K)
    return il.output.tables


def library_fail_told(P, nu0, laws):
    """The games of `ForwardAIL` with true nu and P in the place of counts."""
    tables, law = [], [nu0]
    for m in laws:
        tables.append(solve_game(law[-1][:, None, None] * P, m))
        law.append(np.einsum("x,xa,xay->y", law[-1], tables[-1], P))
    return np.array(tables), np.array(law)


class LibraryOgail(Ogail):
    """The transcription with the compiled kernels of the library in its place.

    Tests tell it theta, values and gradients, which `OgaIL` does not take; that `OgaIL` is the
    transcription is tested elsewhere.
    """

    def __init__(self, P, nu0, gamma, kernels, *given, **options):
        super().__init__(P, nu0, gamma, kernels, *given, **options)
        d = len(kernels)
        self.known = read_kernels(kernels)
        self.covariance = self.Lambda[None].copy()
        self.inverse = np.linalg.inv(self.covariance)
        self.stale, self.work = np.zeros(1, dtype=np.int64), np.zeros((3, d))

    def features(self, V):
        f = np.zeros((*self.pi.shape, len(self.kernels)))
        for pair, row in enumerate(f.reshape(-1, len(self.kernels))):
            expect(*self.known[:3], pair, V, row)
        return f

    def regress(self, transitions):
        A = self.pi.shape[1]
        for x, a, y in transitions:
            add_visits(
                *self.known, x * A + a, 1.0, self.V[y], self.V, self.covariance, self.inverse,
                self.stale, self.z, self.work,
            )  # fmt: skip
        theta = np.zeros(len(self.kernels))
        solve(self.covariance, self.inverse, self.z, 1.0, theta)
        return theta

    def values(self, r, theta):
        Q, V = np.zeros_like(self.pi), self.V.copy()
        evaluate(
            *self.known, self.covariance, self.inverse, np.asarray(theta, dtype=float), r, self.pi,
            self.gamma, self.kappa, self.top, self.tolerance, self.most, V, Q, self.work,
            np.zeros(1, dtype=bool),
        )  # fmt: skip
        self.V = V
        return Q

    def episode(self):
        super().episode()
        self.pi = np.zeros_like(self.pi)
        softmax_table(self.t_pi, self.Q_sum, self.pi)


class LibraryIlarl:
    """`Ilarl` of the library, batch by batch."""

    def __init__(self, P, nu0, gamma, Phi, Phi_r, lambda_E, rng, *, batch, alpha, eta, beta, ridge,
                 shift, R_max, radius=1.0):  # fmt: skip
        phi_r = Table(Phi_r)
        self.il = Ilarl(
            world_of(P, nu0, gamma),
            FeatureDataset(lambda_E[None], bound=phi_r.bound, exact=True),
            phi_r,
            Table(Phi),
            K=round((radius / (phi_r.bound * alpha)) ** 2),
            seed=seed_of(rng),
            stride=1,
            batch=batch,
            eta=eta * R_max,
            beta=beta * (1 - gamma) / R_max,
            ridge=ridge,
            weights=Ball(radius),
        )
        assert (self.il.R_max, self.il.shift) == (R_max, shift)
        self.batch, self.Phi, self.policies, self.values = batch, Phi, [], []

    def learn_batch(self):
        history = self.il.learn(self.batch)
        self.policies.append(history.policies[0])
        self.values.append(self.il.diagnostics.V)
        self.S, self.weights = self.il.value_sum, self.il.history.weights
        self.Lambda = self.il.diagnostics.Lambda[0]
        self.seen = history.steps.sum() - self.batch  # the last transitions are not seen


class LibraryCfpo:
    """`Cfpo`, one episode at a time, with the numbers of losses; what was played is played again.

    Q is read off the step of the policy: it is log(pi_k / pi_{k+1}) / eta up to a number of each
    state, which V = <pi_k, Q> says.
    """

    def __init__(self, P, nu0, gamma, Phi, rewards, rng, *, K, beta_b, beta_w, eta, ridge=1.0,
                 R_max=1.0, tolerance=1e-4, most=1000):  # fmt: skip
        X, A, d = Phi.shape
        self.beta_b, self.eta, self.rewards, self.R_max = beta_b, eta, rewards, R_max
        self.top, self.k, self.pi = R_max / (1 - gamma), 0, uniform(X, A)
        self.agent = Cfpo(
            world_of(P, nu0, gamma), None if d == X * A else Table(Phi), seed=seed_of(rng),
            stride=1, rewards=self, beta=beta_b, eta=eta, alpha=beta_w / beta_b, omega=np.log(K),
            r_max=R_max, ridge=ridge, tolerance=tolerance / (1 - gamma), updates=most,
        )  # fmt: skip
        rng = np.random.default_rng(np.random.SeedSequence(self.agent.seed).spawn(2)[0])
        self.play, self.known, self.policies = Play(P, nu0, gamma, rng), [], []

    def choose(self, episode, policy):
        return self.rewards(episode + 1), 1

    def episode(self):
        self.k += 1
        played, epoch = self.agent.diagnostics.pi, self.agent.diagnostics.epoch
        self.history = self.agent.learn(1, show_progress=False)
        now = self.agent.diagnostics
        pairs, transitions = self.play.episode(played)
        assert len(pairs) == self.history.steps[0]
        self.known = self.known + transitions
        self.pi = uniform(*played.shape) if now.epoch > epoch else played
        self.l, self.V = self.R_max - self.rewards(self.k), self.top - now.V
        self.u, self.rho, self.policies = now.CB / self.beta_b, 1 - now.p, [*self.policies, played]
        Q = np.log(self.pi / now.pi) / self.eta
        self.Q = Q + (self.V - (self.pi * Q).sum(axis=1))[:, None]
