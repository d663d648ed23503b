"""Updates in rounds: of what takes part alone, once it is known.

No data change between the updates that follow an episode, and most actions of most states have a
probability below rounding. Such an action is *idle*: while it stays so it changes neither V nor pi.
What its log pi and its weights add up to is linear in the V's that went into the updates, so that
their sum is enough. A round is

gather   one pass over all pairs: Q is an intercept, a share of what heaven is worth and a sum over
         the links seen
update   of the pairs that are not idle; after one of them, four, sixteen and 64, idle ones are
         dropped
settle   one pass over all pairs: the numbers that as many updates of all of them give

An action stays idle while its Q is below V, for then its log pi falls. When it is dropped V is
`ahead` of it. Then Q rises by no more than gamma times the highest rise of a value since, and V
falls in an update by no more than gamma times the lowest change of the V's that go in, shift
included, because E[e^(eta Q)] under pi does not fall when pi moves towards Q. When these bounds no
longer keep V above Q the round ends, and another begins with all pairs.
"""

import numpy as np

from optimist.checks import FloatArray
from optimist.core.compiler import apart, inlined
from optimist.core.elementary import MAGNITUDE, bits, exp, from_bits, log
from optimist.core.iteration import count_update, refuse_divergence
from optimist.core.optimism import AscensionKind
from optimist.core.settling import settle
from optimist.core.shift import shift
from optimist.core.state import Learner
from optimist.core.trials import NEGLIGIBLE

FEWEST = 3
"""A round of fewer updates does not pay."""

NOTHING = -1e300
"""The Q and the log pi of no action, where a state has fewer of them than another."""

SAFE, LEAST = 8.0, 1e-10
"""An action is dropped if V exceeds its Q by `SAFE` times what the next update needs, and by
`LEAST` of what heaven is worth at most."""


@apart
def play_round(me: Learner, left: int) -> None:
    """Up to ``left`` updates, until values settle or the round ends.

    `Rounds.found` is then the largest |Q| and the change of the last one, and how many are left.
    """
    rounds, rule, prior, V = me.rounds, me.rule, me.epoch.prior, me.states.V
    q, value, old, start, state = rounds.q, rounds.value, rounds.old, rounds.start, rounds.state
    pays, gamma, heaven = bool(prior[0]["pays"]), rule.gamma, rule.heaven
    clips = rule.optimism.ascension == AscensionKind.NOVELTY
    (mixed, links), single, width = gather(me, pays), 0, me.data.Q.shape[1]
    n, due, beyond, worths, change, room, high = 0, 1, heaven, 0.0, np.inf, np.inf, 0.0
    first, before = prior[0]["worth"], prior[0]["worth"]
    while left > 0 and change >= rule.tolerance and room > 0:
        before, rise = prior[0]["worth"], high
        beyond = gamma * before if pays else heaven
        worths += beyond
        sum_values(me)
        best, most = predict_some(me, beyond, single, mixed, width, links)
        improve_mixed(me, mixed, width)
        change, low, risen, high = move(q[0], old[0], start[0], clips, heaven, single)
        moved = move(value, old[1], start[1], clips, heaven, mixed)
        change, low = max(change, moved[0]), min(low, moved[1])
        risen, high = max(risen, moved[2]), max(high, moved[3])
        refuse_divergence(change)
        for i in range(single):
            V[state[0, i]] = old[0, i]
        for i in range(mixed):
            V[state[1, i]] = old[1, i]
        if pays:
            change, further = shift(me, low, risen, most, best)
            low = min(low + further, prior[0]["worth"] - before)
            high = max(high + further, prior[0]["worth"] - first)
            for i in range(single):
                old[0, i] += further
            for i in range(mixed):
                old[1, i] += further
        count_update(rule.eta, me.epoch.clock, prior)
        n += 1
        left -= 1
        if n == due and left > 0 and change >= rule.tolerance:
            due, first = 4 * n, before
            high = restart(me, rise, single, mixed)
            if pays:
                high = max(high, prior[0]["worth"] - first)
            spare = LEAST * heaven - SAFE * gamma * min(low, 0.0)
            single, mixed, width, links = drop(me, high, spare, single, mixed, width, links)
        room = gamma * min(low, 0.0) + min(
            least_ahead(rounds.ahead[0], rounds.least[0], q[0], gamma, high, single),
            least_ahead(rounds.ahead[1], rounds.least[1], value, gamma, high, mixed),
        )
    rounds.found[0] = settle(me, single, mixed, width, n, worths, beyond)
    rounds.found[1], rounds.found[2] = change, left


