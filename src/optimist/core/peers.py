"""The tabular peers of Algorithm 1 on finite worlds, compiled: whole episodes.

They play by its rules: the coin that ends an episode is tossed before the next state is seen, so
its last pair is not learnt from; rewards are known; transitions are counted by the entries of P.
From top to bottom: the loop, an episode, Q-learning, UCBVI, posterior sampling.
"""

import math

import numpy as np

from optimist.checks import BoolArray, FloatArray, IntArray
from optimist.core.compiler import compiled, entry_point, inlined
from optimist.core.linalg import copy, draw, draw_between
from optimist.core.state import Record, Simulator
from optimist.core.tabular import KeptTables, Peer, TableRule, Tables

FEW = 80.0
"""About half as many times alpha states have any of a mass alpha; each takes twice the time."""

NOTHING = 1e-18
"""A share of the whole that is lost in rounding."""


@entry_point
def run_tabular(
    world: Simulator,
    rule: TableRule,
    t: Tables,
    r: FloatArray,
    rng: np.random.Generator,
    record: Record,
    kept: KeptTables,
) -> None:
    """Play and learn one episode after the other, as many as the record has room for."""
    if t.clock[0]["state"] < 0:
        t.clock[0]["state"] = draw(world.start, rng.random())
    taken = 0
    for i in range(record.steps.size):
        if kept.stride > 0 and t.clock[0]["episodes"] % kept.stride == 0:
            copy(kept.policies[taken], t.pi)
            taken += 1
        if kept.draw[i]:
            copy(kept.drawn, t.pi)
        for x in range(world.nu0.size):
            record.value[i] += world.nu0[x] * t.V[x]
        record.sup_q[i] = play(world, rule, t, r, rng, record, i)
        t.clock[0]["episodes"] += 1
        if (rule.kind == Peer.UCBVI or rule.kind == Peer.PSRL) and due(rule.every, t):
            if rule.kind == Peer.UCBVI:
                iterate_bernstein(world.first, world.after, world.gamma, rule, t, r, record.stop)
            else:
                sample(
                    world.first, world.after, t.counts, t.seen, t.distinct, rule.alpha, rng,
                    t.work, t.to, t.width,
                )  # fmt: skip
                iterate_sample(world.gamma, rule, t, r, record.stop)
            for x in range(world.nu0.size):
                greedy(t.Q[x], 0.0, t.pi[x], t.cumulative[x])
            record.sup_q[i] = np.abs(t.Q).max()
        record.epoch[i] = t.clock[0]["epochs"]


@inlined
def play(
    world: Simulator,
    rule: TableRule,
    t: Tables,
    r: FloatArray,
    rng: np.random.Generator,
    record: Record,
    i: int,
) -> float:
    """One episode, which ends after each step with probability 1 - gamma; the largest new |Q|."""
    n_actions = r.shape[1]
    first, after, cumulative, gamma = world.first, world.after, world.cumulative, world.gamma
    pi, CB, counts, visits, seen, distinct = (
        *(t.cumulative, t.CB, t.counts),
        *(t.visits, t.seen, t.distinct),
    )
    kind = rule.kind
    x = t.clock[0]["state"]
    t.starts[x] += 1
    steps, reward, bonus, largest = 0, 0.0, 0.0, 0.0
    while True:
        a = draw(pi[x], rng.random())
        pair = x * n_actions + a
        steps += 1
        reward += r[x, a]
        bonus += CB[x, a]
        if not rng.random() < gamma:
            break
        entry = draw_between(cumulative, first[pair], first[pair + 1], rng.random())
        if counts[entry] == 0:
            seen[first[pair] + distinct[pair]] = entry
            distinct[pair] += 1
        counts[entry] += 1
        visits[pair] += 1
        if kind == Peer.OPTIMISTIC_Q or kind == Peer.Q_LEARNING:
            learn(rule, t, gamma, x, a, r[x, a], after[entry])
            largest = max(largest, abs(t.Q[x, a]))
        x = after[entry]
    t.clock[0]["state"] = draw(world.start, rng.random())
    t.clock[0]["steps"] += steps
    record.steps[i] = steps
    record.reward[i] = reward
    record.bonus[i] = bonus / steps
    return largest


