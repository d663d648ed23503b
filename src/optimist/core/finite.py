"""Algorithm 1 on finite worlds, compiled: whole episodes, on statistics of a fixed size.

The cost of an episode does not depend on how many came before it. Everything the loop touches is
handed in as arrays (`optimist.core.state`) and changed in place, so that a run can be stopped after
any episode, saved, and continued. From top to bottom: the loop, an episode, the start of an epoch,
and updates of values and policy.

Where an array is last used in a branch, or in a loop with several exits, the compiler counts
references to it and to all arrays of its tuple, which costs as much as some steps of a small world.
So `play` is straight-line code, loops have one exit, and what is done seldom (`begin_epoch`,
`keep_policy`) is not inlined.
"""

import math
from typing import Any

import numpy as np

from optimist.checks import FloatArray, IntArray
from optimist.core.compiler import compiled, inlined
from optimist.core.counts import regress
from optimist.core.epoch import (
    compute_optimism,
    count_episode,
    is_confident,
    is_novelty,
    needs_moments,
    reset_policy,
    uncertainties,
)
from optimist.core.iteration import back_up, count_update, predict, refuse_divergence
from optimist.core.linalg import add_to, dot, draw, draw_between
from optimist.core.optimism import AscensionKind, BonusKind
from optimist.core.prior import learn_prior, set_confidence
from optimist.core.regression import draw_noise, freeze, observe
from optimist.core.state import Epoch, Kept, Learner, Record, States
from optimist.core.trials import log_played


@compiled(nogil=True)
def run_finite(me: Learner, rng: np.random.Generator, record: Record, kept: Kept) -> None:
    """Play and learn one episode after the other, as many as the record has room for."""
    taken = 0
    for i in range(record.steps.size):
        if record.stop[0]:
            break
        if kept.draw[i] or is_evaluated(me.epoch.clock, kept.stride):
            taken += keep_policy(me.states, me.epoch, kept, i, taken)
        if play(me, rng, record, i):
            begin_epoch(me)
        learn(me, rng, record, i)


@compiled(nogil=True)
def play_one(me: Learner, rng: np.random.Generator, record: Record, kept: Kept) -> None:
    """The first half of one episode: rewards may be changed before `learn_one`."""
    keep_policy(me.states, me.epoch, kept, 0, 0)
    if play(me, rng, record, 0):
        begin_epoch(me)


@compiled(nogil=True)
def learn_one(me: Learner, rng: np.random.Generator, record: Record) -> None:
    """The second half."""
    learn(me, rng, record, 0)


@compiled()
def is_evaluated(clock: Any, stride: int) -> bool:
    """Whether the policy of the coming episode is to be evaluated."""
    return bool(stride > 0 and clock[0]["episodes"] % stride == 0)


@compiled()
def keep_policy(states: States, epoch: Epoch, kept: Kept, i: int, taken: int) -> bool:
    """Set the present policy aside if it is the one drawn for the output, or to be evaluated.

    Returns whether it is to be evaluated.
    """
    if kept.draw[i]:
        kept.epoch.Theta[:] = epoch.Theta
        kept.epoch.Lambda[:] = epoch.Lambda
        kept.epoch.first[:] = epoch.first
        kept.epoch.second[:] = epoch.second
        kept.epoch.concentration[:] = epoch.concentration
        kept.epoch.prior[:] = epoch.prior
        kept.epoch.clock[:] = epoch.clock
        kept.rewards[:] = states.rewards
        kept.log_pi[:] = states.log_pi
    keep = is_evaluated(epoch.clock, kept.stride)
    if keep:
        log_played(states.log_pi, states.standing, kept.log_policies[taken])
    return keep


@inlined
def play(me: Learner, rng: np.random.Generator, record: Record, i: int) -> bool:
    """One episode under pi_k; whether an epoch begins after it."""
    world, rule, states, data, reg, epoch = me
    clock = epoch.clock
    record.value[i] = dot(world.nu0, states.V)
    steps, reward, bonus, ascension, last = walk(
        world.first, world.after, world.cumulative, world.start, world.gamma, states.cumulative,
        states.r, states.CB, states.p, states.rows, states.block, rule.observe_last, data.counts,
        data.sums, data.visits, data.met, data.b, reg.Lambda, reg.inverse, reg.stale, reg.log_det,
        clock, rng,
    )  # fmt: skip
    begins = count_episode(clock, reg.log_det, rule.stage, True)
    record.steps[i] = steps
    record.reward[i] = reward
    record.bonus[i] = bonus / steps
    record.ascension[i] = ascension / steps
    record.last[i] = last
    record.epoch[i] = clock[0]["epochs"] + begins
    return begins


@inlined
def draw_first(start: FloatArray, clock: Any, rng: np.random.Generator) -> None:
    """Draw the first state of all."""
    if clock[0]["state"] < 0:
        clock[0]["state"] = draw(start, rng.random())