@apart
def gather(me: Learner, pays: bool) -> tuple[int, int]:
    """Q of all pairs of all states that take part in updates; how many states and links these are.

    Q is base + share beyond + the sum of weight V(after) over the links.
    """
    states, rounds, gamma, v = me.states, me.rounds, me.rule.gamma, me.epoch.prior[0]["v"]
    V, log_pi, p, r, CB, rows = states.V, states.log_pi, states.p, states.r, states.CB, states.rows
    first, following, counts, Lambda = me.world.first, me.world.after, me.data.counts, me.reg.Lambda
    total, state, old, start = rounds.total, rounds.state[1], rounds.old[1], rounds.start[1]
    ahead, least, pair, logits = rounds.ahead[1], rounds.least[1], rounds.pair, rounds.logits
    base, share, mass = rounds.base, rounds.share, rounds.mass
    at, after, weight = rounds.at, rounds.after, rounds.weight
    parts, n_parts, (n_states, n_actions) = me.front.parts, me.front.n_parts[0], r.shape
    worth, paid = (gamma, 1.0) if pays else (0.0, 0.0)
    n, links = 0, 0
    for j in range(n_parts):
        for x in range(parts[j, 0], parts[j, 1]):
            total[x], state[n], old[n], start[n] = 0.0, x, V[x], V[x]
            ahead[n], least[n] = -NOTHING, gamma
            for a in range(n_actions):
                i, k, known = x * n_actions + a, 1 + a, 1 - p[x, a]
                factor, sum_counts = known * gamma * rows[i, 0] * rows[i, 0] / Lambda[i, 0, 0], 0.0
                for entry in range(first[i], first[i + 1]):
                    if counts[entry] > 0:
                        at[links], after[links] = k * n_states + n, following[entry]
                        weight[links] = factor * counts[entry]
                        sum_counts += counts[entry]
                        links += 1
                expected = known * (r[x, a] + CB[x, a] + gamma * v) - factor * sum_counts * v
                pair[k, n], logits[k, n], share[k, n] = i, log_pi[x, a], p[x, a]
                base[k, n] = expected + p[x, a] * paid * r[x, a]
                mass[k, n] = factor * sum_counts + worth * p[x, a]
            n += 1
    return n, links


@inlined
def restart(me: Learner, risen: float, single: int, mixed: int) -> float:
    """Count rises from the V's that went into the last update on; the highest there is then."""
    rounds, high = me.rounds, -np.inf
    last, state, start, old = rounds.last, rounds.state, rounds.start, rounds.old
    ahead, least, rise = rounds.ahead, rounds.least, me.rule.gamma * risen
    for kind in range(2):
        for i in range(single if kind == 0 else mixed):
            start[kind, i] = last[state[kind, i]]
            ahead[kind, i] -= max(rise, least[kind, i] * risen)
            high = max(high, old[kind, i] - start[kind, i])
    return high


@apart
def drop(
    me: Learner, high: float, spare: float, single: int, mixed: int, width: int, links: int
) -> tuple[int, int, int, int]:
    """Drop what is idle; how many states of either sort, actions of one state and links are left.

    Where one action is left, or untried ones that promise the same, V is its Q.
    """
    rounds, rise, n_states = me.rounds, me.rule.gamma * high, me.states.V.size
    pair, logits, q, value = rounds.pair, rounds.logits, rounds.q, rounds.value
    base, share, mass, place = rounds.base, rounds.share, rounds.mass, rounds.place
    state, old, start = rounds.state, rounds.old, rounds.start
    every_ahead, every_least = rounds.ahead, rounds.least
    for i in range(single):
        place[0, i] = i
    left, most = 0, 0
    for i in range(mixed):
        ahead, least, live, first, tied = every_ahead[1, i], every_least[1, i], 0, 0, True
        for k in range(1, width + 1):
            gap, needs = value[i] - q[k, i], SAFE * max(rise, mass[k, i] * high) + spare
            if logits[k, i] <= NEGLIGIBLE and gap > needs:
                place[k, i] = -1
                if pair[k, i] >= 0:
                    ahead, least = min(ahead, gap - value[i]), min(least, mass[k, i])
                continue
            live += 1
            first = k if live == 1 else first
            place[k, i] = live
            tied = tied and base[k, i] == base[first, i]
            tied = tied and (live == 1 or share[k, i] == share[first, i] == 1)
        kind, to = (0, single) if tied else (1, left)
        for k in range(1, width + 1):
            row = place[k, i]
            if row >= 0 and tied:
                row = 0 if k == first else -1
            if row >= 0:
                pair[row, to], logits[row, to] = pair[k, i], logits[k, i]
                base[row, to], share[row, to] = base[k, i], share[k, i]
                mass[row, to] = mass[k, i]
                place[k, i] = row * n_states + to
            else:
                place[k, i] = -1
        state[kind, to], old[kind, to], start[kind, to] = state[1, i], old[1, i], start[1, i]
        every_ahead[kind, to], every_least[kind, to] = ahead, least
        if tied:
            q[0, to] = value[i]
            single += 1
            continue
        for k in range(live + 1, width + 1):
            pair[k, to], base[k, to], share[k, to] = -1, NOTHING, 0.0
            logits[k, to], mass[k, to] = NOTHING, 0.0
        value[to] = value[i]
        most = max(most, live)
        left += 1
    return single, left, most, drop_links(me, links)


