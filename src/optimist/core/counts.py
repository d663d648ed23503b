"""Regression on the data of a finite world: the sum over all data, from counts or sums of features.

It is the one thing that the loop for finite worlds does otherwise than that for environments.
"""

from optimist.checks import FloatArray
from optimist.core.compiler import compiled, inlined
from optimist.core.iteration import predict
from optimist.core.linalg import add_to, fill
from optimist.core.regression import solve
from optimist.core.state import Learner


@compiled()
def regress(
    me: Learner, v: float, power: int, factor: float, base: float, theta: FloatArray
) -> None:
    """theta = factor Lambda^{-1} sum_D phi(x, a) (V(x') - v)^power and Q = base + phi . theta.

    Over the states that take part.
    """
    data, states, V, W = me.data, me.states, me.states.V, me.data.W
    parts, n_parts = me.front.parts, me.front.n_parts[0]
    if power == 1 and v == 0:
        W = V
    else:
        for j in range(n_parts):
            for x in range(parts[j, 0], parts[j, 1]):
                W[x] = V[x] - v if power == 1 else (V[x] - v) * (V[x] - v)
    if data.own:
        for j in range(n_parts):
            regress_counts(me, W, factor, base, parts[j, 0], parts[j, 1], theta)
    else:
        if states.rows.shape[1] == 1:
            sum_counts(me, W)
        else:
            sum_features(data.sums, W, data.b)
        solve(me.reg.Lambda, me.reg.inverse, data.b, factor, theta)
        predict(states.rows, states.block, theta, base, 0, W.size, data.Q)


@inlined
def regress_counts(
    me: Learner, W: FloatArray, factor: float, base: float, begin: int, end: int, theta: FloatArray
) -> None:
    """The same for some states, from W(x'), where every pair has a feature of its own."""
    first, after, counts, Q = me.world.first, me.world.after, me.data.counts, me.data.Q
    rows, Lambda, n_actions = me.states.rows, me.reg.Lambda, me.data.Q.shape[1]
    pair = begin * n_actions
    entry = first[pair]
    for x in range(begin, end):
        for a in range(n_actions):
            last, total = first[pair + 1], 0.0
            while entry < last:
                total += counts[entry] * W[after[entry]]
                entry += 1
            theta[pair] = factor * (rows[pair, 0] * total / Lambda[pair, 0, 0])
            Q[x, a] = base + rows[pair, 0] * theta[pair]
            pair += 1


@inlined
def sum_counts(me: Learner, W: FloatArray) -> None:
    """b = sum_D phi(x, a) W(x') from counts, where blocks are of size one."""
    first, after, counts, b = me.world.first, me.world.after, me.data.counts, me.data.b
    rows, block = me.states.rows, me.states.block
    n_states, n_actions = block.shape
    fill(b, 0.0)
    for x in range(n_states):
        for a in range(n_actions):
            pair, total = x * n_actions + a, 0.0
            for entry in range(first[pair], first[pair + 1]):
                total += counts[entry] * W[after[entry]]
            b[block[x, a]] += rows[pair, 0] * total


@inlined
def sum_features(sums: FloatArray, W: FloatArray, b: FloatArray) -> None:
    """The same from sums of features by next states."""
    fill(b, 0.0)
    for x in range(W.size):
        add_to(b, W[x], sums[x])
