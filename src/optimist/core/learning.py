"""Learning after an episode in a finite world: the start of an epoch, and updates."""

import math

import numpy as np

from optimist.core.compiler import apart, inlined
from optimist.core.counts import regress
from optimist.core.elementary import flat
from optimist.core.epoch import (
    compute_optimism,
    count_epoch,
    is_confident,
    is_novelty,
    needs_moments,
    reset_policy,
)
from optimist.core.frame import call, call_with
from optimist.core.iteration import (
    add_update,
    back_up,
    count_update,
    predict,
    refuse_divergence,
)
from optimist.core.linalg import copy, fill
from optimist.core.optimism import AscensionKind, BonusKind
from optimist.core.prior import learn_prior as fit
from optimist.core.prior import set_confidence
from optimist.core.regression import draw_noise, freeze_counts
from optimist.core.rounds import FEWEST
from optimist.core.shift import shift
from optimist.core.state import Learner, Record


@apart
def renew_optimism(me: Learner) -> None:
    """Freeze Lambda, and compute the optimism of all pairs from the data and values so far."""
    rule, states, data, reg, epoch = me.rule, me.states, me.data, me.reg, me.epoch
    parts, n_parts, n_actions = me.front.parts, me.front.n_parts[0], states.r.shape[1]
    if is_confident(rule):
        set_confidence(rule, states, epoch)
    if is_novelty(rule):
        call(me.learn_prior, me)
    if data.own:
        freeze_counts(reg, epoch, parts, n_parts, n_actions, rule.optimism.ridge)
    else:
        call(me.freeze_all, me)
    if needs_moments(rule):
        regress(me, 2)
        regress(me, 1)
    if not data.own:
        call(me.norms, me)
    for j in range(n_parts):
        first, last = parts[j, 0], parts[j, 1]
        if data.own:
            begin, end, u = first * n_actions, last * n_actions, flat(data.Q, first, last)
            phi, Lambda = flat(states.rows, begin, end), flat(reg.Lambda, begin, end)
            for i in range(u.size):
                u[i] = abs(phi[i]) / math.sqrt(Lambda[i])
        compute_optimism(rule, states, epoch, first, last, data.Q, 0)


@apart
def begin_epoch(me: Learner) -> None:
    """Begin an epoch with a uniform policy, and compute its optimism."""
    states, epoch = me.states, me.epoch
    parts, n_parts, n_actions = me.front.parts, me.front.n_parts[0], states.r.shape[1]
    count_epoch(me.rule, epoch)
    for j in range(n_parts):
        reset_policy(states, parts[j, 0], parts[j, 1])
        first, last = parts[j, 0] * n_actions, parts[j, 1] * n_actions
        if me.data.own:
            fill(epoch.Theta[first:last], 0.0)
            fill(epoch.theta[first:last], 0.0)
    if not me.data.own:
        fill(epoch.Theta, 0.0)
        fill(epoch.theta, 0.0)
    renew_optimism(me)


@apart
def learn_prior(me: Learner) -> None:
    """Learn the prior from the transitions seen.

    Where not all states take part, those that do and their pairs are renumbered, in their order.
    """
    rule, states, data, epoch, n = me.rule, me.states, me.data, me.epoch, me.data.n_seen[0]
    shared, n_actions = states.rows.shape[1] > 1, states.r.shape[1]
    parts, n_parts, place = me.front.parts, me.front.n_parts[0], data.place
    pair, after, counts = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64), np.empty(n)
    for i in range(n):
        entry = data.seen[i]
        pair[i], after[i], counts[i] = data.pair[entry], me.world.after[entry], data.counts[entry]
    if me.front.kind.size == 0:
        fit(
            rule, epoch, pair, after, counts, states.V, states.block, shared, epoch.concentration,
            0.0,
        )  # fmt: skip
        return
    met = 0
    for j in range(n_parts):
        for x in range(parts[j, 0], parts[j, 1]):
            place[x] = met
            met += 1
    V, concentration = np.empty(met), np.empty(met * n_actions)
    block = np.empty((met, n_actions), dtype=np.int64)
    for j in range(n_parts):
        for x in range(parts[j, 0], parts[j, 1]):
            V[place[x]] = states.V[x]
            for a in range(n_actions):
                block[place[x], a] = place[x] * n_actions + a
    for i in range(n):
        x, a = pair[i] // n_actions, pair[i] % n_actions
        pair[i], after[i] = place[x] * n_actions + a, place[after[i]]
    fit(rule, epoch, pair, after, counts, V, block, shared, concentration, 0.0)
    for j in range(n_parts):
        for x in range(parts[j, 0], parts[j, 1]):
            for a in range(n_actions):
                epoch.concentration[x * n_actions + a] = concentration[place[x] * n_actions + a]


