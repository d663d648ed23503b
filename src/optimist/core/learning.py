"""What a learner in a finite world does after an episode: the start of an epoch, and updates."""

from typing import Any

import numpy as np

from optimist.checks import FloatArray, IntArray
from optimist.core.compiler import compiled, inlined
from optimist.core.counts import regress
from optimist.core.epoch import (
    compute_optimism,
    count_epoch,
    is_confident,
    is_novelty,
    needs_moments,
    reset_policy,
    uncertainties,
)
from optimist.core.front import meet
from optimist.core.iteration import (
    add_update,
    back_up,
    count_update,
    predict,
    refuse_divergence,
    set_worth,
)
from optimist.core.optimism import AscensionKind, BonusKind
from optimist.core.prior import learn_prior, set_confidence
from optimist.core.regression import draw_noise, freeze, freeze_counts
from optimist.core.state import Learner, Record


@compiled()
def prepare(me: Learner, begins: bool, fresh: int) -> None:
    """Between an episode and its update: let fresh states take part, and begin an epoch."""
    if fresh > 0:
        meet(me.front, me.states, me.epoch, fresh)
    if begins:
        begin_epoch(me)


@compiled()
def begin_epoch(me: Learner) -> None:
    """Begin an epoch with a uniform policy, and compute its optimism."""
    states, epoch, parts = me.states, me.epoch, me.front.parts
    n_actions = states.r.shape[1]
    count_epoch(me.rule, epoch)
    for j in range(me.front.n_parts[0]):
        reset_policy(states, parts[j, 0], parts[j, 1])
        pairs = slice(parts[j, 0] * n_actions, parts[j, 1] * n_actions)
        epoch.Theta[pairs] = 0.0
        epoch.theta[pairs] = 0.0
    if not me.data.own:
        epoch.Theta[:] = 0.0
        epoch.theta[:] = 0.0
    renew_optimism(me)


@compiled()
def renew_optimism(me: Learner) -> None:
    """Freeze Lambda, and compute the optimism of all pairs from the data and values so far."""
    world, rule, states, data, reg, epoch, front = me
    parts, n_parts, Q = front.parts, front.n_parts[0], data.Q
    if is_confident(rule):
        set_confidence(rule, states, epoch)
    if is_novelty(rule):
        learn_prior_of_world(me)
    if data.own:
        freeze_counts(reg, epoch, parts, n_parts, states.r.shape[1], rule.optimism.ridge)
    else:
        freeze(reg, epoch)
    if needs_moments(rule):
        v = epoch.prior[0]["v"]
        for power in (2, 1):
            moment = epoch.first if power == 1 else epoch.second
            regress(
                parts, n_parts, data.own, world.first, world.after, states.rows, states.block,
                reg.Lambda, reg.inverse, data.counts, data.sums, data.b, data.W, states.V, v, power,
                1.0, 0.0, moment, Q,
            )  # fmt: skip
    for j in range(n_parts):
        first, last = parts[j]
        uncertainties(states, reg.Lambda, reg.inverse, first, Q[first:last])
        compute_optimism(rule, states, epoch, Q[first:last], first)


@compiled()
def learn_prior_of_world(me: Learner) -> None:
    """Learn the prior from the transitions counted, in one-hot worlds those of states in the front.

    There states and pairs are renumbered, in their order, from one part to the next.
    """
    world, rule, states, data, _, epoch, front = me
    shared, n_actions = states.rows.shape[1] > 1, states.r.shape[1]
    if not data.own:
        learn_prior(
            rule, epoch, data.pair, world.after, data.counts, states.V, states.block, shared,
            epoch.concentration, 0.0,
        )  # fmt: skip
        return
    parts, n_parts, place = front.parts, front.n_parts[0], data.place
    n, room = 0, 0
    for j in range(n_parts):
        for x in range(parts[j, 0], parts[j, 1]):
            place[x] = n
            n += 1
        room += world.first[parts[j, 1] * n_actions] - world.first[parts[j, 0] * n_actions]
    V, concentration = np.empty(n), np.empty(n * n_actions)
    pair, after = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
    weight, found = np.empty(room), 0
    for j in range(n_parts):
        for x in range(parts[j, 0], parts[j, 1]):
            V[place[x]] = states.V[x]
            for a in range(n_actions):
                i = x * n_actions + a
                for entry in range(world.first[i], world.first[i + 1]):
                    if data.counts[entry] > 0:
                        pair[found] = place[x] * n_actions + a
                        after[found] = place[world.after[entry]]
                        weight[found] = data.counts[entry]
                        found += 1
    block = np.arange(n * n_actions).reshape(n, n_actions)
    learn_prior(
        rule, epoch, pair[:found], after[:found], weight[:found], V, block, shared, concentration,
        0.0,
    )  # fmt: skip
    for j in range(n_parts):
        first, last = parts[j, 0] * n_actions, parts[j, 1] * n_actions
        begin = place[parts[j, 0]] * n_actions
        epoch.concentration[first:last] = concentration[begin : begin + last - first]


