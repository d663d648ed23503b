"""A weighted sample of transitions in the place of all: which stay, and what follows from them."""

import numpy as np

from optimist.checks import FloatArray, IntArray
from optimist.core.state import Chains, Links, Regression, Sums


def inclusion_probabilities(scores: FloatArray, expected: int) -> FloatArray:
    """min(1, c scores) with the c for which they sum to ``expected``, or 1 if there are no more.

    Examples
    --------
    >>> inclusion_probabilities(np.array([1.0, 2.0, 9.0]), expected=2)
    array([0.33333333, 0.66666667, 1.        ])
    """
    if scores.size <= expected:
        return np.ones_like(scores)
    ordered = np.sort(scores)[::-1]
    rest = np.append(np.cumsum(ordered[::-1])[::-1], 0.0)  # the sum of all but the i largest
    for i in range(expected):  # the i largest are kept for certain
        if (expected - i) * ordered[i] <= rest[i] > 0:
            return np.asarray(np.minimum(1.0, (expected - i) / rest[i] * scores))
    return np.asarray(scores > 0, dtype=np.float64)  # as many or fewer matter at all


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
