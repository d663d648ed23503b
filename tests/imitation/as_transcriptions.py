"""The library's learners with the arguments and results of their transcriptions.

So that a property is tested of both. The seed of a learner is drawn from the generator given.
"""

from types import SimpleNamespace

import numpy as np
from transcriptions.mimic_md import Found

from optimist.imitation import MbTail, MimicMD, Mobile, TrajectoryDataset
from optimist.imitation.mb_tail import MbTailDriver
from optimist.imitation.mimic_md import outside_part
from optimist.imitation.mobile import MobileDriver
from optimist.mdp import FiniteMDP, match_occupancy


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


class LibraryMbTail:
    """With practical bonuses, whatever B is."""

    def __init__(self, P, nu0, gamma, states, actions, K, rng, *, B, told=None):
        class Told(MbTailDriver):
            if told is not None:
                P, nu0, inside = told

        class Learner(MbTail):
            Driver = MbTailDriver if told is None else Told

        data = TrajectoryDataset(states, actions)
        il = Learner(world_of(P, nu0, gamma), data, K=max(K, 5), seed=seed_of(rng))
        il.learn()
        self.found, self.policy = found_by(il), il.output.table
        self.P, self.nu0 = il._driver.P, il._driver.nu0
        if told is None:
            self.P = self.P.toarray().reshape(P.shape)


def library_rollouts_in(play, kappa, A, K):
    """mu_in of K episodes of the cloned policy, by a learner that is made at the first call."""
    if not hasattr(play, "il"):
        P = np.diff(play.P, axis=2, prepend=0.0)
        start = np.diff(play.nu0, prepend=0.0)
        known = np.flatnonzero(kappa >= 0)
        data = TrajectoryDataset(known[None], kappa[known][None])  # one path, so that D1 is all
        play.il = MbTail(world_of(P, start, play.gamma), data, K=10**6, stride=0)
        np.testing.assert_array_equal(play.il.target.kappa, kappa)
    before = play.il._driver.tail.counts.copy()
    play.il.learn(K)
    new = play.il._driver.tail.counts - before
    return (1 - play.gamma) / K * new.reshape(len(kappa), A)


class LibraryMobile:
    """``m`` is the expert's law of states; ``bonus(n, k)``, or ``told`` for the model's error."""

    def __init__(self, P, nu0, gamma, m, rng, *, bonus=None, told=False):
        outer = self

        class Driver(MobileDriver):
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
        self.il._driver.m = m

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
