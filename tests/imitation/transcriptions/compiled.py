"""The library's ILARL and OGAIL behind the names of the transcriptions, for tests of properties."""

import numpy as np

from optimist.core.kernels import read_kernels
from optimist.core.mixture import add_visits, evaluate, expect
from optimist.core.regression import solve
from optimist.core.softmax import softmax_table
from optimist.features import Table
from optimist.imitation import Ball, FeatureDataset, Ilarl
from optimist.mdp import FiniteMDP
from transcriptions.ogail import Ogail


class CompiledOgail(Ogail):
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


class CompiledIlarl:
    """`Ilarl` of the library, batch by batch."""

    def __init__(self, P, nu0, gamma, Phi, Phi_r, lambda_E, rng, *, batch, alpha, eta, beta, ridge,
                 shift, R_max, radius=1.0):  # fmt: skip
        phi_r = Table(Phi_r)
        self.il = Ilarl(
            FiniteMDP(P, np.zeros(P.shape[:2]), nu0, gamma),
            FeatureDataset(lambda_E[None], bound=phi_r.bound, exact=True),
            phi_r,
            Table(Phi),
            K=round((radius / (phi_r.bound * alpha)) ** 2),
            seed=int(rng.integers(2**31)),
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
