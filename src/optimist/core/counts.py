"""Regression on the data of a finite world: the sum over all data, from counts or sums of features.

It is the one thing that the loop for finite worlds does otherwise than that for environments.
"""

from optimist.checks import FloatArray, IntArray
from optimist.core.compiler import compiled
from optimist.core.iteration import predict
from optimist.core.linalg import add_to
from optimist.core.regression import solve


@compiled()
def regress(
    parts: IntArray,
    n_parts: int,
    own: bool,
    first: IntArray,
    after: IntArray,
    rows: FloatArray,
    block: IntArray,
    Lambda: FloatArray,
    inverse: FloatArray,
    counts: FloatArray,
    sums: FloatArray,
    b: FloatArray,
    W: FloatArray,
    V: FloatArray,
    v: float,
    power: int,
    factor: float,
    base: float,
    theta: FloatArray,
    Q: FloatArray,
) -> None:
    """theta = factor Lambda^{-1} sum_D phi(x, a) (V(x') - v)^power and Q = base + phi . theta.

    Over the states that take part; ``own`` says that every pair has a feature of its own.
    """
    if power == 1 and v == 0:
        W = V
    else:
        for j in range(n_parts):
            for x in range(parts[j, 0], parts[j, 1]):
                W[x] = V[x] - v if power == 1 else (V[x] - v) * (V[x] - v)
    if own and n_parts == 1 and parts[0, 1] == V.size:
        regress_counts(first, after, rows, Lambda, counts, W, factor, base, theta, Q)
    elif own:
        for j in range(n_parts):
            begin, end = parts[j, 0], parts[j, 1]
            i, n = begin * Q.shape[1], end * Q.shape[1]
            regress_counts(
                first[i : n + 1], after, rows[i:n], Lambda[i:n], counts, W, factor, base,
                theta[i:n], Q[begin:end],
            )  # fmt: skip
    else:
        if rows.shape[1] == 1:
            sum_counts(first, after, rows, block, counts, W, b)
        else:
            sum_features(sums, W, b)
        solve(Lambda, inverse, b, factor, theta)
        predict(rows, block, theta, base, 0, W.size, Q)


@compiled()
def regress_counts(
    first: IntArray,
    after: IntArray,
    rows: FloatArray,
    Lambda: FloatArray,
    counts: FloatArray,
    W: FloatArray,
    factor: float,
    base: float,
    theta: FloatArray,
    Q: FloatArray,
) -> None:
    """The same for the states of Q, from W(x'), where every pair has a feature of its own."""
    n_states, n_actions = Q.shape
    entry = first[0]
    for x in range(n_states):
        for a in range(n_actions):
            pair = x * n_actions + a
            end, total = first[pair + 1], 0.0
            while entry < end:
                total += counts[entry] * W[after[entry]]
                entry += 1
            theta[pair] = factor * (rows[pair, 0] * total / Lambda[pair, 0, 0])
            Q[x, a] = base + rows[pair, 0] * theta[pair]


@compiled()
def sum_counts(
    first: IntArray,
    after: IntArray,
    rows: FloatArray,
    block: IntArray,
    counts: FloatArray,
    W: FloatArray,
    b: FloatArray,
) -> None:
    """b = sum_D phi(x, a) W(x') from counts, where blocks are of size one."""
    n_states, n_actions = block.shape
    b[:] = 0.0
    for x in range(n_states):
        for a in range(n_actions):
            pair, total = x * n_actions + a, 0.0
            for entry in range(first[pair], first[pair + 1]):
                total += counts[entry] * W[after[entry]]
            b[block[x, a]] += rows[pair, 0] * total


@compiled()
def sum_features(sums: FloatArray, W: FloatArray, b: FloatArray) -> None:
    """The same from sums of features by next states."""
    b[:] = 0.0
    for x in range(W.size):
        add_to(b, W[x], sums[x])