@compiled()
def walk(
    first: IntArray,
    after: IntArray,
    cumulative: FloatArray,
    start: FloatArray,
    gamma: float,
    pi: FloatArray,
    r: FloatArray,
    CB: FloatArray,
    p: FloatArray,
    rows: FloatArray,
    block: IntArray,
    observe_last: bool,
    counts: FloatArray,
    sums: FloatArray,
    visits: IntArray,
    met: IntArray,
    work: FloatArray,
    Lambda: FloatArray,
    inverse: FloatArray,
    stale: IntArray,
    log_det: FloatArray,
    clock: Any,
    rng: np.random.Generator,
) -> tuple[int, float, float, float, int]:
    """The steps of an episode, which ends after each with probability 1 - gamma.

    The pseudocode tosses the coin before the next state is seen, so the last pair of an episode is
    not learnt from; with ``observe_last`` it is. Blocks of the covariance are updated at the end,
    once for all visits of a pair. Returns the number of steps, the sums of r, CB and p along them,
    and the last pair.
    """
    n_actions, s = r.shape[1], rows.shape[1]
    draw_first(start, clock, rng)
    x = clock[0]["state"]
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
        if going or observe_last:
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
                    log_det[0] += math.log(growth)
                    growth = 1.0
            else:
                for j in range(s):
                    sums[x, b * s + j] += rows[pair, j]
                if visits[pair] == 0:
                    met[pairs] = pair
                    pairs += 1
                visits[pair] += 1
    log_det[0] += math.log(growth)
    for m in range(pairs):
        b, n = block[met[m] // n_actions, met[m] % n_actions], float(visits[met[m]])
        observe(Lambda, inverse, stale, log_det, b, rows[met[m]], n, work)
        visits[met[m]] = 0
    clock[0]["state"] = draw(start, rng.random())
    clock[0]["steps"] += steps
    return steps, reward, bonus, ascension, pair


@compiled()
def begin_epoch(me: Learner) -> None:
    """Begin an epoch with a uniform policy, and compute its optimism."""
    reset_policy(me.rule, me.states, me.epoch, me.states.r.shape[0])
    renew_optimism(me)


@compiled()
def renew_optimism(me: Learner) -> None:
    """Freeze Lambda, and compute the optimism of all pairs from the data and values so far."""
    world, rule, states, data, reg, epoch = me
    n_states = states.r.shape[0]
    if is_confident(rule):
        set_confidence(rule, states, epoch)
    if is_novelty(rule):
        pair, after, counts = data.pair, world.after, data.counts
        learn_prior(rule, states, epoch, pair, after, counts, states.V, n_states, 0.0)
    freeze(reg, epoch)
    v = epoch.prior[0]["v"]
    if needs_moments(rule):
        W = states.V - v
        regress(
            data.own, world.first, world.after, states.rows, states.block, reg.Lambda, reg.inverse,
            data.counts, data.sums, data.b, W * W, 1.0, 0.0, epoch.second, data.Q,
        )  # fmt: skip
        regress(
            data.own, world.first, world.after, states.rows, states.block, reg.Lambda, reg.inverse,
            data.counts, data.sums, data.b, W, 1.0, 0.0, epoch.first, data.Q,
        )  # fmt: skip
    uncertainties(states, reg.Lambda, reg.inverse, 0, data.Q)
    compute_optimism(rule, states, epoch, data.Q, 0)


@inlined
def learn(me: Learner, rng: np.random.Generator, record: Record, i: int) -> None:
    """Update Q_{k+1}, V_{k+1} and pi_{k+1}, as often as the rule and its tolerance say.

    P V is regressed to v: gamma P V = gamma v + phi . theta with theta = gamma M (V - v).
    """
    world, rule, states, data, reg, epoch = me
    eta, gamma, heaven, kind = rule.eta, rule.gamma, rule.heaven, rule.optimism.ascension
    clock, prior, Theta, theta = epoch.clock, epoch.prior, epoch.Theta, epoch.theta
    rows, block, r, CB, p = states.rows, states.block, states.r, states.CB, states.p
    standing, rewards, V, Q = states.standing, states.rewards, states.V, data.Q
    log_pi, pi, first, after = states.log_pi, states.cumulative, world.first, world.after
    own, counts, sums, b = data.own, data.counts, data.sums, data.b
    Lambda, inverse, stop, sup_q = reg.Lambda, reg.inverse, record.stop, record.sup_q
    truncate, bounded = kind == AscensionKind.TRUNCATION, kind >= AscensionKind.NOVELTY
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
        count_update(eta, clock, prior, Theta, rewards)
        v = prior[0]["v"]
        W = V if v == 0 else V - v
        regress(
            own, first, after, rows, block, Lambda, inverse, counts, sums, b, W, gamma, gamma * v,
            theta, Q,
        )  # fmt: skip
        add_to(Theta, 1.0, theta)
        sup_q[i], change = back_up(
            eta, gamma, heaven, truncate, bounded, prior, r, CB, p, standing, rewards, Q, V, log_pi,
            pi,
        )  # fmt: skip
        refuse_divergence(change)
        left -= 1
        going = left > 0 and not stop[0] and not change < rule.tolerance
