"""Algorithm 1 on finite worlds, compiled: whole episodes, on statistics of a fixed size.

The cost of an episode does not depend on how many came before it. Everything the loop touches is
handed in as arrays (`optimist.core.state`) and changed in place, so that a run can be stopped after
any episode, saved, and continued. From top to bottom: the loop, an episode, the start of an epoch,
updates of values and policy, and the sum over all data.

The compiler counts references whenever a tuple of arrays is unpacked, which costs as much as a few
steps of a small world. So a call unpacks the learner once, and an episode hands its parts on.
"""

import math

import numpy as np

from optimist.checks import FloatArray, IntArray
from optimist.core.compiler import compiled, inlined
from optimist.core.epoch import (
    compute_optimism,
    count_episode,
    find_alike,
    is_novelty,
    needs_moments,
    reset_policy,
    uncertainties,
)
from optimist.core.iteration import back_up, count_update, predict, sum_worth
from optimist.core.linalg import add_to, dot, draw, draw_between
from optimist.core.optimism import AscensionKind, BonusKind
from optimist.core.prior import learn_prior
from optimist.core.regression import draw_noise, freeze, observe, solve
from optimist.core.state import (
    Data,
    Epoch,
    Kept,
    Learner,
    Record,
    Regression,
    Rule,
    Simulator,
    States,
)


@compiled(nogil=True)
def run_finite(me: Learner, rng: np.random.Generator, record: Record, kept: Kept) -> None:
    """Play and learn one episode after the other, as many as the record has room for."""
    world, rule, states, data, reg, epoch = me
    taken = 0
    for i in range(record.steps.size):
        taken += play(world, rule, states, data, reg, epoch, rng, record, kept, i, taken)
        learn(world, rule, states, data, reg, epoch, rng, record, i)


@compiled(nogil=True)
def play_one(me: Learner, rng: np.random.Generator, record: Record, kept: Kept) -> None:
    """The first half of one episode: rewards may be changed before `learn_one`."""
    world, rule, states, data, reg, epoch = me
    play(world, rule, states, data, reg, epoch, rng, record, kept, 0, 0)


@compiled(nogil=True)
def learn_one(me: Learner, rng: np.random.Generator, record: Record) -> None:
    """The second half."""
    world, rule, states, data, reg, epoch = me
    learn(world, rule, states, data, reg, epoch, rng, record, 0)