@compiled()
def greedy(Q: FloatArray, epsilon: float, pi: FloatArray, cumulative: FloatArray) -> float:
    """The policy at a state: the best actions, all alike, and any with probability epsilon; max Q.

    Where nothing is known all actions are equal, and the first must not be played for its number.
    """
    top, n, ties = float(Q.max()), Q.size, 0
    for a in range(n):
        ties += Q[a] == top
    total = 0.0
    for a in range(n):
        pi[a] = epsilon / n
        if Q[a] == top:
            pi[a] += (1 - epsilon) / ties
        total += pi[a]
        cumulative[a] = total
    return top


@inlined
def learn(rule: TableRule, t: Tables, gamma: float, x: int, a: int, reward: float, y: int) -> None:
    """Q-learning from one transition to y: with bonuses, or without.

    Optimistic: Q <- (1 - l) Q + l (r + b + gamma V(y)) with l = (H + 1) / (H + n) and
    b = c sqrt(H / n), of which the smallest so far is believed. Otherwise l = step / n^power.
    """
    n = t.visits[x * t.Q.shape[1] + a]
    if rule.kind == Peer.OPTIMISTIC_Q:
        H = 1 / (1 - gamma)
        rate, bonus = (H + 1) / (H + n), rule.c * math.sqrt(H / n)
        t.mean[x, a] += rate * (reward + bonus + gamma * t.V[y] - t.mean[x, a])
        t.Q[x, a] = min(t.Q[x, a], t.mean[x, a])
        t.CB[x, a] = bonus
    else:
        rate = rule.step / n**rule.power
        t.Q[x, a] += rate * (reward + gamma * t.V[y] - t.Q[x, a])
    t.V[x] = greedy(t.Q[x], rule.epsilon, t.pi[x], t.cumulative[x])


@inlined
def due(every: bool, t: Tables) -> bool:
    """Whether a new epoch begins: after every episode, or by the rule of Ouyang et al. (2017).

    It does when some pair has been visited in this epoch as often as before it, or for the first
    time, and when the epoch is longer than the last. The clock counts the episodes of both.
    """
    t.clock[0]["updates"] += 1
    begins = every or t.clock[0]["updates"] > t.clock[0]["stage"]
    for pair in range(t.visits.size):
        begins = begins or t.visits[pair] >= max(2 * t.before[pair], 1)
    if begins:
        t.clock[0]["epochs"] += 1
        t.clock[0]["stage"] = t.clock[0]["updates"]
        t.clock[0]["updates"] = 0
        copy(t.before, t.visits)
    return begins


@inlined
def iterate_bernstein(
    first: IntArray,
    after: IntArray,
    gamma: float,
    rule: TableRule,
    t: Tables,
    r: FloatArray,
    stop: BoolArray,
) -> None:
    """Optimistic value iteration: Q <- min(Q, r + gamma (P V + b)), from the values so far.

    b = c sqrt(Var V / n) + c^2 H R_max / n, and no more than H R_max.
    """
    n_states, n_actions = r.shape
    Q, V, CB, new = t.Q, t.V, t.CB, t.work[0]
    counts, visits, seen, distinct = t.counts, t.visits, t.seen, t.distinct
    c, heaven = rule.c, rule.heaven
    for _ in range(rule.sweeps):
        change = 0.0
        for x in range(n_states):
            for a in range(n_actions):
                pair = x * n_actions + a
                n = float(visits[pair])
                if n == 0:
                    CB[x, a] = gamma * heaven
                    continue
                mean, variance = 0.0, 0.0
                begin = first[pair]
                for entry in seen[begin : begin + distinct[pair]]:
                    mean += counts[entry] * V[after[entry]]
                mean /= n
                for entry in seen[begin : begin + distinct[pair]]:
                    variance += counts[entry] * (V[after[entry]] - mean) ** 2
                b = min(c * math.sqrt(variance / n / n) + c * c * heaven / n, heaven)
                CB[x, a] = gamma * b
                Q[x, a] = min(Q[x, a], r[x, a] + gamma * mean + gamma * b)
            new[x] = Q[x].max()
            change = max(change, V[x] - new[x])
        copy(V, new)
        if change <= rule.tolerance * heaven or stop[0]:
            break


