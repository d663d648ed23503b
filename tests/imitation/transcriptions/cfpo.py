"""CFPO (Cassel and Rosenberg, 2024), discounted, with full information of the losses."""

import numpy as np
from scipy.special import expit

from transcriptions.common import Play, softmax, sweeps, weighted_sum


def theory_constants(d, H, A, K, delta=0.1):
    """beta_b, beta_w and eta."""
    beta_b = 28 * H * d * np.sqrt(np.log(10 * K**5 * H / delta))
    beta_w = 4 * beta_b * np.log(np.e * K)
    eta = np.sqrt(3 * d * H * np.log(2 * K) * np.log(A) / (4 * H**2 * K))
    return beta_b, beta_w, eta


def contraction(K, beta_w, u):
    """rho = sigmoid(log K - beta_w u)."""
    return expit(np.log(K) - beta_w * u)


class Cfpo:
    """``rewards(k)`` [X, A] in [0, R_max] for episode k = 1, .., K; losses are R_max - r_k.

    ``ahead`` is the order of Algorithm 1 of FRA-IL's paper: the data of an episode, and the epoch
    that they begin, come before its evaluation.
    """

    def __init__(self, P, nu0, gamma, Phi, rewards, rng, *, K, beta_b, beta_w, eta, ridge=1.0,
                 R_max=1.0, tolerance=1e-4, most=1000, ahead=False):  # fmt: skip
        X, A, d = Phi.shape
        self.gamma, self.Phi, self.rewards, self.R_max, self.K = gamma, Phi, rewards, R_max, K
        self.beta_b, self.beta_w, self.eta, self.ridge = beta_b, beta_w, eta, ridge
        self.tolerance, self.most = tolerance * R_max / (1 - gamma), most
        self.play = Play(P, nu0, gamma, rng)
        # Lambda = ridge I; V = 0
        self.Lambda, self.V, self.D, self.k = ridge * np.eye(d), np.zeros(X), [], 0
        self.S = np.zeros((X, A))
        self.policies, self.ahead, self.e = [], ahead, 0

    def log_det(self):
        return np.linalg.slogdet(self.Lambda)[1]

    def begin_epoch(self):
        """Lambda_e = Lambda, rho = sigmoid(log K - beta_w u), S = 0."""
        # if k = 1 or det Lambda >= 2 det Lambda_e: [equality up to rounding]
        if self.k > 1 and self.log_det() < self.log_det_e + np.log(2) - 1e-9:
            return
        self.e += 1
        self.log_det_e = self.log_det()
        inverse = np.linalg.inv(self.Lambda)
        self.u = np.sqrt(np.einsum("xai,ij,xaj->xa", self.Phi, inverse, self.Phi))
        self.rho = contraction(self.K, self.beta_w, self.u)
        self.S = np.zeros_like(self.S)

    def estimate(self, V):
        """phi.Lambda^-1 sum phi V(x')."""
        return self.Phi @ np.linalg.solve(self.Lambda, weighted_sum(self.Phi, self.D, V))

    def backup(self, V):
        """Q = rho (l_k + gamma phi.Lambda^-1 sum phi V(x') - beta_b u)."""
        return self.rho * (self.l + self.gamma * self.estimate(V) - self.beta_b * self.u)

    def evaluate(self):
        """Sweeps to the fixed point, V = <pi_k, Q>; returns Q."""

        def update(V):
            return (self.pi * self.backup(V)).sum(axis=1)

        self.V = sweeps(update, self.V, self.tolerance, self.most)
        return self.backup(self.V)

    def episode(self):
        self.k += 1
        if not self.ahead:
            self.begin_epoch()
        # pi_k = softmax(-eta S); play an episode; l_k is revealed
        self.pi = softmax(-self.eta * self.S)
        self.policies.append(self.pi)
        pairs, transitions = self.play.episode(self.pi)
        self.steps = len(pairs)
        self.l = self.R_max - self.rewards(self.k)
        if self.ahead:
            self.add(transitions)
            self.begin_epoch()
            self.pi = softmax(-self.eta * self.S)
        self.known = list(self.D)  # what Q was evaluated with
        self.Q = self.evaluate()
        self.S = self.S + self.Q
        # then add the episode's phi phi' to Lambda and its transitions to the data
        if not self.ahead:
            self.add(transitions)

    def add(self, transitions):
        for x, a, _ in transitions:
            self.Lambda = self.Lambda + np.outer(self.Phi[x, a], self.Phi[x, a])
        self.D = self.D + transitions
