"""Algorithm 1 on finite worlds, compiled: whole episodes, on statistics of a fixed size.

The cost of an episode does not depend on how many came before it. Everything the loop touches is
handed in as one frame of arrays (`optimist.core.state`) and changed in place, so that a run can be
stopped after any episode, saved, and continued. From top to bottom: the loop, and an episode; what
is done after it is in `optimist.core.learning`.
"""

import math
from typing import Any

import numpy as np

from optimist.checks import FloatArray
from optimist.core.compiler import apart, entry_point, inlined
from optimist.core.epoch import count_episode
from optimist.core.frame import call, call_with
from optimist.core.front import lead
from optimist.core.learning import begin_epoch, learn
from optimist.core.linalg import copy, draw, draw_between
from optimist.core.regression import MANY
from optimist.core.state import CHUNK, Kept, Learner, Record
from optimist.core.trials import log_played


@entry_point
def run_finite(me: Learner, rng: np.random.Generator, record: Record, kept: Kept) -> None:
    """Play and learn one episode after the other, as many as the record has room for."""
    taken = 0
    for i in range(record.steps.size):
        if record.stop[0]:
            break
        taken += keep_policy(me, kept, i, taken)
        play(me, rng, record, i)
        learn(me, rng, record, i)
    settle(me)


@entry_point
def play_one(me: Learner, rng: np.random.Generator, record: Record, kept: Kept) -> None:
    """The first half of one episode: rewards may be changed before `learn_one`."""
    keep_policy(me, kept, 0, 0)
    play(me, rng, record, 0)
    settle(me)


@entry_point
def learn_one(me: Learner, rng: np.random.Generator, record: Record) -> None:
    """The second half."""
    learn(me, rng, record, 0)
    settle(me)


@inlined
def settle(me: Learner) -> None:
    """Complete the arrays: those of states that did not take part too."""
    if me.front.kind.size > 0:
        call(me.follow_all, me)


@inlined
def is_evaluated(clock: Any, stride: int) -> bool:
    """Whether to evaluate the policy of the coming episode."""
    return bool(stride > 0 and clock[0]["episodes"] % stride == 0)


@apart
def keep_policy(me: Learner, kept: Kept, i: int, taken: int) -> bool:
    """Store the present policy if it is drawn for the output, or due to be evaluated.

    Returns whether it is to be evaluated.
    """
    states, epoch, drawn = me.states, me.epoch, kept.epoch
    evaluated = is_evaluated(epoch.clock, kept.stride)
    if kept.draw[i] or evaluated:
        settle(me)
    if kept.draw[i]:
        copy(drawn.Theta, epoch.Theta)
        copy(drawn.Lambda, epoch.Lambda)
        copy(drawn.first, epoch.first)
        copy(drawn.second, epoch.second)
        copy(drawn.concentration, epoch.concentration)
        copy(drawn.prior, epoch.prior)
        copy(drawn.clock, epoch.clock)
        copy(kept.rewards, states.rewards)
        copy(kept.log_pi, states.log_pi)
    if evaluated:
        log_played(states, kept.log_policies[taken])
    return evaluated


@apart
def play(me: Learner, rng: np.random.Generator, record: Record, i: int) -> None:
    """One episode under pi_k, and an epoch if one begins after it."""
    clock = me.epoch.clock
    record.value[i] = value_at_start(me)
    steps, reward, bonus, ascension, last = walk(me, rng)
    begins = count_episode(clock, me.reg.log_det, me.rule.stage, True)
    record.steps[i] = steps
    record.reward[i] = reward
    record.bonus[i] = bonus / steps
    record.ascension[i] = ascension / steps
    record.last[i] = last
    record.epoch[i] = clock[0]["epochs"] + begins
    if me.front.n_fresh[0] > 0:
        call(me.meet, me)
    if begins:
        begin_epoch(me)


@inlined
def value_at_start(me: Learner) -> float:
    """<nu0, V>."""
    nu0, V, active, begins = me.world.nu0, me.states.V, me.front.active, me.front.begins
    total = 0.0
    for x in begins:
        total += nu0[x] * V[x if active[x // CHUNK] else lead(me.front, x)]
    return total


@inlined
def draw_first(start: FloatArray, clock: Any, rng: np.random.Generator) -> None:
    """Draw the first state of all."""
    if clock[0]["state"] < 0:
        clock[0]["state"] = draw(start, rng.random())


@inlined
def walk(me: Learner, rng: np.random.Generator) -> tuple[int, float, float, float, int]:
    """The steps of an episode, which ends after each with probability 1 - gamma.

    The pseudocode tosses the coin before the next state is seen, so the last pair of an episode is
    not learnt from; with ``observe_last`` it is. Blocks of the covariance are updated at the end,
    once for all visits of a pair. Returns the number of steps, the sums of r, CB and p along them,
    and the last pair.
    """
    world, states, data, reg = me.world, me.states, me.data, me.reg
    first, after, cumulative, start = world.first, world.after, world.cumulative, world.start
    pi, r, CB, p, rows, block = (
        *(states.cumulative, states.r, states.CB),
        *(states.p, states.rows, states.block),
    )
    counts, sums, visits, met = data.counts, data.sums, data.visits, data.met
    seen, n_seen = data.seen, data.n_seen
    Lambda, log_det, known = reg.Lambda, reg.log_det, me.front.met
    gamma, observe_last, clock = world.gamma, me.rule.observe_last, me.epoch.clock
    n_actions, s, counted, listed = r.shape[1], rows.shape[1], counts.size > 0, seen.size > 0
    draw_first(start, clock, rng)
    x = clock[0]["state"]
    data.starts[x] += 1
    steps, reward, bonus, ascension, growth, pairs, pair = 0, 0.0, 0.0, 0.0, 1.0, 0, 0
    going = True
    while going:
        if not known[x]:
            call_with(me.meet_first, me, x)
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
            if listed and counts[entry] == 0:
                seen[n_seen[0]] = entry
                n_seen[0] += 1
            if counted:
                counts[entry] += 1
            if s == 1:
                before = Lambda[b, 0, 0]
                Lambda[b, 0, 0] = before + rows[pair, 0] * rows[pair, 0]
                growth *= Lambda[b, 0, 0] / before
                if growth > MANY:
                    log_det[0] += math.log(growth)
                    growth = 1.0
            else:
                for j in range(s):
                    sums[x, b * s + j] += rows[pair, j]
                if visits[pair] == 0:
                    met[pairs] = pair
                    pairs += 1
                visits[pair] += 1
    if not known[x]:
        call_with(me.meet_first, me, x)
    log_det[0] += math.log(growth)
    if pairs > 0:
        call_with(me.observe_visits, me, pairs)
    clock[0]["state"] = draw(start, rng.random())
    clock[0]["steps"] += steps
    return steps, reward, bonus, ascension, pair