@inlined
def drop_links(me: Learner, links: int) -> int:
    """Drop the links of what was dropped; how many are left."""
    rounds, place, n = me.rounds, me.rounds.place.ravel(), 0
    at, after, weight = rounds.at, rounds.after, rounds.weight
    for link in range(links):
        to = place[at[link]]
        if to >= 0:
            at[n], after[n], weight[n] = to, after[link], weight[link]
            n += 1
    return n


@inlined
def sum_values(me: Learner) -> None:
    """Keep the V's that go into an update, and their sum."""
    V, total, last, parts = me.states.V, me.rounds.total, me.rounds.last, me.front.parts
    for j in range(me.front.n_parts[0]):
        for x in range(parts[j, 0], parts[j, 1]):
            total[x] += V[x]
            last[x] = V[x]


@apart
def predict_some(
    me: Learner, beyond: float, single: int, mixed: int, width: int, links: int
) -> tuple[float, float]:
    """Q of what takes part; the largest, and the largest less V."""
    rounds, V = me.rounds, me.states.V
    flat, at, after, weight = rounds.q.ravel(), rounds.at, rounds.after, rounds.weight
    for k in range(width + 1):
        q, base, share = rounds.q[k], rounds.base[k], rounds.share[k]
        for i in range(single if k == 0 else mixed):
            q[i] = base[i] + share[i] * beyond
    for link in range(links):
        flat[at[link]] += weight[link] * V[after[link]]
    best, most = in_order(-np.inf), in_order(-np.inf)
    for k in range(width + 1):
        q, old = rounds.q[k], rounds.old[min(k, 1)]
        for i in range(single if k == 0 else mixed):
            best, most = max(best, in_order(q[i])), max(most, in_order(q[i] - old[i]))
    return from_order(best), from_order(most)


@apart
def improve_mixed(me: Learner, n: int, width: int) -> None:
    """V and pi of states whose actions compete, as `optimist.core.iteration.improve`."""
    rounds, eta = me.rounds, me.rule.eta
    top, total, value = rounds.top, rounds.weights, rounds.value
    for i in range(n):
        top[i], total[i] = -np.inf, 0.0
    for k in range(1, width + 1):
        L, q = rounds.logits[k], rounds.q[k]
        for i in range(n):
            L[i] += eta * q[i]
            top[i] = max(top[i], L[i])
    for k in range(1, width + 1):
        L = rounds.logits[k]
        for i in range(n):
            L[i] -= top[i]
            total[i] += exp(L[i]) if L[i] > NEGLIGIBLE else 0.0
    for i in range(n):
        normaliser = log(total[i])
        value[i] = (top[i] + normaliser) / eta
        total[i] = normaliser
    for k in range(1, width + 1):
        L = rounds.logits[k]
        for i in range(n):
            L[i] -= total[i]


@apart
def move(
    value: FloatArray, old: FloatArray, start: FloatArray, clips: bool, heaven: float, n: int
) -> tuple[float, float, float, float]:
    """Old values become new ones, bounded if it ``clips``.

    Returns by how much one would have changed at most, the lowest change, the highest, and the
    highest rise since the start.
    """
    change, low, risen, high = 0, in_order(np.inf), in_order(-np.inf), in_order(-np.inf)
    least, most = (0.0, heaven) if clips else (-np.inf, np.inf)
    for i in range(n):
        bounded = min(max(value[i], least), most)
        change = max(change, bits(value[i] - old[i]) & MAGNITUDE)
        moved = in_order(bounded - old[i])
        low, risen = min(low, moved), max(risen, moved)
        high = max(high, in_order(bounded - start[i]))
        old[i] = bounded
    return from_bits(change), from_order(low), from_order(risen), from_order(high)


@apart
def least_ahead(
    ahead: FloatArray, least: FloatArray, value: FloatArray, gamma: float, high: float, n: int
) -> float:
    """The least by which V is certain to exceed the coming Q of an idle action, if V stays."""
    lowest, rise = in_order(np.inf), gamma * high
    for i in range(n):
        lowest = min(lowest, in_order(ahead[i] + value[i] - max(rise, least[i] * high)))
    return from_order(lowest)


@inlined
def in_order(x: float) -> int:
    """A whole number for each float, in their order: of whole numbers a maximum is quick."""
    number = bits(x)
    return number ^ ((number >> 63) & MAGNITUDE)  # type: ignore[no-any-return]


@inlined
def from_order(number: int) -> float:
    """The float of such a number."""
    return from_bits(number ^ ((number >> 63) & MAGNITUDE))  # type: ignore[no-any-return]
