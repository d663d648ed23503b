"""ILARL (Viano, Skoulakis and Cevher, 2024): linear MDP, discounted, fresh data in every batch.

The pseudocode is from memory. In the authors' repository (lviano/UCBimitation) one version of the
code, `ilarl_lin.py`, confirms: a batch of tau episodes with one policy, a covariance of that batch
alone, tau updates of w and Q on it, and pi_{j+1} ~ pi_j exp(eta mean Q), that is softmax(eta S).
It differs in V = <pi_j, Q> for the soft maximum, in a whole feature mean for the last pairs, and in
w without projection; and it takes the covariance for its inverse in the bonus.
"""

import numpy as np
from reference.algorithm_2 import project_ball
from scipy.special import logsumexp

from transcriptions.common import Play, softmax, weighted_sum


class Ilarl:
    """Features ``Phi`` [X, A, d] of P, which is unknown, and ``Phi_r`` [X, A, d_r] of rewards."""

    def __init__(self, P, nu0, gamma, Phi, Phi_r, lambda_E, rng, *, batch, alpha, eta, beta, ridge,
                 shift, R_max, radius=1.0):  # fmt: skip
        X, A, _ = P.shape
        self.gamma, self.Phi, self.Phi_r, self.lambda_E = gamma, Phi, Phi_r, lambda_E
        self.batch, self.alpha, self.eta, self.beta, self.ridge = batch, alpha, eta, beta, ridge
        self.shift, self.top, self.radius = shift, R_max / (1 - gamma), radius
        self.play = Play(P, nu0, gamma, rng)
        # w = 0; S = 0, the sum of mean Q's; V = 0
        self.w, self.S, self.V = np.zeros(Phi_r.shape[2]), np.zeros((X, A)), np.zeros(X)
        self.policies, self.weights, self.values = [], [], []

    def learn_batch(self):
        pi = softmax(self.eta * self.S)
        self.policies.append(pi)
        Q_mean = np.zeros_like(self.S)
        # play `batch` episodes with pi_j: transitions D_j, last pairs (X_i, A_i)
        self.D, last = [], []
        for _ in range(self.batch):
            pairs, transitions = self.play.episode(pi)
            self.D += transitions
            last.append(pairs[-1])
        self.seen = len(self.D)
        # Lambda = ridge I + sum over D_j of phi phi';   CB = beta ||phi||_{Lambda^-1}
        self.Lambda = self.ridge * np.eye(self.Phi.shape[2])
        for x, a, _ in self.D:
            self.Lambda = self.Lambda + np.outer(self.Phi[x, a], self.Phi[x, a])
        inverse = np.linalg.inv(self.Lambda)
        CB = self.beta * np.sqrt(np.einsum("xai,ij,xaj->xa", self.Phi, inverse, self.Phi))
        for pair in last:
            # w = Pi_ball(w + alpha (lambda^_E - phi_r(X_i, A_i)));   r = Phi_r w + shift
            step = self.alpha * (self.lambda_E - self.Phi_r[pair])
            self.w = project_ball(self.w + step, self.radius)
            self.weights.append(self.w)
            r = self.Phi_r @ self.w + self.shift
            # Q = clip(r + CB + gamma phi.Lambda^-1 sum_{D_j} phi V(x'), 0, R_max H)
            total = weighted_sum(self.Phi, self.D, self.V)
            Q = np.clip(r + CB + self.gamma * self.Phi @ (inverse @ total), 0, self.top)
            Q_mean += Q / self.batch
            # V(x) = (1/eta) log sum_a pi_j(a|x) exp(eta Q(x,a))
            self.V = logsumexp(self.eta * Q, axis=1, b=pi) / self.eta
            self.values.append(self.V)
        self.S = self.S + Q_mean
