"""The steps of a learner in a finite world that differ where pairs share features.

Its functions are called by their addresses (`optimist.core.frame`): in worlds where every pair has
a feature of its own none of them is compiled.
"""

import math

import numpy as np

from optimist.checks import FloatArray, IntArray
from optimist.core.compiler import apart, inlined
from optimist.core.counts import targets
from optimist.core.epoch import uncertainties
from optimist.core.iteration import predict
from optimist.core.linalg import add_to, copy, dot, fill, norm_in, rank_many
from optimist.core.regression import freeze, observe, solve
from optimist.core.state import LARGE, Learner


@apart
def observe_visits(me: Learner, n: int) -> None:
    """Lambda += phi phi' for all visits of an episode, in which n pairs were met."""
    rows, block, data, reg = me.states.rows, me.states.block, me.data, me.reg
    visits, n_actions = data.visits, block.shape[1]
    if rows.shape[1] >= LARGE:
        observe_together(me, data.met[:n])
    for m in range(n):
        pair = data.met[m]
        if rows.shape[1] < LARGE:
            b, often = block[pair // n_actions, pair % n_actions], float(visits[pair])
            observe(reg.Lambda, reg.inverse, reg.stale, reg.log_det, b, rows[pair], often, data.b)
        visits[pair] = 0


@inlined
def observe_together(me: Learner, pairs: IntArray) -> None:
    """Lambda += n phi phi' for all pairs of an episode at once, in large blocks."""
    rows, block, visits = me.states.rows, me.states.block, me.data.visits
    reg, norms, n_actions = me.reg, me.data.norms, me.states.block.shape[1]
    s = rows.shape[1]
    Phi, n = np.empty((pairs.size, s)), np.empty(pairs.size)
    for b in range(reg.Lambda.shape[0]):
        m = 0
        for pair in pairs:
            if block[pair // n_actions, pair % n_actions] == b:
                copy(Phi[m], rows[pair])
                n[m] = visits[pair]
                m += 1
        if m > 0:
            Z = np.empty((m, s))
            reg.log_det[0] += rank_many(Phi[:m], n[:m], reg.Lambda[b], reg.inverse[b], Z)
            reg.stale[b] += m
            for pair in range(norms.size):
                if block[pair // n_actions, pair % n_actions] == b:
                    for k in range(m):
                        norms[pair] -= dot(Z[k], rows[pair]) ** 2


@apart
def regress_all(me: Learner, power: int) -> None:
    """As `optimist.core.counts.regress`."""
    data, states, reg, epoch, W = me.data, me.states, me.reg, me.epoch, targets(me, power)
    if states.rows.shape[1] == 1:
        sum_counts(me, W)
    else:
        sum_features(data.sums, W, data.b)
    if power == 0:
        gamma, v = me.rule.gamma, epoch.prior[0]["v"]
        solve(reg.Lambda, reg.inverse, data.b, gamma, epoch.theta)
        predict(states.rows, states.block, epoch.theta, gamma * v, 0, W.size, data.Q)
    else:
        moment = epoch.first if power == 1 else epoch.second
        solve(reg.Lambda, reg.inverse, data.b, 1.0, moment)


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


@apart
def freeze_all(me: Learner) -> None:
    """Keep Lambda for the bonuses of an epoch."""
    if me.data.norms.size > 0:
        freeze_large(me)
    else:
        freeze(me.reg, me.epoch)


@inlined
def freeze_large(me: Learner) -> None:
    """The same in large blocks, which are factorised after as many updates as their size."""
    reg, epoch, norms, s = me.reg, me.epoch, me.data.norms, me.states.rows.shape[1]
    block, n_actions, most = me.states.block, me.states.block.shape[1], 0
    for b in range(reg.stale.size):
        most = max(most, reg.stale[b])
    if most < s:
        copy(epoch.Lambda, reg.Lambda)
        reg.log_det[1] = reg.log_det[0]
    else:
        freeze(reg, epoch)
        for pair in range(norms.size):
            b = block[pair // n_actions, pair % n_actions]
            norms[pair] = norm_in(reg.inverse[b], me.states.rows[pair]) ** 2


@apart
def norms(me: Learner) -> None:
    """||phi|| in the norm of Lambda^{-1} of all pairs, in the place of Q."""
    Q, squares, reg = me.data.Q, me.data.norms, me.reg
    if squares.size == 0:
        uncertainties(me.states, reg.Lambda, reg.inverse, 0, Q.shape[0], Q, 0)
        return
    for x in range(Q.shape[0]):  # of large blocks they are kept up to date
        for a in range(Q.shape[1]):
            Q[x, a] = math.sqrt(max(squares[x * Q.shape[1] + a], 0.0))
