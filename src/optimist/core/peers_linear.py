"""Randomised least-squares value iteration on finite worlds, compiled: whole episodes.

Episodes, statistics and updates are the engine's. Only the bonuses are not: in the place of the
uncertainty of a pair stands its draw from a normal distribution as wide.
"""

import math
from typing import Any

import numpy as np
from numba import njit

from optimist.checks import FloatArray, IntArray
from optimist.core.engine import LOG_TWO, begin_epoch, dot, play, start, update
from optimist.core.state import (
    EPISODES,
    EPOCHS,
    STATE,
    Iterate,
    Record,
    Rule,
    Simulator,
    Snapshots,
    Statistics,
)

TOLERANCE = 1e-5
"""Sweeps end when no value changes by more, as a fraction of the largest there can be."""


@njit(cache=True, nogil=True)
def run(
    world: Simulator,
    rule: Rule,
    stats: Statistics,
    it: Iterate,
    r: FloatArray,
    nu0: FloatArray,
    rng: np.random.Generator,
    record: Record,
    shots: Snapshots,
) -> None:
    """Play and learn one episode after the other, as many as the record has room for."""
    if it.clock[STATE] < 0:
        it.clock[STATE] = start(world.start, rng.random())
    taken = 0
    for i in range(record.steps.size):
        if shots.stride > 0 and it.clock[EPISODES] % shots.stride == 0:
            shots.log_policies[taken] = it.log_pi
            taken += 1
        if shots.draw[i]:
            shots.log_pi[:] = it.log_pi
        for x in range(nu0.size):
            record.value[i] += nu0[x] * it.V[x]
        play(world, rule, stats, it, r, rng, record, i)
        due = it.clock[EPISODES] == 0 or stats.log_det[0] >= stats.log_det[1] + LOG_TWO
        if due:
            begin_epoch(world, rule, stats, it, r)
        it.clock[EPISODES] += 1
        record.epoch[i] = it.clock[EPOCHS]
        if due or not rule.lazy:
            perturb(
                stats.diagonal, stats.phi, stats.block, stats.Lambda, rule.beta, rng, stats.work,
                it.CB,
            )  # fmt: skip
            for _ in range(rule.updates):
                if record.stop[0]:
                    return
                record.sup_q[i], change = update(world, rule, stats, it, r)
                if change <= TOLERANCE * rule.heaven:
                    break


@njit(cache=True)
def perturb(
    diagonal: bool,
    phi: FloatArray,
    block: IntArray,
    Lambda: FloatArray,
    sigma: float,
    rng: np.random.Generator,
    xi: FloatArray,
    CB: FloatArray,
) -> None:
    """phi(x, a) . xi for every pair, with one draw of xi from N(0, sigma^2 Lambda^{-1})."""
    n_blocks, s, _ = Lambda.shape
    for b in range(n_blocks):
        part = xi[b * s : (b + 1) * s]
        for i in range(s):
            part[i] = sigma * rng.standard_normal()
        if diagonal:
            part[0] /= math.sqrt(Lambda[b, 0, 0])
            continue
        L: Any = np.linalg.cholesky(Lambda[b])
        for i in range(s - 1, -1, -1):  # L' xi = z, by backward substitution
            for j in range(i + 1, s):
                part[i] -= L[j, i] * part[j]
            part[i] /= L[i, i]
    n_actions = CB.shape[1]
    for pair in range(block.size):
        begin = block[pair] * s
        CB[pair // n_actions, pair % n_actions] = dot(phi[pair], xi[begin : begin + s])
