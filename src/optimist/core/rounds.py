"""Updates in rounds: after one of all pairs, many of the few that take part.

No data change between the updates that follow an episode, and most actions of most states have a
probability below rounding. Such an action is *idle*: while it stays so it changes neither V nor pi.
What its log pi and its weights add up to is linear in the V's that went into the updates, so that
their sum is enough. A round is

gather   one pass over all pairs: those that take part, with Q as an intercept, a share of what
         heaven is worth, and a sum over the links seen
repeat   updates of these pairs alone
settle   one pass over all pairs: the numbers that as many updates of all of them give

An action stays idle while its Q is below V, for then its log pi falls. When the round begins it is
`ahead` of it. Then Q rises by no more than gamma times the highest rise of a value since, and V
falls in an update by no more than gamma times the lowest change in the last one, because
E[e^(eta Q)] under pi does not fall when pi moves towards Q. When these bounds no longer keep V
above Q the round ends, and an update of all pairs follows.
"""

import numpy as np

from optimist.checks import FloatArray, IntArray
from optimist.core.compiler import apart, compiled, inlined
from optimist.core.elementary import MAGNITUDE, bits, exp, from_bits, log
from optimist.core.iteration import count_update, refuse_divergence, set_worth
from optimist.core.linalg import copy
from optimist.core.optimism import AscensionKind
from optimist.core.state import Learner
from optimist.core.trials import NEGLIGIBLE, give_trials

FEWEST = 3
"""A round of fewer updates does not pay."""

NOTHING = -1e300
"""The Q and the log pi of no action, where a state has fewer of them than another."""

SAFE, LEAST = 2.0, 1e-10
"""An action is idle if V exceeds its Q by `SAFE` times what the next update needs, and by `LEAST`
of what heaven is worth at most."""


@inlined
def keep(me: Learner) -> None:
    """Keep the values and the policy that the coming update of all pairs starts from."""
    rounds, states, parts = me.rounds, me.states, me.front.parts
    for j in range(me.front.n_parts[0]):
        first, last = parts[j, 0], parts[j, 1]
        copy(rounds.V[first:last], states.V[first:last])
        copy(rounds.log_pi[first:last], states.log_pi[first:last])
    rounds.found[0] = me.epoch.prior[0]["worth"]


@apart
def play_round(me: Learner, left: int) -> None:
    """Up to ``left`` updates, after one of all pairs, until values settle or the round ends.

    `Rounds.found` then holds the largest |Q| and the change of the last of them, and how many are
    left.
    """
    rounds, rule, prior, V = me.rounds, me.rule, me.epoch.prior, me.states.V
    found, q, value, old, start = rounds.found, rounds.q, rounds.value, rounds.old, rounds.start
    pays, before, gamma = bool(prior[0]["pays"]), found[0], rule.gamma
    clips, heaven = rule.optimism.ascension == AscensionKind.NOVELTY, rule.heaven
    high, low = extent(me)
    single, mixed, width, links = gather(me, high, low)
    n, beyond, worths, change = 0, 0.0, 0.0, np.inf
    while True:
        if pays:
            high = max(high, prior[0]["worth"] - before)
        room = min(
            least_ahead(rounds.ahead[0], rounds.least[0], q[0], gamma * high, high, single),
            least_ahead(rounds.ahead[1], rounds.least[1], value, gamma * high, high, mixed),
        )
        if not (left > 0 and change >= rule.tolerance and room + gamma * min(low, 0.0) > 0):
            break
        beyond = gamma * prior[0]["worth"] if pays else heaven
        worths += beyond
        sum_values(me)
        best = predict_some(me, beyond, single, mixed, width, links)
        improve_mixed(rule.eta, rounds.logits, q, value, mixed, width)
        moved = move(q[0], old[0], start[0], clips, heaven, single)
        other = move(value, old[1], start[1], clips, heaven, mixed)
        for i in range(single):
            V[rounds.state[0, i]] = old[0, i]
        for i in range(mixed):
            V[rounds.state[1, i]] = old[1, i]
        change, high, low = max(moved[0], other[0]), max(moved[1], other[1]), min(moved[2], other[2])
        if pays:
            worth = prior[0]["worth"]
            set_worth(prior, beyond, best, heaven)
            low = min(low, prior[0]["worth"] - worth)
        count_update(rule.eta, me.epoch.clock, prior)
        refuse_divergence(change)
        n += 1
        left -= 1
    if n > 0:
        found[0] = settle(me, single, mixed, width, n, worths, beyond)
    found[1], found[2] = change, left


