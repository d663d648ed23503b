"""ILARL on finite worlds, compiled: batches of episodes with one policy, and updates after each."""

from typing import Any

import numpy as np

from optimist.checks import BoolArray, FloatArray, IntArray
from optimist.core.batches import bonuses, fit_batch, regress_values, truncated_values
from optimist.core.compiler import compiled
from optimist.core.finite import is_evaluated
from optimist.core.imitators import walk_tables
from optimist.core.softmax import accumulate, soft_values, softmax_table
from optimist.core.state import Simulator
from optimist.core.tabular import KeptTables
from optimist.imitation.ilarl import Batch, BatchRule
from optimist.imitation.loop import Player, move, rewards_of


@compiled(nogil=True)
def run_batches(
    world: Simulator,
    rule: BatchRule,
    rows: FloatArray,
    block: IntArray,
    me: Batch,
    pi: FloatArray,
    clock: Any,
    rng: np.random.Generator,
    steps: IntArray,
    epoch: IntArray,
    stop: BoolArray,
    kept: KeptTables,
    player: Player,
) -> None:
    """Play as many episodes as the record has room for, and learn when a batch is full.

    The weights move after every episode: a step needs its last pair alone. Values wait for the
    data of the whole batch.
    """
    tables, r = np.zeros((1, *pi.shape)), np.zeros(pi.shape)
    starts, none = np.zeros(world.nu0.size, dtype=np.int64), np.zeros(0, dtype=np.int64)
    nothing_known, no_counts = np.zeros(0, dtype=np.bool_), np.zeros(0)
    accumulate(pi, tables[0])
    taken = 0
    for i in range(steps.size):
        if stop[0]:
            break
        at = clock[0]["episodes"] % rule.batch
        if at == 0:
            me.counts[:] = 0.0
            me.visits[:] = 0
        keep = is_evaluated(clock, kept.stride)
        if keep:
            kept.policies[taken] = pi
        if kept.draw[i]:
            kept.drawn[:] = pi
        steps[i], player.pairs[i], _ = walk_tables(
            world.first, world.after, world.cumulative, world.start, world.gamma, tables,
            me.counts, me.visits, starts, none, nothing_known, no_counts, clock, rng,
        )  # fmt: skip
        move(player, r, player.pairs[i])
        me.weights[at] = player.w
        if keep:
            player.kept[taken] = player.w
            taken += 1
        if at == rule.batch - 1:
            fit_batch(me.visits, rows, block, rule.ridge, me.Lambda, me.inverse)
            bonuses(rows, block, me.Lambda, me.inverse, rule.beta, me.CB)
            update_values(
                world.first, world.after, me.counts, me.visits, rows, block, me.Lambda, me.inverse,
                me.CB, me.weights, player.first, player.column, player.value, player.shift, pi,
                rule.eta, world.gamma, rule.top, me.V, me.S, stop,
            )  # fmt: skip
            softmax_table(rule.eta, me.S, pi)
            accumulate(pi, tables[0])
            clock[0]["epochs"] += 1
        epoch[i] = clock[0]["epochs"]


@compiled()
def update_values(
    first: IntArray,
    after: IntArray,
    counts: FloatArray,
    visits: IntArray,
    rows: FloatArray,
    block: IntArray,
    Lambda: FloatArray,
    inverse: FloatArray,
    CB: FloatArray,
    weights: FloatArray,
    reward_first: IntArray,
    reward_column: IntArray,
    reward_value: FloatArray,
    shift: float,
    pi: FloatArray,
    eta: float,
    gamma: float,
    top: float,
    V: FloatArray,
    S: FloatArray,
    stop: BoolArray,
) -> None:
    """One update of Q and V for the weights of each episode of a batch; S += the mean of the Q."""
    r, Q, mean = np.zeros(S.shape), np.zeros(S.shape), np.zeros(S.shape)
    sums = np.zeros(Lambda.shape[0] * Lambda.shape[1])
    theta = np.zeros(sums.size)
    for i in range(weights.shape[0]):
        if stop[0]:
            break
        rewards_of(reward_first, reward_column, reward_value, weights[i], shift, r)
        regress_values(
            first, after, counts, visits, rows, block, Lambda, inverse, V, gamma, sums, theta
        )
        truncated_values(rows, block, theta, r, CB, top, Q)
        for x in range(S.shape[0]):
            for a in range(S.shape[1]):
                mean[x, a] += Q[x, a] / weights.shape[0]
        soft_values(pi, Q, eta, V)
    for x in range(S.shape[0]):
        for a in range(S.shape[1]):
            S[x, a] += mean[x, a]
