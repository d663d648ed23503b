"""Linear mixture MDPs, P = sum_i theta_i P_i with known kernels P_i: regression and values.

With f(x, a) = (P_i V(x, a))_i the expectation of V(x') is f . theta. So theta is learnt by ridge
regression of V(x') on f, each target with the V of its own time (value-targeted regression).
``first``, ``after``, ``value`` and ``block`` are the arrays of `optimist.core.kernels.Kernels`.
"""

import math

import numpy as np

from optimist.checks import BoolArray, FloatArray, IntArray
from optimist.core.compiler import compiled
from optimist.core.linalg import add_to, copy, dot, norm_in
from optimist.core.regression import observe


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
    Returns their number. Large bonuses can make values alternate between two vectors for ever; the
    sweeps that would be left are not made then, as it is known where they end.
    """
    done = 0
    before = np.full(V.size, np.nan)  # V one sweep ago, at the next two
    while done < sweeps and not stop[0]:
        back_up(
            first, after, value, block, Lambda, inverse, theta, r, gamma, kappa, top, V, Q, work[0]
        )
        done += 1
        change, alternates = 0.0, True
        for x in range(V.size):
            new = dot(pi[x], Q[x])
            change = max(change, abs(new - V[x]))
            alternates = alternates and new == before[x]
            before[x] = V[x]
            V[x] = new
        if change <= tolerance:
            break
        if alternates:
            if (sweeps - done) % 2 == 1:
                copy(V, before)
            done = sweeps
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
    s, table = f.size, Lambda.shape[0] == block.size
    for x in range(n_states):
        for a in range(n_actions):
            pair = x * n_actions + a
            b = block[pair]
            if pair == 0 or not table:  # in a table f is V, whatever the pair
                expect(first, after, value, pair, V, f)
            # The inverse of 1 x 1 blocks is not kept.
            norm = abs(f[0]) / math.sqrt(Lambda[b, 0, 0]) if s == 1 else norm_in(inverse[b], f)
            target = r[x, a] + gamma * dot(f, theta[b * s : (b + 1) * s]) + kappa * norm
            Q[x, a] = min(max(target, 0.0), top)