@inlined
def extent(me: Learner) -> tuple[float, float]:
    """The highest rise of a value in the update of all pairs, and its lowest change."""
    V, before, parts, prior = me.states.V, me.rounds.V, me.front.parts, me.epoch.prior
    high, low = -np.inf, np.inf
    if prior[0]["pays"]:
        high = low = prior[0]["worth"] - me.rounds.found[0]
    for j in range(me.front.n_parts[0]):
        for x in range(parts[j, 0], parts[j, 1]):
            high, low = max(high, V[x] - before[x]), min(low, V[x] - before[x])
    return high, low


@inlined
def gather(me: Learner, high: float, low: float) -> tuple[int, int, int, int]:
    """Find what takes part: states whose V is one Q, and states whose actions compete.

    Returns how many of each there are, at most how many actions of one state compete, and how many
    links they have. Row 0 of the arrays is of single actions, the others of competing ones.
    """
    rounds, states, rule, parts = me.rounds, me.states, me.rule, me.front.parts
    log_pi, p, r, V, Lambda = states.log_pi, states.p, states.r, states.V, me.reg.Lambda
    before, state, pair, logits = rounds.log_pi, rounds.state, rounds.pair, rounds.logits
    n_states, n_actions = log_pi.shape
    share = rule.gamma if me.epoch.prior[0]["pays"] else 0.0
    clips = rule.optimism.ascension == AscensionKind.NOVELTY
    single, mixed, width, links = 0, 0, 0, 0
    falls, tiny = rule.gamma * min(low, 0.0), LEAST * rule.heaven
    for j in range(me.front.n_parts[0]):
        for x in range(parts[j, 0], parts[j, 1]):
            least, ahead, live, tied, mine = np.inf, np.inf, 0, True, 0
            cut = clips and not 0 < V[x] < rule.heaven  # V - Q is not known
            for a in range(n_actions):
                i = x * n_actions + a
                weight = (1 - p[x, a]) * rule.gamma * (1 - rule.optimism.ridge / Lambda[i, 0, 0])
                weight += p[x, a] * share
                gap = (before[x, a] - log_pi[x, a]) / rule.eta
                needs = max(rule.gamma * high, weight * high) - falls
                if cut or log_pi[x, a] > NEGLIGIBLE or not gap > SAFE * needs + tiny:
                    pair[1 + live, mixed] = i
                    first = pair[1, mixed]
                    b = first - x * n_actions
                    tied = tied and p[x, a] == 1.0 and p[x, b] == 1.0
                    tied = tied and (r[x, a] == r[x, b] or share == 0)
                    live += 1
                else:
                    least, ahead = min(least, weight), min(ahead, gap)
            kind = 0 if live == 1 or tied else 1
            at = single if kind == 0 else mixed
            state[kind, at] = x
            rounds.old[kind, at], rounds.start[kind, at] = V[x], rounds.V[x]
            rounds.ahead[kind, at] = ahead - V[x] if ahead < np.inf else -NOTHING
            rounds.least[kind, at] = least if ahead < np.inf else 0.0
            if kind == 0:
                pair[0, at] = pair[1, mixed]
                rounds.q[0, at] = V[x]
                links = linearise(me, share > 0, 0, at, links)
                single += 1
                continue
            rounds.value[at] = V[x]
            for k in range(1, n_actions + 1):
                if k <= live:
                    a = pair[k, at] - x * n_actions
                    logits[k, at] = log_pi[x, a]
                    links = linearise(me, share > 0, k, at, links)
                else:
                    pair[k, at], logits[k, at] = -1, NOTHING
                    rounds.base[k, at], rounds.share[k, at] = NOTHING, 0.0
            width = max(width, live)
            mixed += 1
    return single, mixed, width, links


