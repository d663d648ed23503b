"""MB-TAIL (Xu, Li, Yu and Luo, 2023): Mimic-MD with an unknown P.

Confirmed in the authors' code: a fifth of the episodes clones, the rest explores by RF-Express; P^
and nu^ are of the second phase alone; the match has no fixed actions. From memory: a path is known
as long as each of its *states* is in S1 (their code asks for its whole prefix in D1).

RF-Express (Menard et al., 2021) was confirmed in two public versions, rlberry and the authors': the
bonus 15 H^2 beta(n) / n, beta, the factor 1 + 1/H, the cap H, and n counted over all times.
"""

import numpy as np

from optimist.mdp import match_occupancy
from transcriptions.common import Counts, Play, greedy
from transcriptions.mimic_md import Found, known_actions, split, unknown_part


def theory_bonus(H, X, A, delta=0.1):
    """B(n) = 15 H^2 beta(n) / n; infinite, so that W = H, where n = 0."""

    def B(n):
        beta = np.log(3 * X * A * H / delta) + X * np.log(8 * np.e * (n + 1))
        return np.where(n > 0, 15 * H**2 * beta / np.maximum(n, 1), np.inf)

    return B


def practical_bonus(H, c=0.1):
    return lambda n: np.where(n > 0, c * H / np.sqrt(np.maximum(n, 1)), H)


def uncertainty(P, n, gamma, B, steps=None):
    """W(x,a) = min(H, B(n) + F gamma sum_y P^(y|x,a) max_a' W(y,a')).

    By ``steps`` = T backward steps from 0 with F = 1 + 1/T; or, without, F = 1 to its fixed point.
    """
    H, W, bonus = 1 / (1 - gamma), np.zeros(n.shape), B(n)
    F, most = (1.0, 100_000) if steps is None else (1 + 1 / steps, steps)
    for _ in range(most):
        before, W = W, np.minimum(H, bonus + F * gamma * P @ W.max(axis=1))
        if steps is None and np.abs(W - before).max() <= 1e-4 * H:
            break
    return W


def explore(play, X, A, K, B, steps=None):
    """RF-Express: K episodes of greedy policies of W, ties at random. Returns the counts."""
    counts, pi = Counts(X, A), np.full((X, A), 1 / A)
    for _ in range(K):
        counts.add(*play.episode(pi))
        pi = greedy(uncertainty(counts.P, counts.n, play.gamma, B, steps))
    return counts


def rollouts_in(play, kappa, A, K):
    """mu_in by K episodes of bc: its pairs while all states so far are in S1, weight 1 - gamma."""
    bc = np.where(kappa[:, None] >= 0, np.eye(A)[kappa], 1 / A)
    mu_in = np.zeros(bc.shape)
    for _ in range(K):
        for x, a in play.episode(bc)[0]:
            if kappa[x] < 0:
                break
            mu_in[x, a] += (1 - play.gamma) / K
    return mu_in


class MbTail:
    """K is known beforehand. ``told`` = (P, nu0, mu_in) replaces what is learnt, in tests.

    Draws: the permutation of the expert's trajectories; then the episodes of bc; then those of
    RF-Express. ``copy`` fixes the known actions in the match, which the paper does not.
    """

    def __init__(self, P, nu0, gamma, states, actions, K, rng, *, B, steps=None, copy=False,
                 told=None):  # fmt: skip
        X, A, _ = P.shape
        D1, D2 = split(states, actions, rng)
        kappa = known_actions(*D1, X)
        mu_out = unknown_part(*D2, gamma, kappa, (X, A))
        play = Play(P, nu0, gamma, rng)
        if told is None:
            mu_in = rollouts_in(play, kappa, A, K // 5)
            counts = explore(play, X, A, K - K // 5, B, steps)
            self.P, self.nu0 = counts.P, counts.nu0
        else:
            self.P, self.nu0, mu_in = told
        fixed = kappa if copy else None
        target = mu_in + mu_out
        self.found = Found(
            kappa, mu_in, mu_out, match_occupancy(self.P, self.nu0, target, gamma, fixed=fixed)
        )
        self.policy = self.found.policy
