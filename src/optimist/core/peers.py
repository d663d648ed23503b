"""The tabular peers of Algorithm 1 on finite worlds, compiled: whole episodes.

They play by the same rules: the coin that ends an episode is tossed before the next state is seen,
so its last pair is not learnt from. Of the world they see the states that are drawn, and the
rewards, which are known; the entries of P are only where what was seen is counted. From top to
bottom: `run`, an episode, Q-learning at a step, and the two planners, UCBVI and posterior sampling.
"""

import math

import numpy as np
from numba import njit

from optimist.checks import FloatArray, IntArray
from optimist.core.state import (
    EPISODES,
    EPOCHS,
    STAGE,
    STATE,
    STEPS,
    UPDATES,
    Record,
    Simulator,
)
from optimist.core.tabular import OPTIMISTIC_Q, PSRL, Q_LEARNING, UCBVI, Kept, TableRule, Tables


@njit(cache=True)
def run(
    world: Simulator,
    rule: TableRule,
    t: Tables,
    r: FloatArray,
    nu0: FloatArray,
    rng: np.random.Generator,
    record: Record,
    kept: Kept,
) -> None:
    """Play and learn one episode after the other, as many as the record has room for."""
    if t.clock[STATE] < 0:
        t.clock[STATE] = draw(world.start, rng.random())
    taken = 0
    for i in range(record.steps.size):
        if kept.stride > 0 and t.clock[EPISODES] % kept.stride == 0:
            kept.policies[taken] = t.pi
            taken += 1
        if kept.draw[i]:
            kept.drawn[:] = t.pi
        for x in range(nu0.size):
            record.value[i] += nu0[x] * t.V[x]
        record.sup_q[i] = play(world, rule, t, r, rng, record, i)
        t.clock[EPISODES] += 1
        if (rule.kind == UCBVI or rule.kind == PSRL) and due(rule.every, t):
            if rule.kind == UCBVI:
                iterate_bernstein(world.first, world.after, world.gamma, rule, t, r)
            else:
                sample(
                    world.first, world.after, t.counts, t.seen, t.distinct, rule.alpha, rng, t.work
                )
                iterate_sample(world.gamma, rule, t, r)
            for x in range(nu0.size):
                greedy(t.Q[x], 0.0, t.pi[x], t.cumulative[x])
            record.sup_q[i] = np.abs(t.Q).max()
        record.epoch[i] = t.clock[EPOCHS]


@njit(inline="always")
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
    x = t.clock[STATE]
    steps, reward, bonus, largest = 0, 0.0, 0.0, 0.0
    while True:
        a = draw(t.cumulative[x], rng.random())
        pair = x * n_actions + a
        steps += 1
        reward += r[x, a]
        bonus += t.CB[x, a]
        if not rng.random() < gamma:
            break
        u, entry = rng.random(), first[pair]
        while entry < first[pair + 1] - 1 and u >= cumulative[entry]:
            entry += 1
        if t.counts[entry] == 0:
            t.seen[first[pair] + t.distinct[pair]] = entry
            t.distinct[pair] += 1
        t.counts[entry] += 1
        t.visits[pair] += 1
        if rule.kind == OPTIMISTIC_Q or rule.kind == Q_LEARNING:
            learn(rule, t, gamma, x, a, r[x, a], after[entry])
            largest = max(largest, abs(t.Q[x, a]))
        x = after[entry]
    t.clock[STATE] = draw(world.start, rng.random())
    t.clock[STEPS] += steps
    record.steps[i] = steps
    record.reward[i] = reward
    record.bonus[i] = bonus / steps
    return largest


@njit(cache=True)
def draw(cumulative: FloatArray, u: float) -> int:
    """An index drawn from cumulative probabilities."""
    i = 0
    while i < cumulative.size - 1 and u >= cumulative[i]:
        i += 1
    return i


@njit(cache=True)
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