@compiled()
def linearise(me: Learner, pays: bool, k: int, at: int, links: int) -> int:
    """Q of a pair as base + share beyond + a sum of weight V(after); how many links there are."""
    rounds, states, rule, world = me.rounds, me.states, me.rule, me.world
    counts, v = me.data.counts, me.epoch.prior[0]["v"]
    n_states, n_actions = states.r.shape
    i = rounds.pair[k, at]
    x, a = i // n_actions, i % n_actions
    p, phi = states.p[x, a], states.rows[i, 0]
    factor, n = (1 - p) * rule.gamma * phi * phi / me.reg.Lambda[i, 0, 0], 0.0
    for entry in range(world.first[i], world.first[i + 1]):
        if counts[entry] > 0:
            rounds.at[links] = k * n_states + at
            rounds.after[links] = world.after[entry]
            rounds.weight[links] = factor * counts[entry]
            n += counts[entry]
            links += 1
    base = (1 - p) * (states.r[x, a] + states.CB[x, a] + rule.gamma * v) - factor * n * v
    rounds.base[k, at] = base + (p * states.r[x, a] if pays else 0.0)
    rounds.share[k, at] = p
    return links


@inlined
def sum_values(me: Learner) -> None:
    """Keep the V's that go into an update, and their sum."""
    V, total, last, parts = me.states.V, me.rounds.total, me.rounds.last, me.front.parts
    for j in range(me.front.n_parts[0]):
        for x in range(parts[j, 0], parts[j, 1]):
            total[x] += V[x]
            last[x] = V[x]


@inlined
def predict_some(
    me: Learner, beyond: float, single: int, mixed: int, width: int, links: int
) -> float:
    """Q of the pairs that take part; the largest."""
    rounds, V = me.rounds, me.states.V
    flat, at, after, weight = rounds.q.ravel(), rounds.at, rounds.after, rounds.weight
    for k in range(width + 1):
        q, base, share = rounds.q[k], rounds.base[k], rounds.share[k]
        for i in range(single if k == 0 else mixed):
            q[i] = base[i] + share[i] * beyond
    for link in range(links):
        flat[at[link]] += weight[link] * V[after[link]]
    best = -MAGNITUDE
    for k in range(width + 1):
        q = rounds.q[k]
        for i in range(single if k == 0 else mixed):
            best = max(best, in_order(q[i]))
    return from_order(best)


@inlined
def improve_mixed(
    eta: float, logits: FloatArray, q: FloatArray, value: FloatArray, n: int, width: int
) -> None:
    """V and pi of states whose actions compete, as `optimist.core.iteration.improve`."""
    if n == 0:
        return
    for k in range(1, width + 1):
        L, Q = logits[k], q[k]
        for i in range(n):
            L[i] += eta * Q[i]
    top, total = q[1], q[2]  # free from here on
    for i in range(n):
        top[i], total[i] = logits[1, i], 0.0
    for k in range(2, width + 1):
        L = logits[k]
        for i in range(n):
            top[i] = max(top[i], L[i])
    for k in range(1, width + 1):
        L = logits[k]
        for i in range(n):
            L[i] -= top[i]
            total[i] += exp(L[i]) if L[i] > NEGLIGIBLE else 0.0
    for i in range(n):
        normaliser = log(total[i])
        value[i] = (top[i] + normaliser) / eta
        total[i] = normaliser
    for k in range(1, width + 1):
        L = logits[k]
        for i in range(n):
            L[i] -= total[i]


@compiled()
def move(
    value: FloatArray, old: FloatArray, start: FloatArray, clips: bool, heaven: float, n: int
) -> tuple[float, float, float]:
    """Old values become new ones, bounded if it ``clips``.

    Returns by how much one has changed at most, the highest rise since the start, and the lowest
    change.
    """
    change, high, low = 0, -MAGNITUDE, MAGNITUDE
    least, most = (0.0, heaven) if clips else (NOTHING, -NOTHING)
    for i in range(n):
        kept = min(max(value[i], least), most)
        change = max(change, bits(value[i] - old[i]) & MAGNITUDE)
        high = max(high, in_order(kept - start[i]))
        low = min(low, in_order(kept - old[i]))
        old[i] = kept
    return from_bits(change), from_order(high), from_order(low)


