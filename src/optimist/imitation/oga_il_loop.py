"""OGAIL on finite worlds, compiled: regression, values and a mirror step after each episode."""

from typing import Any

import numpy as np

from optimist.checks import BoolArray, FloatArray, IntArray
from optimist.core.batches import total_value
from optimist.core.compiler import compiled
from optimist.core.finite import is_evaluated
from optimist.core.imitators import walk_tables
from optimist.core.kernels import Kernels
from optimist.core.mixture import add_visits, evaluate
from optimist.core.regression import solve
from optimist.core.softmax import accumulate, softmax_table
from optimist.core.state import Simulator
from optimist.core.tabular import KeptTables
from optimist.imitation.loop import Player, move
from optimist.imitation.oga_il import Mixture, MixtureRule


@compiled(nogil=True)
def run_mixture(
    world: Simulator,
    rule: MixtureRule,
    kernels: Kernels,
    me: Mixture,
    pi: FloatArray,
    clock: Any,
    rng: np.random.Generator,
    steps: IntArray,
    epoch: IntArray,
    stop: BoolArray,
    kept: KeptTables,
    player: Player,
) -> None:
    """Play and learn one episode after the other, as many as the record has room for."""
    tables, r, Q = np.zeros((1, *pi.shape)), np.zeros(pi.shape), np.zeros(pi.shape)
    counts, visits = np.zeros(world.after.size), np.zeros(r.size, dtype=np.int64)
    starts, none = np.zeros(world.nu0.size, dtype=np.int64), np.zeros(0, dtype=np.int64)
    nothing_known, no_counts = np.zeros(0, dtype=np.bool_), np.zeros(0)
    n_blocks, s, _ = me.Lambda.shape
    work, changed = np.zeros((3, s)), np.zeros(n_blocks, dtype=np.bool_)
    accumulate(pi, tables[0])
    taken = 0
    for i in range(steps.size):
        if stop[0]:
            break
        keep = is_evaluated(clock, kept.stride)
        if keep:
            kept.policies[taken] = pi
        if kept.draw[i]:
            kept.drawn[:] = pi
        counts[:] = 0.0
        visits[:] = 0
        changed[:] = False
        steps[i], player.pairs[i], _ = walk_tables(
            world.first, world.after, world.cumulative, world.start, world.gamma, tables,
            counts, visits, starts, none, nothing_known, no_counts, clock, rng,
        )  # fmt: skip
        for pair in range(visits.size):
            if visits[pair] > 0:
                total = total_value(world.first, world.after, counts, pair, me.V)
                add_visits(
                    kernels.first, kernels.after, kernels.value, kernels.block, pair,
                    float(visits[pair]), total, me.V, me.Lambda, me.inverse, me.stale, me.z, work,
                )  # fmt: skip
                changed[kernels.block[pair]] = True
        for b in range(n_blocks):
            if changed[b]:
                part = slice(b * s, (b + 1) * s)
                solve(me.Lambda[b : b + 1], me.inverse[b : b + 1], me.z[part], 1.0, me.theta[part])
        move(player, r, player.pairs[i])
        if keep:
            player.kept[taken] = player.w
            taken += 1
        evaluate(
            kernels.first, kernels.after, kernels.value, kernels.block, me.Lambda, me.inverse,
            me.theta, r, pi, world.gamma, rule.kappa, rule.top, rule.tolerance, rule.sweeps, me.V,
            Q, work, stop,
        )  # fmt: skip
        me.S[:] += Q
        softmax_table(rule.t_pi, me.S, pi)
        accumulate(pi, tables[0])
        clock[0]["epochs"] += 1
        epoch[i] = clock[0]["epochs"]