@njit(inline="always")
def learn(rule: TableRule, t: Tables, gamma: float, x: int, a: int, reward: float, y: int) -> None:
    """Q-learning from one transition to y: with bonuses, or without.

    Optimistic: Q <- (1 - l) Q + l (r + b + gamma V(y)) with l = (H + 1) / (H + n) and
    b = c sqrt(H / n), of which the smallest so far is believed. Otherwise l = step / n^power.
    """
    n = t.visits[x * t.Q.shape[1] + a]
    if rule.kind == OPTIMISTIC_Q:
        H = 1 / (1 - gamma)
        rate, bonus = (H + 1) / (H + n), rule.c * math.sqrt(H / n)
        t.mean[x, a] += rate * (reward + bonus + gamma * t.V[y] - t.mean[x, a])
        t.Q[x, a] = min(t.Q[x, a], t.mean[x, a])
        t.CB[x, a] = bonus
    else:
        rate = rule.step / n**rule.power
        t.Q[x, a] += rate * (reward + gamma * t.V[y] - t.Q[x, a])
    t.V[x] = greedy(t.Q[x], rule.epsilon, t.pi[x], t.cumulative[x])


@njit(inline="always")
def due(every: bool, t: Tables) -> bool:
    """Whether a new epoch begins: after every episode, or by the rule of Ouyang et al. (2017).

    It does when some pair has been visited in this epoch as often as before it, or for the first
    time, and when the epoch is longer than the last. The clock counts the episodes of both.
    """
    t.clock[UPDATES] += 1
    begins = every or t.clock[UPDATES] > t.clock[STAGE]
    for pair in range(t.visits.size):
        begins = begins or t.visits[pair] >= max(2 * t.before[pair], 1)
    if begins:
        t.clock[EPOCHS] += 1
        t.clock[STAGE] = t.clock[UPDATES]
        t.clock[UPDATES] = 0
        t.before[:] = t.visits
    return begins


@njit(inline="always")
def iterate_bernstein(
    first: IntArray, after: IntArray, gamma: float, rule: TableRule, t: Tables, r: FloatArray
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
        V[:] = new
        if change <= rule.tolerance * heaven:
            break


@njit(cache=True)
def sample(
    first: IntArray,
    after: IntArray,
    counts: FloatArray,
    seen: IntArray,
    distinct: IntArray,
    alpha: float,
    rng: np.random.Generator,
    P: FloatArray,
) -> None:
    """Transitions from the posterior: Dirichlet, with alpha / X for each of all X next states."""
    n_pairs, n_states = P.shape
    for pair in range(n_pairs):
        row = P[pair]
        row[:] = alpha / n_states
        for entry in seen[first[pair] : first[pair] + distinct[pair]]:
            row[after[entry]] += counts[entry]
        total = 0.0
        for y in range(n_states):
            row[y] = rng.standard_gamma(row[y])
            total += row[y]
        if total > 0:
            for y in range(n_states):
                row[y] /= total
        else:  # all are below the floats: the limit for small alpha is one state, drawn uniformly
            row[int(rng.random() * n_states)] = 1.0


@njit(inline="always")
def iterate_sample(gamma: float, rule: TableRule, t: Tables, r: FloatArray) -> None:
    """The optimum of the sampled transitions by value iteration, from the values so far.

    It ends when all values change by the same, up to a tolerance: then no action does, and all that
    is left is to add what the rest of the sweeps would (Puterman, 1994, Section 6.6).
    """
    n_states, n_actions = r.shape
    Q, V, P, H = t.Q, t.V, t.work, 1 / (1 - gamma)
    least, most = 0.0, 0.0
    for _ in range(rule.sweeps):
        for x in range(n_states):
            for a in range(n_actions):
                Q[x, a] = r[x, a] + gamma * dot(P[x * n_actions + a], V)
        least, most = np.inf, -np.inf
        for x in range(n_states):
            top = Q[x].max()
            least, most = min(least, top - V[x]), max(most, top - V[x])
            V[x] = top
        if most - least <= rule.tolerance:
            break
    rest = gamma * H * (most + least) / 2
    for x in range(n_states):
        V[x] += rest
        for a in range(n_actions):
            Q[x, a] += rest


@njit(cache=True, fastmath={"contract", "reassoc"})
def dot(x: FloatArray, y: FloatArray) -> float:
    """x . y, with sums in any order, so that it runs on vector registers."""
    total = 0.0
    for i in range(x.size):
        total += x[i] * y[i]
    return total
