"""Mimic-MD (Rajaraman et al., 2020): P and nu0 are known, the expert is deterministic.

The pseudocode is from memory: the full text could not be read. A public version (of another
paper's authors) agrees on two halves drawn at random, on the actions of the first as constraints
and on L1 as the distance, but compares with the plain frequencies of the second half.
"""

from dataclasses import dataclass

import numpy as np

from optimist.mdp import Matching, match_occupancy, match_timed


@dataclass(frozen=True)
class Found:
    """The known actions kappa, -1 where unknown; the two parts of the target; and the match."""

    kappa: np.ndarray
    mu_in: np.ndarray
    mu_out: np.ndarray
    matching: Matching

    @property
    def target(self):
        return self.mu_in + self.mu_out

    @property
    def policy(self):
        return self.matching.policy


def split(states, actions, rng):
    """D1, the first half (rounded up) of a permutation by the generator, and D2, the rest."""
    order = rng.permutation(len(states))
    first, second = np.split(order, [-(-len(states) // 2)])
    return (states[first], actions[first]), (states[second], actions[second])


def known_actions(states, actions, X):
    """kappa(x) = the action seen in x, -1 where none was; two different ones are refused."""
    kappa = np.full(X, -1)
    for x, a in zip(states.ravel(), actions.ravel(), strict=True):
        if kappa[x] not in (-1, a):
            raise ValueError(f"the expert must be deterministic; it plays {kappa[x]}, {a} in {x}")
        kappa[x] = a
    return kappa


def known_part(P, nu0, gamma, kappa):
    """mu_in: the occupancy of paths that never left S1, exactly.

    M = P(.|., kappa) on S1 x S1; (I - gamma M)' m = (1-gamma) nu0|S1.
    """
    S1 = np.flatnonzero(kappa >= 0)
    M = P[S1, kappa[S1]][:, S1]
    mu_in = np.zeros(P.shape[:2])
    m = np.linalg.solve((np.eye(len(S1)) - gamma * M).T, (1 - gamma) * nu0[S1])
    mu_in[S1, kappa[S1]] = m
    return mu_in


def unknown_part(states, actions, gamma, kappa, shape):
    """mu_out: the discounted frequencies in D2 from the first state out of S1 on."""
    mu_out = np.zeros(shape)
    for xs, as_ in zip(states, actions, strict=True):
        outside = np.flatnonzero(kappa[xs] < 0)
        if len(outside):
            for t in range(outside[0], len(xs)):
                mu_out[xs[t], as_[t]] += (1 - gamma) * gamma**t / len(states)
    return mu_out


def mimic_md(P, nu0, gamma, states, actions, rng):
    """The stationary form. One draw: ``rng.permutation(tau_E)``."""
    D1, D2 = split(states, actions, rng)
    kappa = known_actions(*D1, len(P))
    mu_in = known_part(P, nu0, gamma, kappa)
    mu_out = unknown_part(*D2, gamma, kappa, P.shape[:2])
    return Found(kappa, mu_in, mu_out, match_occupancy(P, nu0, mu_in + mu_out, gamma, fixed=kappa))


def mimic_md_indexed(P, nu0, gamma, states, actions, rng):
    """The literal form: S1_t and kappa_t by time, laws mu_t of mass one. The same draw."""
    X, A, _ = P.shape
    D1, D2 = split(states, actions, rng)
    T = states.shape[1]
    kappa = np.array([known_actions(D1[0][:, t], D1[1][:, t], X) for t in range(T)])
    # m_t by the forward recursion through S1_0, .., S1_t
    mu_in, m = np.zeros((T, X, A)), nu0
    for t in range(T):
        S1 = np.flatnonzero(kappa[t] >= 0)
        mu_in[t, S1, kappa[t, S1]] = m[S1]
        m = np.einsum("xa,xay->y", mu_in[t], P)
    mu_out = np.zeros((T, X, A))
    for xs, as_ in zip(*D2, strict=True):
        outside = np.flatnonzero(kappa[np.arange(T), xs] < 0)
        if len(outside):
            for t in range(outside[0], T):
                mu_out[t, xs[t], as_[t]] += 1 / len(D2[0])
    return Found(kappa, mu_in, mu_out, match_timed(P, nu0, mu_in + mu_out, gamma, fixed=kappa))