@inlined
def learn(me: Learner, rng: np.random.Generator, record: Record, i: int) -> None:
    """Update Q_{k+1}, V_{k+1} and pi_{k+1}, as often as the rule and its tolerance say."""
    world, rule, states, data, reg, epoch, front = me
    eta, gamma, heaven, kind = rule.eta, rule.gamma, rule.heaven, rule.optimism.ascension
    clock, prior, Theta, theta = epoch.clock, epoch.prior, epoch.Theta, epoch.theta
    rows, block, r, CB, p = states.rows, states.block, states.r, states.CB, states.p
    standing, rewards, V, Q = states.standing, states.rewards, states.V, data.Q
    log_pi, pi, first, after = states.log_pi, states.cumulative, world.first, world.after
    own, counts, sums, b, W = data.own, data.counts, data.sums, data.b, data.W
    Lambda, inverse, stop, sup_q = reg.Lambda, reg.inverse, record.stop, record.sup_q
    parts, n_parts = front.parts, front.n_parts
    left = rule.updates
    if rule.lazy and clock[0]["updates"] > 0:  # of an epoch that has just begun there are none
        left = 0
    if left > 0 and rule.optimism.bonus == BonusKind.NOISE:
        draw_noise(Lambda, rule.optimism.coefficient, rng, b)
        predict(rows, block, b, 0.0, 0, V.size, CB)
    going = left > 0 and not stop[0]
    while going:
        if kind == AscensionKind.CONFIDENCE:
            renew_optimism(me)
        sup_q[i], change = update(
            parts, n_parts[0], own, eta, gamma, heaven, kind, clock, prior, first, after, rows,
            block, Lambda, inverse, counts, sums, b, W, theta, Theta, r, CB, p, standing, rewards,
            Q, V, log_pi, pi,
        )  # fmt: skip
        left -= 1
        going = left > 0 and not stop[0] and not change < rule.tolerance


@inlined
def update(
    parts: IntArray,
    n_parts: int,
    own: bool,
    eta: float,
    gamma: float,
    heaven: float,
    kind: int,
    clock: Any,
    prior: Any,
    first: IntArray,
    after: IntArray,
    rows: FloatArray,
    block: IntArray,
    Lambda: FloatArray,
    inverse: FloatArray,
    counts: FloatArray,
    sums: FloatArray,
    b: FloatArray,
    W: FloatArray,
    theta: FloatArray,
    Theta: FloatArray,
    r: FloatArray,
    CB: FloatArray,
    p: FloatArray,
    standing: FloatArray,
    rewards: FloatArray,
    Q: FloatArray,
    V: FloatArray,
    log_pi: FloatArray,
    pi: FloatArray,
) -> tuple[float, float]:
    """One update of all states; the largest |Q|, and by how much a value has changed at most.

    P V is regressed to v: gamma P V = gamma v + phi . theta with theta = gamma M (V - v).
    """
    truncate, bounded = kind == AscensionKind.TRUNCATION, kind >= AscensionKind.NOVELTY
    count_update(eta, clock, prior)
    v, pays = prior[0]["v"], bool(prior[0]["pays"])
    beyond = gamma * prior[0]["worth"] if pays else heaven
    regress(
        parts, n_parts, own, first, after, rows, block, Lambda, inverse, counts, sums, b, W, V, v,
        1, gamma, gamma * v, theta, Q,
    )  # fmt: skip
    if n_parts == 1 and parts[0, 1] == V.size:  # all states: without slices, which cost some time
        add_update(eta, theta, Theta)
        largest, best, change = back_up(
            eta, heaven, beyond, pays, truncate, bounded, r, CB, p, standing, rewards, Q, V,
            log_pi, pi,
        )  # fmt: skip
    else:
        largest, best, change = 0.0, -np.inf, 0.0
        for j in range(n_parts):
            part = slice(parts[j, 0], parts[j, 1])
            pairs = slice(parts[j, 0] * Q.shape[1], parts[j, 1] * Q.shape[1])
            add_update(eta, theta[pairs], Theta[pairs])
            top, most, moved = back_up(
                eta, heaven, beyond, pays, truncate, bounded, r[part], CB[part], p[part],
                standing[part], rewards[part], Q[part], V[part], log_pi[part], pi[part],
            )  # fmt: skip
            largest, best, change = max(largest, top), max(best, most), max(change, moved)
    if pays:
        set_worth(prior, beyond, best, heaven)
    refuse_divergence(change)
    return largest, change
