"""OAL (Shani, Zahavy and Mannor, 2021), Algorithm 2, discounted and stationary, with costs."""

import numpy as np

from transcriptions.common import Counts, Play, occupancy, softmax, sweeps


def theory_steps(H, X, A, K):
    """t_pi and t_c."""
    return np.sqrt(2 * np.log(A) / (H**2 * K)), np.sqrt(X * A / (2 * K))


def theory_bonus(H, X, A, K, delta=0.1):
    log = np.log(3 * H**2 * X * A * K / delta)
    return lambda n: 2 * H * np.sqrt(X * log / n)


def practical_bonus(H, c=0.1):
    return lambda n: c * H / np.sqrt(n)


class Oal:
    """P is unknown. ``told`` = (P, nu0) replaces the model, with no bonus, in tests."""

    def __init__(self, P, nu0, gamma, mu_E, rng, *, t_pi, t_c, bonus, told=None, tolerance=1e-4):
        X, A, _ = P.shape
        self.gamma, self.H, self.mu_E = gamma, 1 / (1 - gamma), mu_E
        self.t_pi, self.t_c, self.bonus, self.told = t_pi, t_c, bonus, told
        self.tolerance = tolerance * self.H
        self.play, self.counts = Play(P, nu0, gamma, rng), Counts(X, A)
        # pi_1 uniform; c_1 = 1/2; V = 0
        self.pi, self.Q_sum = np.full((X, A), 1 / A), np.zeros((X, A))
        self.c, self.V = np.full((X, A), 0.5), np.zeros(X)
        self.policies, self.costs, self.occupancies = [], [], []

    def model(self):
        """P^ and b = bonus(n), H where n = 0."""
        if self.told is not None:
            return self.told[0], np.zeros(self.c.shape)
        n = self.counts.n
        return self.counts.P, np.where(n > 0, self.bonus(np.maximum(n, 1)), self.H)

    def occupancy(self):
        """d_k = occupancy of pi_k under P^, nu^."""
        nu0 = self.counts.nu0 if self.told is None else self.told[1]
        return occupancy(self.model()[0], nu0, self.gamma, self.pi)

    def evaluate(self):
        """Q = fixed point of clip(c_k - b + gamma P^ V, 0, H), V = <pi_k, Q>."""
        P, b = self.model()

        def Q(V):
            return np.clip(self.c - b + self.gamma * P @ V, 0, self.H)

        self.V = sweeps(lambda V: (self.pi * Q(V)).sum(axis=1), self.V, self.tolerance)
        return Q(self.V)

    def improve(self):
        """pi_{k+1} ~ pi_k exp(-t_pi Q)."""
        self.Q = self.evaluate()
        self.Q_sum = self.Q_sum + self.Q
        self.pi = softmax(-self.t_pi * self.Q_sum)

    def raise_costs(self, d):
        """c_{k+1} = clip(c_k + t_c (d_k - mu^_E), 0, 1)."""
        self.c = np.clip(self.c + self.t_c * (d - self.mu_E), 0, 1)

    def episode(self):
        # play an episode with pi_k; update n, N, nu^
        self.policies.append(self.pi)
        self.costs.append(self.c)
        self.counts.add(*self.play.episode(self.pi))
        d = self.occupancy()
        self.occupancies.append(d)
        self.improve()
        self.raise_costs(d)
