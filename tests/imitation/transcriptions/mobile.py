"""MobILE (Kidambi, Chang and Sun, 2021), tabular: states only, P unknown.

Confirmed in public abstracts and summaries: optimism inside distribution matching of states, in a
learnt model. From memory: the tabular sigma.
"""

import numpy as np

from optimist.mdp import match_occupancy
from transcriptions.common import Counts, Play


def theory_bonus(H, X, A, delta=0.1):
    """b = H min(sigma, 2), sigma = sqrt(X log(k^2 X A / delta) / n)."""

    def b(n, k):
        log = np.log(k**2 * X * A / delta)
        return H * np.where(n > 0, np.minimum(np.sqrt(X * log / np.maximum(n, 1)), 2), 2)

    return b


def practical_bonus(gamma, c=0.3):
    """b = gamma H min(1, c / sqrt n)."""

    def b(n, k):
        return (
            gamma / (1 - gamma) * np.where(n > 0, np.minimum(1, c / np.sqrt(np.maximum(n, 1))), 1)
        )

    return b


def told_bonus(P, gamma, counts):
    """b = gamma H ||P^ - P||_1, the least that is enough for |f| <= 1."""
    return gamma / (1 - gamma) * np.abs(counts.P - P).sum(axis=2)


class Mobile:
    """``m`` is the expert's law of states [X]; ``bonus(n, k)``, or ``told`` for `told_bonus`."""

    def __init__(self, P, nu0, gamma, m, rng, *, bonus=None, told=False):
        X, A, _ = P.shape
        self.P, self.gamma, self.m, self.bonus, self.told = P, gamma, m, bonus, told
        self.play, self.counts = Play(P, nu0, gamma, rng), Counts(X, A)
        # pi uniform
        self.pi, self.k = np.full((X, A), 1 / A), 0
        self.n_solved = np.zeros((X, A))
        self.certificate, self.output, self.solutions = np.inf, self.pi, []

    def episode(self):
        self.k += 1
        self.counts.add(*self.play.episode(self.pi))
        # if some n(x,a) grew by half since the last solution, or from 0
        n = self.counts.n
        if ((n > self.n_solved) & (n >= 1.5 * self.n_solved)).any():
            self.n_solved = n
            self.solve()

    def solve(self):
        c = self.counts
        b = told_bonus(self.P, self.gamma, c) if self.told else self.bonus(c.n, self.k)
        found = match_occupancy(c.P, c.nu0, self.m, self.gamma, states=True, bonus=b)
        self.pi = found.policy
        # output: the pi of least certificate obj + 2 <b, mu>
        certificate = found.objective + 2 * (b * found.mu).sum()
        self.solutions.append((found, b, c.P, c.nu0, certificate))
        if certificate < self.certificate:
            self.certificate, self.output = certificate, self.pi
