"""The transitions that stay when the memory is full, and the numbers that follow from them.

A pair (x, a) of n transitions stays with all of them, with probability

    q = min(1, c n phi' Lambda^{-1} phi),

or it is forgotten: ridge leverage scores (Alaoui and Mahoney, 2015). Seldom seen pairs stay. A
transition that stays counts once, and all sums are taken again over those that stay. Given the
features, where a pair leads does not decide whether it stays. So theta is the regression of a
smaller set of data, and u is of the covariance of that set: with targets of variance sigma^2,

    Var(phi . theta) = sigma^2 phi' Lambda^{-1} (Lambda - ridge) Lambda^{-1} phi <= sigma^2 u^2.

Weights of 1 / q would keep the means of all sums, and u would be that of all data; but no unbiased
linear estimate from what is left has a smaller variance than this one (Gauss and Markov).
"""

import numpy as np

from optimist.checks import BoolArray, FloatArray, IntArray
from optimist.core.state import Chains, Links, Regression, Sums


def inclusion_probabilities(scores: FloatArray, sizes: IntArray, expected: int) -> FloatArray:
    """min(1, c scores) with the c for which ``expected`` is the mean of the sizes that stay.

    If the sizes sum to no more than that, all stay.

    Examples
    --------
    >>> inclusion_probabilities(np.array([1.0, 2.0, 9.0]), np.ones(3, int), expected=2)
    array([0.33333333, 0.66666667, 1.        ])
    """
    if sizes.sum() <= expected:
        return np.ones_like(scores)
    order = np.argsort(scores)[::-1]
    largest, sizes = scores[order], sizes[order]
    certain = np.cumsum(sizes) - sizes  # the sizes of all that score more
    rest = np.cumsum((sizes * largest)[::-1])[::-1]  # of all others
    enough = ((expected - certain) * largest <= rest) & (rest > 0)
    if not enough.any():
        return np.asarray(scores > 0, dtype=np.float64)  # as many or fewer matter at all
    i = int(enough.argmax())
    return np.asarray(np.minimum(1.0, (expected - certain[i]) / rest[i] * scores))


def choose(
    rng: np.random.Generator,
    links: Links,
    n_actions: int,
    leverage: FloatArray,
    expected: int,
) -> BoolArray:
    """Which links stay, some ``expected`` of them; the leverage phi' Lambda^{-1} phi is of each."""
    pairs = links.source * n_actions + links.action
    _, at, of, sizes = np.unique(pairs, return_index=True, return_inverse=True, return_counts=True)
    scores = np.bincount(of, links.weight) * leverage[at]
    stays = rng.random(at.size) < inclusion_probabilities(scores, sizes, expected)
    return np.asarray(stays[of])


def chain(links: Links, n_states: int) -> Chains:
    """Chain the links that lead to the same state, and count those that leave one."""
    head, left = np.full(n_states, -1), np.zeros(n_states, dtype=np.int64)
    following, ended = np.full(len(links.source), -1), np.array([-1])
    np.add.at(left, links.source, 1)
    for link, after in enumerate(links.after.tolist()):
        start, at = (head, after) if after >= 0 else (ended, 0)
        following[link], start[at] = start[at], link
    return Chains(head, left, following, ended)


def sum_again(
    reg: Regression,
    sums: Sums,
    ridge: float,
    links: Links,
    block: IntArray,
    phi: FloatArray,
    V: FloatArray,
    later: float,
) -> None:
    """All sums over the data again, from the links, whose pairs have these blocks and features.

    A termination pays ``later`` from then on, discounted.
    """
    d, s = sums.paid.size, phi.shape[1]
    weight, ended = links.weight, links.after < 0
    parts = {  # what is summed over the links, each times phi
        "paid": links.paid + later * weight * ended,
        "values": np.where(ended, 0.0, V[links.after]) * weight,
        "features": weight,
    }
    log_det = 0.0
    for b in range(d // s) if s > 1 else ():
        here = block == b
        part = phi[here]
        reg.Lambda[b] = ridge * np.eye(s) + (part * weight[here, None]).T @ part
        reg.inverse[b] = np.linalg.inv(reg.Lambda[b])
        log_det += np.linalg.slogdet(reg.Lambda[b])[1]
        for name, each in parts.items():
            getattr(sums, name)[b * s : (b + 1) * s] = each[here] @ part
    if s == 1:
        reg.Lambda[:, 0, 0] = ridge + np.bincount(block, weight * phi[:, 0] ** 2, minlength=d)
        for name, each in parts.items():
            getattr(sums, name)[:] = np.bincount(block, each * phi[:, 0], minlength=d)
        log_det = float(np.log(reg.Lambda).sum())
    reg.stale[:] = 0
    reg.log_det[:] += log_det - reg.log_det[0]  # the epoch has grown as much as it had
