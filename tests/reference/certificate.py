"""Certificates in plain NumPy, from docs/certificates.md: by searches, and always from scratch."""

import numpy as np
from scipy.special import gammaln


def radii(counts, possible, log_events):
    """(2) and (3) for the counts of one distribution over so many possible states."""
    counts = np.asarray(counts, dtype=float)
    seen = counts[counts > 0]
    n, k, S = seen.sum(), len(seen), possible
    if S == 1:
        return 0.0, 0.0
    if n == 0:
        return np.inf, np.inf
    portfolio = 0.5 * np.log(np.pi) + gammaln(n + 1) - gammaln(n + 0.5)
    best = (seen * np.log(seen / n)).sum()
    mixture = gammaln(k / 2) - gammaln(n + k / 2) + (gammaln(seen + 0.5) - gammaln(0.5)).sum()
    sets = gammaln(S + 1) - gammaln(k + 1) - gammaln(S - k + 1)
    prior = np.log((S + 1) / (S * k * (k + 1)))
    return (log_events + portfolio) / n, (log_events + best - mixture + sets - prior) / n


def largest_mean(counts, W, b, top):
    """The largest q W over q with KL(p^, q) <= b, where q may also reach ``top``, by a search."""
    n = counts.sum()
    if b == 0 or n == 0:
        return top
    p, at = counts[counts > 0] / n, W[counts > 0]

    def bound(nu):
        return nu - np.exp((p * np.log(nu - at)).sum() - b)

    low, high = np.log(1e-14), np.log(1e6 / np.sqrt(b) + 1e6)
    for _ in range(70):  # the bound is convex in nu, and has one valley in log(nu - top)
        a, c = low + (high - low) / 3, high - (high - low) / 3
        if bound(top + np.exp(a)) < bound(top + np.exp(c)):
            high = c
        else:
            low = a
    return min(bound(top + np.exp(low)), top)


def certificate(counts, starts, r, gamma, delta, support=None, begins=None, sweeps=2000):
    """Bounds on V* and on the values of a policy, that policy, and both from the first states.

    counts [X, A, X], starts [X], and if they are known which states are possible.
    """
    X, A = r.shape
    given = support is not None
    support = np.ones((X, A, X), dtype=bool) if support is None else support
    begins = np.ones(X, dtype=bool) if begins is None else begins
    sizes = np.append(support.sum(axis=2).ravel(), begins.sum())
    log_events = np.log(2 * max((sizes > 1).sum(), 1) / delta)

    def means(W, N, possible, side):
        narrow, every = radii(N[possible], possible.sum(), log_events)
        b = min(narrow, every) if side == 0 else every
        top = W[possible].max() if given else W.max()
        return largest_mean(N, W, b, top)

    H, values, policy = 1 / (1 - gamma), [], None
    for side in (0, 1):
        sign = 1 if side == 0 else -1
        W = np.full(X, H * (sign * r).max())
        for _ in range(sweeps):
            P = [[means(W, counts[x, a], support[x, a], side) for a in range(A)] for x in range(X)]
            Q = sign * r + gamma * np.array(P)
            before, W = W, Q.max(axis=1) if side == 0 else Q.min(axis=1)
            if np.abs(before - W).max() < 1e-10 * H:
                break
        values.append(W)
        policy = Q.argmin(axis=1)
    upper, lower = (means(W, starts, begins, side) for side, W in enumerate(values))
    return values[0], -values[1], policy, upper, -lower
