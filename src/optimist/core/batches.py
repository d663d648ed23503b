"""Least squares on one batch of episodes, thrown away after it (ILARL).

The transitions of a batch are ``counts`` of the entries of P, in the order of a `Simulator`: those
of pair ``x * A + a`` are ``first[pair]`` to ``first[pair + 1]``, and ``visits`` is their sum.
Features are rows [X A, s] within blocks of a covariance, as in `optimist.core.state.States`.
"""

import math

from optimist.checks import FloatArray, IntArray
from optimist.core.compiler import compiled
from optimist.core.linalg import add_to, dot, invert, norm_in
from optimist.core.regression import solve


@compiled(nogil=True)
def fit_batch(
    visits: IntArray,
    rows: FloatArray,
    block: IntArray,
    ridge: float,
    Lambda: FloatArray,
    inverse: FloatArray,
) -> None:
    """Lambda = ridge I + sum over the batch of phi phi', and its inverse."""
    s = rows.shape[1]
    Lambda[:] = 0.0
    for b in range(Lambda.shape[0]):
        for i in range(s):
            Lambda[b, i, i] = ridge
    for pair in range(rows.shape[0]):
        if visits[pair] > 0:
            phi = rows[pair]
            for i in range(s):
                add_to(Lambda[block[pair], i], visits[pair] * phi[i], phi)
    if s > 1:  # the inverse of 1 x 1 blocks is not kept
        for b in range(Lambda.shape[0]):
            invert(Lambda[b], inverse[b])


@compiled()
def bonuses(
    rows: FloatArray,
    block: IntArray,
    Lambda: FloatArray,
    inverse: FloatArray,
    beta: float,
    CB: FloatArray,
) -> None:
    """CB = beta ||phi||_{Lambda^{-1}}, [X, A]."""
    n_actions, s = CB.shape[1], rows.shape[1]
    for pair in range(rows.shape[0]):
        b, phi = block[pair], rows[pair]
        norm = abs(phi[0]) / math.sqrt(Lambda[b, 0, 0]) if s == 1 else norm_in(inverse[b], phi)
        CB[pair // n_actions, pair % n_actions] = beta * norm


@compiled()
def total_value(
    first: IntArray, after: IntArray, counts: FloatArray, pair: int, V: FloatArray
) -> float:
    """The sum of V(x') over the counted visits of a pair."""
    total = 0.0
    for entry in range(first[pair], first[pair + 1]):
        total += counts[entry] * V[after[entry]]
    return total


@compiled()
def regress_values(
    first: IntArray,
    after: IntArray,
    counts: FloatArray,
    visits: IntArray,
    rows: FloatArray,
    block: IntArray,
    Lambda: FloatArray,
    inverse: FloatArray,
    V: FloatArray,
    gamma: float,
    sums: FloatArray,
    theta: FloatArray,
) -> None:
    """theta = gamma Lambda^{-1} sum over the batch of phi V(x'); ``sums`` is room for [d]."""
    s = rows.shape[1]
    sums[:] = 0.0
    for pair in range(rows.shape[0]):
        if visits[pair] > 0:
            b = block[pair]
            total = total_value(first, after, counts, pair, V)
            add_to(sums[b * s : (b + 1) * s], total, rows[pair])
    solve(Lambda, inverse, sums, gamma, theta)


@compiled()
def truncated_values(
    rows: FloatArray,
    block: IntArray,
    theta: FloatArray,
    r: FloatArray,
    CB: FloatArray,
    top: float,
    Q: FloatArray,
) -> None:
    """Q = clip(r + CB + phi . theta, 0, top), [X, A]."""
    n_states, n_actions = r.shape
    s = rows.shape[1]
    for x in range(n_states):
        for a in range(n_actions):
            pair = x * n_actions + a
            b = block[pair]
            target = r[x, a] + CB[x, a] + dot(rows[pair], theta[b * s : (b + 1) * s])
            Q[x, a] = min(max(target, 0.0), top)