@compiled()
def sample(
    first: IntArray,
    after: IntArray,
    counts: FloatArray,
    seen: IntArray,
    distinct: IntArray,
    alpha: float,
    rng: np.random.Generator,
    weight: FloatArray,
    to: IntArray,
    width: IntArray,
) -> None:
    """Transitions from the posterior: Dirichlet, with alpha / X for each of all X next states.

    Weights are gamma variables over their sum. Of the states that were not seen few have any unless
    alpha is large: one gamma is drawn for all, and while there is any of it left for m states, one
    of them, drawn uniformly, takes a share that is Beta(1 + a, (m - 1) a), a = alpha / X.
    """
    n_pairs, n_states = weight.shape
    a, taken = alpha / n_states, np.full(n_states, -1)
    for pair in range(n_pairs):
        n, total = 0, 0.0
        for entry in seen[first[pair] : first[pair] + distinct[pair]]:
            to[pair, n] = after[entry]
            taken[after[entry]] = pair
            weight[pair, n] = rng.standard_gamma(a + counts[entry])
            total += weight[pair, n]
            n += 1
        left = n_states - n
        if left > 0 and (alpha < 1 or FEW * alpha < n_states):
            mass = rng.standard_gamma(left * a)
            if n == 0:  # it is all there is, and shares alone matter: it may be below the floats
                mass = 1.0
            total += mass
            while left > 0 and mass > NOTHING * total:
                y = int(rng.random() * n_states)
                if taken[y] == pair:
                    continue
                mine, others = 1.0, 0.0
                if left > 1:
                    mine, others = rng.standard_gamma(1 + a), rng.standard_gamma((left - 1) * a)
                to[pair, n], weight[pair, n] = y, mass * mine / (mine + others)
                mass *= others / (mine + others)
                taken[y] = pair
                left -= 1
                n += 1
        elif left > 0:
            for y in range(n_states):
                if taken[y] != pair:
                    to[pair, n], weight[pair, n] = y, rng.standard_gamma(a)
                    total += weight[pair, n]
                    n += 1
        width[pair] = n
        for j in range(n):
            weight[pair, j] /= total


@inlined
def iterate_sample(
    gamma: float, rule: TableRule, t: Tables, r: FloatArray, stop: BoolArray
) -> None:
    """The optimum of the sampled transitions by value iteration, from the values so far.

    It ends when all values change by the same, up to a tolerance: then no action does, and all that
    is left is to add what the rest of the sweeps would (Puterman, 1994, Section 6.6).
    """
    n_states, n_actions = r.shape
    Q, V, weight, to, width, H = t.Q, t.V, t.work, t.to, t.width, 1 / (1 - gamma)
    least, most = 0.0, 0.0
    for _ in range(rule.sweeps):
        for x in range(n_states):
            for a in range(n_actions):
                pair, total = x * n_actions + a, 0.0
                for j in range(width[pair]):
                    total += weight[pair, j] * V[to[pair, j]]
                Q[x, a] = r[x, a] + gamma * total
        least, most = np.inf, -np.inf
        for x in range(n_states):
            top = Q[x].max()
            least, most = min(least, top - V[x]), max(most, top - V[x])
            V[x] = top
        if most - least <= rule.tolerance or stop[0]:
            break
    rest = gamma * H * (most + least) / 2
    for x in range(n_states):
        V[x] += rest
        for a in range(n_actions):
            Q[x, a] += rest