@apart
def learn(me: Learner, rng: np.random.Generator, record: Record, i: int) -> None:
    """Update Q_{k+1}, V_{k+1} and pi_{k+1}, as often as the rule and its tolerance say."""
    rule, clock = me.rule, me.epoch.clock
    left, tolerance, stop = rule.updates, rule.tolerance, record.stop
    if rule.lazy and clock[0]["updates"] > 0:  # of an epoch that has just begun there are none
        left = 0
    if left > 0 and rule.optimism.bonus == BonusKind.NOISE:
        call_with(me.draw_bonuses, me, rng)
    found, rounds = me.rounds.found, me.rounds.total.size > 0
    going, moves = left > 0 and not stop[0], left == 1 or not rule.evaluates
    while going:
        if rule.optimism.ascension == AscensionKind.CONFIDENCE:
            renew_optimism(me)
        record.sup_q[i], change = update(me, rule.eta if moves else 0.0)
        left -= 1
        while rounds and left >= FEWEST and change >= rule.tolerance and not stop[0]:
            call_with(me.play_round, me, left)
            record.sup_q[i], change, left = found[0], found[1], int(found[2])
        going = left > 0 and not stop[0] and not (moves and change < tolerance)
        moves = moves or left == 1 or change < tolerance


@apart
def draw_bonuses(me: Learner, rng: np.random.Generator) -> None:
    """CB = phi . xi with a draw of xi from N(0, sigma^2 Lambda^{-1})."""
    states, b = me.states, me.data.b
    draw_noise(me.reg.Lambda, me.rule.optimism.coefficient, rng, b)
    predict(states.rows, states.block, b, 0.0, 0, states.V.size, states.CB)


@inlined
def update(me: Learner, eta: float) -> tuple[float, float]:
    """One update of all states, at eta = 0 of their values alone.

    Returns the largest |Q|, and by how much a value has changed at most, but for a shift of all.

    P V is regressed to v: gamma P V = gamma v + phi . theta with theta = gamma M (V - v).
    """
    rule, states, data, epoch, prior = me.rule, me.states, me.data, me.epoch, me.epoch.prior
    parts, n_parts, n_actions = me.front.parts, me.front.n_parts[0], data.Q.shape[1]
    count_update(eta, epoch.clock, prior)
    pays = bool(prior[0]["pays"])
    beyond = rule.gamma * prior[0]["worth"] if pays else rule.heaven
    regress(me, 0)
    if not data.own:
        add_update(eta, epoch.theta, epoch.Theta, 0, epoch.theta.size)
    if pays:  # W is of no use any more
        for j in range(n_parts):
            copy(data.W[parts[j, 0] : parts[j, 1]], states.V[parts[j, 0] : parts[j, 1]])
    largest, change, best, most = 0.0, 0.0, -np.inf, -np.inf
    for j in range(n_parts):
        first, last = parts[j, 0], parts[j, 1]
        if data.own:
            add_update(eta, epoch.theta, epoch.Theta, first * n_actions, last * n_actions)
        found = back_up(rule, eta, states, beyond, pays, first, last, data.Q, 0)
        largest, change = max(largest, found[0]), max(change, found[1])
        best, most = max(best, found[2]), max(most, found[3])
    refuse_divergence(change)
    if not pays:
        return largest, change
    low, high, V, W = np.inf, -np.inf, states.V, data.W
    for j in range(n_parts):
        for x in range(parts[j, 0], parts[j, 1]):
            low, high = min(low, V[x] - W[x]), max(high, V[x] - W[x])
    return largest, shift(me, low, high, most, best)[0]
