"""Epochs: they begin when the determinant has doubled, and freeze the optimism of all pairs."""

import math
from typing import Any

import numpy as np

from optimist.checks import FloatArray
from optimist.core.compiler import apart, compiled, inlined
from optimist.core.elementary import flat
from optimist.core.linalg import dot, fill, norm_in, squares_in
from optimist.core.optimism import (
    KNOWN,
    RANGE,
    UNTRIED,
    AscensionKind,
    BonusKind,
    Optimism,
    deviations,
    least_log_odds,
    optimism,
    trial,
    visits,
)
from optimist.core.regression import has_doubled
from optimist.core.state import Epoch, Rule, States

optimism_of_pair, visits_of_pair = inlined(optimism), inlined(visits)
deviations_after = inlined(deviations)
trial_of_pair, floor_of_pair = inlined(trial), inlined(least_log_odds)


@compiled()
def count_episode(clock: Any, log_det: FloatArray, stage: int, whole: bool) -> bool:
    """Count an episode, or a part of one. Returns whether an epoch begins after it
    (line-alg:epoch).

    The first begins after episode 1, and one with every stage of the parameters.
    """
    clock[0]["episodes"] += whole
    first = clock[0]["epochs"] == 0
    return bool(first or has_doubled(log_det) or clock[0]["stage"] != stage)


@inlined
def count_epoch(rule: Rule, epoch: Epoch) -> None:
    """Begin an epoch, with all sums at zero."""
    clock, prior = epoch.clock, epoch.prior
    clock[0]["epochs"] += 1
    clock[0]["updates"] = 0
    clock[0]["stage"] = rule.stage
    prior[0]["worths"] = 0.0
    if rule.learns_heaven and not prior[0]["pays"]:  # nothing is known of its worth but the bound
        prior[0]["worth"] = rule.heaven
    prior[0]["pays"] = rule.learns_heaven


@inlined
def reset_policy(states: States, first: int, last: int) -> None:
    """The policy of the states from the first to the last is uniform again."""
    fill(flat(states.rewards, first, last), 0.0)
    fill(flat(states.log_pi, first, last), -math.log(states.log_pi.shape[1]))


@inlined
def needs_moments(rule: Rule) -> bool:
    """Whether the regression of V - v is used by the optimism of an epoch."""
    return bool(rule.optimism.bonus == BonusKind.VARIANCE)


@apart
def uncertainties(
    states: States,
    Lambda: FloatArray,
    inverse: FloatArray,
    first: int,
    last: int,
    u: FloatArray,
    begin: int,
) -> None:
    """||phi|| in the norm of Lambda^{-1} for all pairs of some states; row 0 of u is of `begin`."""
    rows, block = states.rows, states.block
    n_actions = block.shape[1]
    shared, dense = rows.shape[0] == block.shape[0], rows.shape[1] > 1
    each = 1 if shared else n_actions  # rows of a state
    for a in range(n_actions):
        x = first
        while x < last:
            b, row, y = block[x, a], x * each + (0 if shared else a), x - begin
            if not dense:
                u[y, a] = abs(rows[row, 0]) / math.sqrt(Lambda[b, 0, 0])
            elif x + 3 < last and block[x + 1, a] == block[x + 2, a] == block[x + 3, a] == b:
                squares = squares_in(inverse[b], rows, row, each)
                for k in range(4):
                    u[y + k, a] = math.sqrt(max(squares[k], 0.0))
                x += 3
            else:
                u[y, a] = norm_in(inverse[b], rows[row])
            x += 1


@apart
def compute_optimism(
    rule: Rule, states: States, epoch: Epoch, first: int, last: int, u: FloatArray, begin: int
) -> None:
    """CB and p+ of some states, and which actions are on trial; row 0 of u is of ``begin``."""
    rows, block, s = states.rows, states.block, states.rows.shape[1]
    CB, p, standing = states.CB, states.p, states.standing
    n_actions = block.shape[1]
    shared = rows.shape[0] == block.shape[0]
    o, novel = optimism_of(rule), epoch.prior[0]["novel"]
    varies, learns, confident = o.bonus == BonusKind.VARIANCE, is_novelty(rule), is_confident(rule)
    L = epoch.prior[0]["concentration"] / RANGE
    mean, square, theta, multiple = 0.0, 0.0, 0.0, 0.0
    pairs = (last - first) * n_actions
    share, untried, n = np.ones(pairs), np.zeros(pairs), np.zeros(pairs)
    if varies or learns or confident:  # else nothing depends on the visits
        for i in range(pairs):
            row = first + i // n_actions if shared else first * n_actions + i
            n[i] = rows[row, 0] * rows[row, 0] if s == 1 else dot(rows[row], rows[row])
        of_pair = flat(u, first - begin, last - begin)
        for i in range(pairs):
            share[i], untried[i], n[i] = visits_of_pair(o, of_pair[i], n[i])
    for x in range(first, last):
        N, pair = 0.0, (x - first) * n_actions
        for a in range(n_actions):
            N += n[pair + a]
        if varies and N > 0:
            multiple = math.sqrt(2 * L) if confident else deviations_after(N)
        for a in range(n_actions):
            m = pair + a
            if varies and learns and untried[m] == 1:
                CB[x, a], p[x, a], standing[x, a] = 0.0, 1.0, UNTRIED
                continue
            b, i = block[x, a], x if shared else x * n_actions + a
            if varies and s == 1:
                mean, square = rows[i, 0] * epoch.first[b], rows[i, 0] * epoch.second[b]
            elif varies:
                mean = dot(rows[i], epoch.first[b * s : (b + 1) * s])
                square = dot(rows[i], epoch.second[b * s : (b + 1) * s])
            if learns or confident:
                theta = epoch.concentration[b]
            if learns:
                odds, on_trial = trial_of_pair(n[m], theta, N)
                known = floor_of_pair(odds) if on_trial else KNOWN
                standing[x, a] = UNTRIED if untried[m] == 1 else known
            CB[x, a], p[x, a] = optimism_of_pair(
                o, novel, u[x - begin, a], share[m], untried[m], n[m], multiple, mean, square, theta
            )


@inlined
def optimism_of(rule: Rule) -> Optimism:
    """The formula as a tuple of numbers: a frame is read again at each use."""
    o = rule.optimism
    return Optimism(o.bonus, o.coefficient, o.ascension, o.a, o.b, o.gamma, o.ridge)


@inlined
def is_novelty(rule: Rule) -> bool:
    """Whether a prior is learnt, and actions are given trials."""
    return bool(rule.optimism.ascension == AscensionKind.NOVELTY)


@inlined
def is_confident(rule: Rule) -> bool:
    """Whether optimism is computed anew for every update, with the constants of a proof."""
    return bool(rule.optimism.ascension == AscensionKind.CONFIDENCE)
