"""OGAIL (Liu, Zhang, Fu, Yang and Wang, 2022): P = sum_i theta_i P_i with known P_i.

Only abstracts could be read, which confirm the name (OGAP, later OGAPI), the linear setting and
the regret sqrt(H^4 d^3 K) + sqrt(H^3 d^2 K^2 / N). The pseudocode is from memory.
"""

import numpy as np

from transcriptions.common import Play, softmax, sweeps


class Ogail:
    """``kernels`` [d, X, A, X]; ``lambda_E``, ``Phi_r`` [X, A, d_r], ``project``, ``eta_r`` and
    ``shift`` as in FRA-IL: r_k = Phi_r w_k + shift in [0, R_max].

    In tests ``theta`` is told, and ``gradient(pi)`` replaces lambda^_E - phi_r(X, A).
    """

    def __init__(self, P, nu0, gamma, kernels, Phi_r, lambda_E, rng, *, project, eta_r, shift,
                 R_max, t_pi, kappa, ridge=1.0, tolerance=1e-4, most=1000, theta=None,
                 gradient=None):  # fmt: skip
        d, X, A, _ = kernels.shape
        self.gamma, self.kernels, self.Phi_r, self.lambda_E = gamma, kernels, Phi_r, lambda_E
        self.project, self.eta_r, self.shift, self.top = project, eta_r, shift, R_max / (1 - gamma)
        self.t_pi, self.kappa, self.most = t_pi, kappa, most
        self.tolerance = tolerance * self.top
        self.told, self.gradient = theta, gradient
        self.play = Play(P, nu0, gamma, rng)
        # w_0 = Pi_W(0); pi_1 uniform; V = 0; Lambda = lambda I; z = 0
        self.w, self.V = project(np.zeros(Phi_r.shape[2])), np.zeros(X)
        self.pi, self.Q_sum = np.full((X, A), 1 / A), np.zeros((X, A))
        self.Lambda, self.z = ridge * np.eye(d), np.zeros(d)
        self.policies = []

    def features(self, V):
        """f(x,a) = (P_i V(x,a))_i, [X, A, d]."""
        return np.einsum("ixay,y->xai", self.kernels, V)

    def regress(self, transitions):
        """Add transitions; each target uses the V of its own time. Returns theta."""
        f = self.features(self.V)
        for x, a, y in transitions:
            self.Lambda = self.Lambda + np.outer(f[x, a], f[x, a])
            self.z = self.z + f[x, a] * self.V[y]
        return np.linalg.solve(self.Lambda, self.z)

    def values(self, r, theta):
        """Sweeps of Q = clip(r_k + gamma f.theta + kappa ||f||_{Lambda^-1}, 0, R_max H)."""
        inverse = np.linalg.inv(self.Lambda)

        def Q(V):
            f = self.features(V)
            norms = np.sqrt(np.einsum("xai,ij,xaj->xa", f, inverse, f))
            return np.clip(r + self.gamma * f @ theta + self.kappa * norms, 0, self.top)

        def update(V):
            return (self.pi * Q(V)).sum(axis=1)

        self.V = sweeps(update, self.V, self.tolerance, self.most)
        return Q(self.V)

    def episode(self):
        self.policies.append(self.pi)
        # play an episode with pi_k, last pair (X, A)
        pairs, transitions = self.play.episode(self.pi)
        theta = self.regress(transitions)
        self.theta = theta if self.told is None else self.told
        # w_k = Pi_W(w_{k-1} + eta_r (lambda^_E - phi_r(X, A)))
        if self.gradient is None:
            gradient = self.lambda_E - self.Phi_r[pairs[-1]]
        else:
            gradient = self.gradient(self.pi)
        self.w = self.project(self.w + self.eta_r * gradient)
        self.r = self.Phi_r @ self.w + self.shift
        self.Q = self.values(self.r, self.theta)
        # pi_{k+1} ~ pi_k exp(t_pi Q)
        self.Q_sum = self.Q_sum + self.Q
        self.pi = softmax(self.t_pi * self.Q_sum)
