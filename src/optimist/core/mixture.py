"""Linear mixture MDPs, P = sum_i theta_i P_i with known kernels P_i: regression and values.

With f(x, a) = (P_i V(x, a))_i the expectation of V(x') is f . theta. So theta is learnt by ridge
regression of V(x') on f, each target with the V of its own time (value-targeted regression).

The kernels are rows of a sparse matrix [X A s, X]: row ``pair * s + i`` is P_i(. | x, a), and
``first``, ``after`` and ``value`` are its arrays. All pairs share one block of s = d parameters, or
in a table, the mixture of d = X^2 A unit kernels, each pair has a block of s = X of its own.
"""

import math
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from optimist import checks, limits
from optimist.checks import BoolArray, FloatArray, IntArray
from optimist.core.compiler import compiled
from optimist.core.linalg import add_to, dot, norm_in
from optimist.core.regression import observe


class Kernels(NamedTuple):
    """Known kernels, as compiled code takes them."""

    first: IntArray  # where the entries of each row begin, [X A s + 1]
    after: IntArray  # the next state of each entry
    value: FloatArray  # its probability
    block: IntArray  # of each pair, [X A]


def read_kernels(kernels: FloatArray) -> Kernels:
    """Kernels [d, X, A, X] of probabilities, for one block of d parameters.

    Examples
    --------
    >>> stay, leave = np.eye(2)[:, None], np.eye(2)[::-1, None]  # [X, 1, X]
    >>> read_kernels(np.stack([stay, leave])).after
    array([0, 1, 1, 0])
    """
    P = checks.real_array(kernels, "kernels", shape=(None, None, None, None))
    d, n_states, n_actions, after = P.shape
    if not d or n_states != after:
        raise ValueError(f"kernels must be [d, X, A, X] with d >= 1; got shape {P.shape}")
    checks.non_negative(P, "kernels")
    checks.sums_to_one(P.sum(axis=-1), "kernels")
    rows = np.moveaxis(P, 0, 2).reshape(-1, n_states)  # [X A d, X]
    sparse = sp.csr_array(rows)
    block = np.zeros(n_states * n_actions, dtype=np.int64)
    first, column = sparse.indptr.astype(np.int64), sparse.indices.astype(np.int64)
    return Kernels(first, column, sparse.data, block)


def unit_kernels(n_states: int, n_actions: int) -> Kernels:
    """A table as a mixture: one kernel for each triple (x, a, y), and f = V in the block of (x, a).

    The parameters of a block are P(. | x, a) itself.
    """
    n = n_states * n_actions
    limits.need(24 * n * n_states, f"the unit kernels of {n_states:,} states and {n:,} pairs")
    after = np.tile(np.arange(n_states), n)
    return Kernels(np.arange(after.size + 1), after, np.ones(after.size), np.arange(n))


@compiled()
def expect(
    first: IntArray, after: IntArray, value: FloatArray, pair: int, V: FloatArray, f: FloatArray
) -> None:
    """f = (P_i V(x, a))_i, [s]."""
    row = pair * f.size
    for i in range(f.size):
        total = 0.0
        for entry in range(first[row + i], first[row + i + 1]):
            total += value[entry] * V[after[entry]]
        f[i] = total


@compiled()
def add_visits(
    first: IntArray,
    after: IntArray,
    value: FloatArray,
    block: IntArray,
    pair: int,
    n: float,
    total: float,
    V: FloatArray,
    Lambda: FloatArray,
    inverse: FloatArray,
    stale: IntArray,
    z: FloatArray,
    work: FloatArray,
) -> None:
    """Lambda += n f f' and z += f total, where total is the sum of V(x') over n visits of a pair.

    ``work`` is room for [3, s].
    """
    s, b, f = work.shape[1], block[pair], work[0]
    expect(first, after, value, pair, V, f)
    observe(Lambda, inverse, stale, work[2, :1], b, f, n, work[1])
    add_to(z[b * s : (b + 1) * s], total, f)


@compiled(nogil=True)
def evaluate(
    first: IntArray,
    after: IntArray,
    value: FloatArray,
    block: IntArray,
    Lambda: FloatArray,
    inverse: FloatArray,
    theta: FloatArray,
    r: FloatArray,
    pi: FloatArray,
    gamma: float,
    kappa: float,
    top: float,
    tolerance: float,
    sweeps: int,
    V: FloatArray,
    Q: FloatArray,
    work: FloatArray,
    stop: BoolArray,
) -> int:
    """Sweeps of V = <pi, Q> from the V so far, with the optimistic

        Q(x,a) = clip(r(x,a) + gamma f . theta + kappa ||f||_{Lambda^{-1}}, 0, top).

    They end when no value changes by more than the tolerance, and ``Q`` is then that of the last V.
    Returns their number.
    """
    done = 0
    while done < sweeps and not stop[0]:
        back_up(
            first, after, value, block, Lambda, inverse, theta, r, gamma, kappa, top, V, Q, work[0]
        )
        done += 1
        change = 0.0
        for x in range(V.size):
            new = dot(pi[x], Q[x])
            change = max(change, abs(new - V[x]))
            V[x] = new
        if change <= tolerance:
            break
    back_up(first, after, value, block, Lambda, inverse, theta, r, gamma, kappa, top, V, Q, work[0])
    return done


@compiled()
def back_up(
    first: IntArray,
    after: IntArray,
    value: FloatArray,
    block: IntArray,
    Lambda: FloatArray,
    inverse: FloatArray,
    theta: FloatArray,
    r: FloatArray,
    gamma: float,
    kappa: float,
    top: float,
    V: FloatArray,
    Q: FloatArray,
    f: FloatArray,
) -> None:
    """Q of the values V, as in `evaluate`."""
    n_states, n_actions = r.shape
    s = f.size
    for x in range(n_states):
        for a in range(n_actions):
            pair = x * n_actions + a
            b = block[pair]
            expect(first, after, value, pair, V, f)
            # The inverse of 1 x 1 blocks is not kept.
            norm = abs(f[0]) / math.sqrt(Lambda[b, 0, 0]) if s == 1 else norm_in(inverse[b], f)
            target = r[x, a] + gamma * dot(f, theta[b * s : (b + 1) * s]) + kappa * norm
            Q[x, a] = min(max(target, 0.0), top)
