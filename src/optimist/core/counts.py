"""Regression on the data of a finite world: the sum over all data, from counts.

It is the one thing that the loop for finite worlds does otherwise than that for environments. Where
pairs share features, `optimist.core.shared` sums.
"""

from optimist.checks import FloatArray
from optimist.core.compiler import apart, inlined
from optimist.core.elementary import flat
from optimist.core.frame import call_with
from optimist.core.state import Learner


@apart
def regress(me: Learner, power: int) -> None:
    """Regress (V - v)^power, over the states that take part: a moment of V; or with 0, the target.

    Then theta = gamma Lambda^{-1} sum_D phi(x, a) (V(x') - v) and Q = gamma v + phi . theta.
    """
    if not me.data.own:
        call_with(me.regress_all, me, power)
        return
    W, epoch, v = targets(me, power), me.epoch, me.epoch.prior[0]["v"]
    parts, n_parts = me.front.parts, me.front.n_parts[0]
    theta = epoch.theta if power == 0 else epoch.first if power == 1 else epoch.second
    factor = me.rule.gamma if power == 0 else 1.0
    for j in range(n_parts):
        regress_counts(me, W, factor, factor * v, parts[j, 0], parts[j, 1], theta)


@inlined
def targets(me: Learner, power: int) -> FloatArray:
    """The targets of the regression, of the states that take part, [X]."""
    V, W, v = me.states.V, me.data.W, me.epoch.prior[0]["v"]
    parts, n_parts = me.front.parts, me.front.n_parts[0]
    if power < 2 and v == 0:
        return V
    for j in range(n_parts):
        for x in range(parts[j, 0], parts[j, 1]):
            W[x] = V[x] - v if power < 2 else (V[x] - v) * (V[x] - v)
    return W


@inlined
def regress_counts(
    me: Learner, W: FloatArray, factor: float, base: float, begin: int, end: int, theta: FloatArray
) -> None:
    """theta = factor Lambda^{-1} sum_D phi(x, a) W(x') and Q = base + phi . theta, for some states.

    Every pair has a feature of its own.
    """
    first, after, counts = me.world.first, me.world.after, me.data.counts
    n_actions, q = me.data.Q.shape[1], flat(me.data.Q, begin, end)
    pair, n = begin * n_actions, (end - begin) * n_actions
    entry = first[pair]
    if first[pair + n] - entry == n:  # one next state each: several pairs share an instruction
        for i in range(n):
            q[i] = 0.0 + counts[entry + i] * W[after[entry + i]]
    else:
        for i in range(n):
            last, total = first[pair + i + 1], 0.0
            while entry < last:
                total += counts[entry] * W[after[entry]]
                entry += 1
            q[i] = total
    phi, Lambda = flat(me.states.rows, pair, pair + n), flat(me.reg.Lambda, pair, pair + n)
    of_pair = flat(theta, pair, pair + n)
    for i in range(n):
        of_pair[i] = factor * (phi[i] * q[i] / Lambda[i])
        q[i] = base + phi[i] * of_pair[i]