@inlined
def play(
    world: Simulator,
    rule: Rule,
    states: States,
    data: Data,
    reg: Regression,
    epoch: Epoch,
    rng: np.random.Generator,
    record: Record,
    kept: Kept,
    i: int,
    taken: int,
) -> bool:
    """One episode under pi_k, which ends after each step with probability 1 - gamma.

    The pseudocode tosses the coin before the next state is seen, so the last pair of an episode is
    not learnt from; with ``observe_last`` it is. Blocks of the covariance are updated at the end,
    once for all visits of a pair. An epoch begins after it if it is time. Returns whether the
    policy was set aside to be evaluated.
    """
    n_actions, s, clock = states.r.shape[1], states.rows.shape[1], epoch.clock
    first, after, cumulative, gamma = world.first, world.after, world.cumulative, world.gamma
    pi, CB, p, r = states.cumulative, states.CB, states.p, states.r
    rows, block, Lambda = states.rows, states.block, reg.Lambda
    counts, sums, visits, met = data.counts, data.sums, data.visits, data.met
    observe_last = rule.observe_last
    keep = kept.stride > 0 and clock[0].episodes % kept.stride == 0
    if keep:
        kept.log_policies[taken] = states.log_pi
    if kept.draw[i]:
        keep_drawn(states, epoch, kept)
    record.value[i] = dot(world.nu0, states.V)
    draw_first(world, epoch, rng)
    x = clock[0].state
    steps, reward, bonus, ascension, growth, pairs, pair = 0, 0.0, 0.0, 0.0, 1.0, 0, 0
    going = True
    while going:
        a = draw(pi[x], rng.random())
        pair = x * n_actions + a
        steps += 1
        reward += r[x, a]
        bonus += CB[x, a]
        ascension += p[x, a]
        going = rng.random() < gamma
        if not (going or observe_last):
            break
        b = block[x, a]
        entry = draw_between(cumulative, first[pair], first[pair + 1], rng.random())
        x = after[entry]
        if counts.size > 0:
            counts[entry] += 1
        if s == 1:
            before = Lambda[b, 0, 0]
            Lambda[b, 0, 0] = before + rows[pair, 0] * rows[pair, 0]
            growth *= Lambda[b, 0, 0] / before
            if growth > 1e200:
                reg.log_det[0] += math.log(growth)
                growth = 1.0
        else:
            for j in range(s):
                sums[x, b * s + j] += rows[pair, j]
            if visits[pair] == 0:
                met[pairs] = pair
                pairs += 1
            visits[pair] += 1
    reg.log_det[0] += math.log(growth)
    for m in range(pairs):
        b, n = block[met[m] // n_actions, met[m] % n_actions], float(visits[met[m]])
        observe(Lambda, reg.inverse, reg.stale, reg.log_det, b, rows[met[m]], n, data.b)
        visits[met[m]] = 0
    clock[0].state = draw(world.start, rng.random())
    clock[0].steps += steps
    if count_episode(clock, reg.log_det, rule.stage):
        begin_epoch(world, rule, states, data, reg, epoch)
    record.steps[i] = steps
    record.reward[i] = reward
    record.bonus[i] = bonus / steps
    record.ascension[i] = ascension / steps
    record.last[i] = pair
    record.epoch[i] = clock[0].epochs
    return keep


@inlined
def draw_first(world: Simulator, epoch: Epoch, rng: np.random.Generator) -> None:
    """Draw the first state of all."""
    if epoch.clock[0].state < 0:
        epoch.clock[0].state = draw(world.start, rng.random())


@inlined
def keep_drawn(states: States, epoch: Epoch, kept: Kept) -> None:
    """Set the present policy aside as the one drawn for the output."""
    kept.epoch.Theta[:] = epoch.Theta
    kept.epoch.Lambda[:] = epoch.Lambda
    kept.epoch.first[:] = epoch.first
    kept.epoch.second[:] = epoch.second
    kept.epoch.prior[:] = epoch.prior
    kept.epoch.clock[:] = epoch.clock
    kept.rewards[:] = states.rewards
    kept.log_pi[:] = states.log_pi


@inlined
def begin_epoch(
    world: Simulator,
    rule: Rule,
    states: States,
    data: Data,
    reg: Regression,
    epoch: Epoch,
) -> None:
    """Freeze Lambda, and compute the optimism of all pairs in the new epoch."""
    n_states, n_actions = states.r.shape
    reset_policy(rule, states, epoch, n_states)
    if is_novelty(rule):
        pair, after, counts = data.pair, world.after, data.counts
        learn_prior(rule, reg, epoch, pair, after, counts, states.V, n_actions, 0.0)
    freeze(reg, epoch)
    v = epoch.prior[0].v
    if rule.optimism.bonus == BonusKind.VARIANCE:
        regress(
            data.own, world.first, world.after, states.rows, states.block, reg.Lambda, reg.inverse,
            data.counts, data.sums, data.b, states.V, v, 2, 1.0, epoch.second, data.Q,
        )  # fmt: skip
    if needs_moments(rule):
        regress(
            data.own, world.first, world.after, states.rows, states.block, reg.Lambda, reg.inverse,
            data.counts, data.sums, data.b, states.V, v, 1, 1.0, epoch.first, data.Q,
        )  # fmt: skip
    uncertainties(states, reg.Lambda, reg.inverse, 0, data.Q)
    compute_optimism(rule, states, epoch, data.Q, 0)
    if rule.learns_heaven:
        find_alike(states, epoch.first, rule.gamma, v, epoch.prior[0].hope)


@inlined
def learn(
    world: Simulator,
    rule: Rule,
    states: States,
    data: Data,
    reg: Regression,
    epoch: Epoch,
    rng: np.random.Generator,
    record: Record,
    i: int,
) -> None:
    """Update Q_{k+1}, V_{k+1} and pi_{k+1}, as often as the rule says.

    P V is regressed to v: gamma P V = gamma v + phi . theta with theta = gamma M (V - v).
    """
    clock, prior, n = epoch.clock, epoch.prior, states.V.size
    if not rule.lazy or clock[0].updates == 0:  # an epoch without updates has just begun
        if rule.optimism.bonus == BonusKind.NOISE:
            draw_noise(reg.Lambda, rule.optimism.coefficient, rng, data.b)
            predict(states.rows, states.block, data.b, 0.0, 0, n, states.CB)
        truncate = rule.optimism.ascension == AscensionKind.TRUNCATION
        bound = rule.optimism.ascension == AscensionKind.NOVELTY
        for _ in range(rule.updates):
            if record.stop[0]:
                break
            count_update(rule.eta, clock, prior, epoch.Theta, states.rewards)
            v = prior[0].v
            regress(
                data.own, world.first, world.after, states.rows, states.block,
                reg.Lambda, reg.inverse, data.counts, data.sums, data.b,
                states.V, v, 1, rule.gamma, epoch.theta, data.Q,
            )  # fmt: skip
            if not data.own:
                predict(states.rows, states.block, epoch.theta, rule.gamma * v, 0, n, data.Q)
            add_to(epoch.Theta, 1.0, epoch.theta)
            record.sup_q[i], change = back_up(
                rule.eta, rule.gamma, rule.heaven, truncate, bound, prior,
                states.r, states.CB, states.p, states.alike, states.rewards,
                data.Q, states.V, states.log_pi, states.cumulative,
            )  # fmt: skip
            sum_worth(rule.gamma, rule.heaven, prior)
            if change < rule.tolerance:
                break


@compiled()
def regress(
    own: bool,
    first: IntArray,
    after: IntArray,
    rows: FloatArray,
    block: IntArray,
    Lambda: FloatArray,
    inverse: FloatArray,
    counts: FloatArray,
    sums: FloatArray,
    b: FloatArray,
    V: FloatArray,
    v: float,
    power: int,
    factor: float,
    theta: FloatArray,
    Q: FloatArray,
) -> None:
    """theta = factor Lambda^{-1} sum_D phi(x, a) (V(x') - v)^power, with a power of 1 or 2.

    Where every pair has a feature of its own, Q = factor v + phi . theta comes with it.
    """
    if own:
        regress_counts(first, after, rows, Lambda, counts, V, v, power, factor, theta, Q)
    else:
        if rows.shape[1] == 1:
            sum_counts(first, after, rows, block, counts, V, v, power, b)
        else:
            sum_features(sums, V, v, power, b)
        solve(Lambda, inverse, b, factor, theta)


@compiled()
def regress_counts(
    first: IntArray,
    after: IntArray,
    rows: FloatArray,
    Lambda: FloatArray,
    counts: FloatArray,
    V: FloatArray,
    v: float,
    power: int,
    factor: float,
    theta: FloatArray,
    Q: FloatArray,
) -> None:
    """The whole regression where every pair has a feature of its own, as one-hot features are."""
    n_states, n_actions = Q.shape
    base, entry = factor * v, 0
    for x in range(n_states):
        for a in range(n_actions):
            pair = x * n_actions + a
            end, total = first[pair + 1], 0.0
            while entry < end:
                W = V[after[entry]] - v
                total += counts[entry] * (W if power == 1 else W * W)
                entry += 1
            theta[pair] = factor * (rows[pair, 0] * total / Lambda[pair, 0, 0])
            Q[x, a] = base + rows[pair, 0] * theta[pair]


@compiled()
def sum_counts(
    first: IntArray,
    after: IntArray,
    rows: FloatArray,
    block: IntArray,
    counts: FloatArray,
    V: FloatArray,
    v: float,
    power: int,
    b: FloatArray,
) -> None:
    """b = sum_D phi(x, a) (V(x') - v)^power from counts, where blocks are of size one."""
    n_states, n_actions = block.shape
    b[:] = 0.0
    for x in range(n_states):
        for a in range(n_actions):
            pair, total = x * n_actions + a, 0.0
            for entry in range(first[pair], first[pair + 1]):
                W = V[after[entry]] - v
                total += counts[entry] * (W if power == 1 else W * W)
            b[block[x, a]] += rows[pair, 0] * total


@compiled()
def sum_features(sums: FloatArray, V: FloatArray, v: float, power: int, b: FloatArray) -> None:
    """The same from sums of features by next states."""
    b[:] = 0.0
    for x in range(V.size):
        W = V[x] - v
        add_to(b, W if power == 1 else W * W, sums[x])
