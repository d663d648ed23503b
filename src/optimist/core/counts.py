"""Regression on the data of a finite world: the sum over all data, from counts or sums of features.

It is the one thing that the loop for finite worlds does otherwise than that for environments.
"""

from optimist.checks import FloatArray, IntArray
from optimist.core.compiler import compiled
from optimist.core.linalg import add_to
from optimist.core.regression import solve


@compiled()
def regress(
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
    V: FloatArray,
    v: float,
    power: int,
    factor: float,
    theta: FloatArray,
    Q: FloatArray,
) -> None:
    """theta = factor Lambda^{-1} sum_D phi(x, a) (V(x') - v)^power, with a power of 1 or 2.

    Where every pair has a feature of its own, Q = factor v + phi . theta comes with it.
    """
    if own:
        regress_counts(first, after, rows, Lambda, counts, V, v, power, factor, theta, Q)
    else:
        if rows.shape[1] == 1:
            sum_counts(first, after, rows, block, counts, V, v, power, b)
        else:
            sum_features(sums, V, v, power, b)
        solve(Lambda, inverse, b, factor, theta)


@compiled()
def regress_counts(
    first: IntArray,
    after: IntArray,
    rows: FloatArray,
    Lambda: FloatArray,
    counts: FloatArray,
    V: FloatArray,
    v: float,
    power: int,
    factor: float,
    theta: FloatArray,
    Q: FloatArray,
) -> None:
    """The whole regression where every pair has a feature of its own, as one-hot features are."""
    n_states, n_actions = Q.shape
    base, entry = factor * v, 0
    for x in range(n_states):
        for a in range(n_actions):
            pair = x * n_actions + a
            end, total = first[pair + 1], 0.0
            while entry < end:
                W = V[after[entry]] - v
                total += counts[entry] * (W if power == 1 else W * W)
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
    V: FloatArray,
    v: float,
    power: int,
    b: FloatArray,
) -> None:
    """b = sum_D phi(x, a) (V(x') - v)^power from counts, where blocks are of size one."""
    n_states, n_actions = block.shape
    b[:] = 0.0
    for x in range(n_states):
        for a in range(n_actions):
            pair, total = x * n_actions + a, 0.0
            for entry in range(first[pair], first[pair + 1]):
                W = V[after[entry]] - v
                total += counts[entry] * (W if power == 1 else W * W)
            b[block[x, a]] += rows[pair, 0] * total


@compiled()
def sum_features(sums: FloatArray, V: FloatArray, v: float, power: int, b: FloatArray) -> None:
    """The same from sums of features by next states."""
    b[:] = 0.0
    for x in range(V.size):
        W = V[x] - v
        add_to(b, W if power == 1 else W * W, sums[x])
