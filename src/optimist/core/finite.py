"""Algorithm 1 on finite worlds, compiled: whole episodes, on statistics of a fixed size.

The cost of an episode does not depend on how many came before it. Everything the loop touches is
handed in as arrays (`optimist.core.state`) and changed in place, so that a run can be stopped after
any episode, saved, and continued. From top to bottom: the loop, and an episode; what is done after
it is in `optimist.core.learning`.

Where an array is last used in a branch, or in a loop with several exits, the compiler counts
references to it and to all arrays of its tuple, which costs as much as some steps of a small world.
So `play` is straight-line code, loops have one exit, and what is done seldom (`prepare`,
`keep_policy`) is not inlined.
"""

import math
from typing import Any

import numpy as np

from optimist.checks import BoolArray, FloatArray, IntArray
from optimist.core.compiler import compiled, inlined
from optimist.core.epoch import count_episode
from optimist.core.front import meet_first, origin, settle
from optimist.core.learning import learn, prepare
from optimist.core.linalg import draw, draw_between
from optimist.core.regression import observe
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
            settle(me.front, me.states, me.epoch)
            taken += keep_policy(me.states, me.epoch, kept, i, taken)
        begins, fresh = play(me, rng, record, i)
        if begins or fresh > 0:
            prepare(me, begins, fresh)
        learn(me, rng, record, i)
    settle(me.front, me.states, me.epoch)


@compiled(nogil=True)
def play_one(me: Learner, rng: np.random.Generator, record: Record, kept: Kept) -> None:
    """The first half of one episode: rewards may be changed before `learn_one`."""
    keep_policy(me.states, me.epoch, kept, 0, 0)
    begins, fresh = play(me, rng, record, 0)
    prepare(me, begins, fresh)
    settle(me.front, me.states, me.epoch)


@compiled(nogil=True)
def learn_one(me: Learner, rng: np.random.Generator, record: Record) -> None:
    """The second half."""
    learn(me, rng, record, 0)
    settle(me.front, me.states, me.epoch)


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
def play(me: Learner, rng: np.random.Generator, record: Record, i: int) -> tuple[bool, int]:
    """One episode under pi_k; whether an epoch begins after it, and how many states are new."""
    world, rule, states, data, reg, epoch, front = me
    clock = epoch.clock
    record.value[i] = value_at_start(
        world.nu0, states.V, front.begins, front.active, front.kind, front.order, front.at
    )
    steps, reward, bonus, ascension, last, fresh = walk(
        world.first, world.after, world.cumulative, world.start, world.gamma, states.cumulative,
        states.r, states.CB, states.p, states.rows, states.block, rule.observe_last, data.counts,
        data.sums, data.visits, data.met, data.b, reg.Lambda, reg.inverse, reg.stale, reg.log_det,
        clock, rng, front.kind, front.order, front.at, front.met, front.fresh,
    )  # fmt: skip
    begins = count_episode(clock, reg.log_det, rule.stage, True)
    record.steps[i] = steps
    record.reward[i] = reward
    record.bonus[i] = bonus / steps
    record.ascension[i] = ascension / steps
    record.last[i] = last
    record.epoch[i] = clock[0]["epochs"] + begins
    return begins, fresh


@compiled()
def value_at_start(
    nu0: FloatArray,
    V: FloatArray,
    begins: IntArray,
    active: BoolArray,
    kind: IntArray,
    order: IntArray,
    at: IntArray,
) -> float:
    """<nu0, V>."""
    total = 0.0
    for x in begins:
        total += nu0[x] * V[origin(active, kind, order, at, x)]
    return total


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
    kind: IntArray,
    order: IntArray,
    at: IntArray,
    known: BoolArray,
    fresh: IntArray,
) -> tuple[int, float, float, float, int, int]:
    """The steps of an episode, which ends after each with probability 1 - gamma.

    The pseudocode tosses the coin before the next state is seen, so the last pair of an episode is
    not learnt from; with ``observe_last`` it is. Blocks of the covariance are updated at the end,
    once for all visits of a pair. Returns the number of steps, the sums of r, CB and p along them,
    the last pair, and how many states were met for the first time.
    """
    n_actions, s = r.shape[1], rows.shape[1]
    draw_first(start, clock, rng)
    x = clock[0]["state"]
    steps, reward, bonus, ascension, growth, pairs, pair = 0, 0.0, 0.0, 0.0, 1.0, 0, 0
    going, n_fresh = True, 0
    while going:
        if not known[x]:
            n_fresh = meet_first(kind, order, at, known, fresh, n_fresh, x, pi, CB, p)
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
    if not known[x]:
        n_fresh = meet_first(kind, order, at, known, fresh, n_fresh, x, pi, CB, p)
    log_det[0] += math.log(growth)
    for m in range(pairs):
        b, n = block[met[m] // n_actions, met[m] % n_actions], float(visits[met[m]])
        observe(Lambda, inverse, stale, log_det, b, rows[met[m]], n, work)
        visits[met[m]] = 0
    clock[0]["state"] = draw(start, rng.random())
    clock[0]["steps"] += steps
    return steps, reward, bonus, ascension, pair, n_fresh
