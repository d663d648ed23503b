"""FRA-IL as it is printed (Algorithm 2), on the transcription of Algorithm 1, in plain NumPy.

The comments are the lines of the pseudocode; what stands in brackets is ours.
"""

import numpy as np

from reference.algorithm_1 import Transcription
from reference.environments import draw


class FraILTranscription(Transcription):
    """The imitator; ``Phi`` are the features [X, A, d] and ``Phi_r`` those of rewards [X, A, d_r].

    ``lambda_E`` is the estimate of the expert's feature expectation, ``project`` is Pi_W, ``step``
    eta_r. ``shift`` is added to every reward, which has to lie in [0, R_max]. The other parameters
    are those of Algorithm 1.
    """

    columns = Transcription.columns[1:]  # no reward is paid

    def __init__(
        self, mdp, Phi, Phi_r, lambda_E, project, step, shift, R_max, fresh, **parameters
    ):  # fmt: skip
        # (3) trajectory access to M \ r_true. [The reward of the MDP is never read.]
        super().__init__(mdp, Phi, R_max=R_max, **parameters)
        self.r[:-1] = np.nan
        self.interaction = self.world
        # Inputs: (1) a features dataset, (4) the reward weights class W.
        self.Phi_r, self.lambda_E, self.project = Phi_r, lambda_E, project
        self.eta_r, self.shift, self.fresh = step, shift, fresh
        # [w_0 = Pi_W(0).]
        self.w = self.project(np.zeros(Phi_r.shape[2]))
        self.w_sum = np.zeros_like(self.w)  # [of w_1, ..., w_k]
        self.pair, self.rollout_steps = None, 0

    def episode(self):
        # Function OGD(mu(pi_k), w_{k-1}):
        # Sample X_k, A_k ~ mu(pi_k).
        if self.fresh:
            self.pair, self.rollout_steps = self.rollout()
        # [The play of episode k, on which r_k has no influence. Its length is geometric, so that
        # its last pair is a draw from mu(pi_k) too.]
        pairs, transitions = self.interaction.episode(self.pi)
        if not self.fresh:
            self.pair = pairs[-1]
        # return w_k = Pi_W(w_{k-1} + eta_r (lambda(pi_E) - phi_r(X_k, A_k))).
        self.w = self.project(self.w + self.eta_r * (self.lambda_E - self.Phi_r[self.pair]))
        self.w_sum = self.w_sum + self.w
        # [r_k = Phi_r w_k, shifted into the range that Algorithm 1 assumes.]
        self.r[:-1] = self.Phi_r @ self.w + self.shift
        slack = 1e-9 * self.R_max
        assert self.r.min() >= -slack, f"r_k = {self.r.min()} is negative"
        assert self.r.max() <= self.R_max + slack, f"r_k = {self.r.max()} exceeds R_max"
        # Output: RMAX-RAVI-UCB(K, eta, beta, omega, alpha, RewardUpdate = OGD).
        self.world = Played(pairs, transitions)
        super().episode()

    def rollout(self):
        """The last pair of an episode of its own under pi_k, and the number of its steps."""
        world, pi, steps = self.interaction, np.cumsum(self.pi, axis=1), 0
        x = draw(world.nu0, world.rng.random())
        while True:
            a = draw(pi[x], world.rng.random())
            steps += 1
            if not world.rng.random() < self.gamma:
                return (x, a), steps
            x = draw(world.P[x, a], world.rng.random())


class Played:
    """An episode that has been played already, for Algorithm 1 to go on with."""

    def __init__(self, pairs, transitions):
        self.pairs, self.transitions = pairs, transitions

    def episode(self, pi):
        return self.pairs, self.transitions


def project_ball(w, radius):
    """The nearest point with ||w|| <= radius."""
    norm = np.linalg.norm(w)
    return w if norm <= radius else w * (radius / norm)


def project_box(w, low, high):
    """The nearest point with low <= w_i <= high."""
    return np.minimum(np.maximum(w, low), high)


def project_simplex(w, total=1.0):
    """The nearest point with w_i >= 0 and a sum of ``total``.

    All coordinates fall alike until the sum is right, those that would be negative to zero.
    """
    falling = np.sort(w)[::-1]
    level = (np.cumsum(falling) - total) / np.arange(1, len(w) + 1)  # if the n largest stay
    n = np.flatnonzero(falling > level).max()
    return np.maximum(w - level[n], 0)