@compiled()
def least_ahead(
    ahead: FloatArray, least: FloatArray, value: FloatArray, rise: float, high: float, n: int
) -> float:
    """The least by which V is certain to exceed the Q of an idle action, before V falls."""
    lowest = MAGNITUDE
    for i in range(n):
        lowest = min(lowest, in_order(ahead[i] + value[i] - max(rise, least[i] * high)))
    return from_order(lowest)


@inlined
def in_order(x: float) -> int:
    """A whole number for each float, in their order: of whole numbers a maximum is quick."""
    number = bits(x)
    return number ^ ((number >> 63) & MAGNITUDE)


@inlined
def from_order(number: int) -> float:
    """The float of such a number."""
    return from_bits(number ^ ((number >> 63) & MAGNITUDE))


@inlined
def settle(
    me: Learner, single: int, mixed: int, width: int, n: int, worths: float, beyond: float
) -> float:
    """All that n updates of all pairs compute besides; the largest |Q| of the last one."""
    rounds, states, rule, parts, prior = me.rounds, me.states, me.rule, me.front.parts, me.epoch.prior
    Q, log_pi, n_actions, largest = me.data.Q, states.log_pi, me.data.Q.shape[1], 0.0
    for j in range(me.front.n_parts[0]):
        largest = max(largest, add_targets(me, parts[j, 0], parts[j, 1], n, worths, beyond))
    for kind in range(2):
        for i in range(single if kind == 0 else mixed):
            x = rounds.state[kind, i]
            a = rounds.pair[kind, i] - x * n_actions
            V = Q[x, a]  # the sum of V, from an action that took part
            if kind == 1:
                V -= (rounds.logits[1, i] - log_pi[x, a]) / rule.eta
            for a in range(n_actions):
                log_pi[x, a] += rule.eta * (Q[x, a] - V)
            if kind == 1:
                for k in range(1, width + 1):
                    if rounds.pair[k, i] >= 0:
                        log_pi[x, rounds.pair[k, i] - x * n_actions] = rounds.logits[k, i]
            accumulate(log_pi[x], states.cumulative[x])
    for j in range(me.front.n_parts[0]):
        for x in range(parts[j, 0], parts[j, 1]):
            rounds.total[x] = 0.0
        if rule.optimism.ascension == AscensionKind.NOVELTY:
            give_trials(states, parts[j, 0], parts[j, 1])
    return largest


@inlined
def add_targets(
    me: Learner, begin: int, end: int, n: int, worths: float, beyond: float
) -> float:
    """The sums over n updates of Q and of what the weights add up to; the largest |Q| of the last."""
    rounds, states, data, world, reg = me.rounds, me.states, me.data, me.world, me.reg
    gamma, v, n_actions, largest = me.rule.gamma, me.epoch.prior[0]["v"], data.Q.shape[1], 0.0
    share = 1.0 if me.epoch.prior[0]["pays"] else 0.0
    Theta, theta, counts, total, last = (
        *(me.epoch.Theta, me.epoch.theta, data.counts, rounds.total, rounds.last),
    )
    for x in range(begin, end):
        for a in range(n_actions):
            i = x * n_actions + a
            whole, once = 0.0, 0.0
            for entry in range(world.first[i], world.first[i + 1]):
                y = world.after[entry]
                whole += counts[entry] * (total[y] - n * v)
                once += counts[entry] * (last[y] - v)
            phi = states.rows[i, 0]
            factor = gamma * phi / reg.Lambda[i, 0, 0]
            theta[i] = factor * once
            Theta[i] += factor * whole
            p, r = states.p[x, a], states.r[x, a]
            paid = r + states.CB[x, a] + gamma * v
            q = (1 - p) * (paid + phi * theta[i]) + p * (beyond + share * r)
            largest = max(largest, abs(q))
            data.Q[x, a] = (1 - p) * (n * paid + phi * factor * whole) + p * (worths + n * share * r)
            states.rewards[x, a] += n * r
    return largest


@inlined
def accumulate(log_pi: FloatArray, cumulative: FloatArray) -> None:
    """The cumulative probabilities of a state."""
    total = 0.0
    for a in range(log_pi.size):
        if log_pi[a] > NEGLIGIBLE:
            total += exp(log_pi[a]) if log_pi[a] < 0 else 1.0
        cumulative[a] = total
    if total != 1.0:
        for a in range(log_pi.size):
            cumulative[a] /= total
