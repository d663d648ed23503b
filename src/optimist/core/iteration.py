"""Optimistic regularised value iteration: the target Q, the values V and the policy pi."""

import math
from typing import Any

import numpy as np

from optimist.checks import FloatArray, IntArray
from optimist.core.compiler import apart, compiled, inlined
from optimist.core.elementary import MAGNITUDE, bits, exp, flat, from_bits, largest_magnitude, log
from optimist.core.linalg import dot, dot_eight, dot_four
from optimist.core.optimism import AscensionKind
from optimist.core.state import Rule, States
from optimist.core.trials import NEGLIGIBLE, give_trials
from optimist.errors import Diverged

FEW = 64
"""Fewer pairs do not fill vector registers: they are gone through once, state by state."""


@inlined
def count_update(eta: float, clock: Any, prior: Any) -> None:
    """Count an update. At eta = infinity nothing is summed: the policy is greedy for it alone.

    At eta = 0 the policy stays: it is a sweep of evaluation, of which nothing is summed.
    """
    if math.isinf(eta):
        clock[0]["updates"] = 0
        prior[0]["worths"] = 0.0
    clock[0]["updates"] += eta > 0


@compiled()
def add_update(eta: float, theta: FloatArray, Theta: FloatArray, first: int, last: int) -> None:
    """Theta += theta, or = theta at eta = infinity, for some of the features; none at eta = 0."""
    if math.isinf(eta):
        for i in range(first, last):
            Theta[i] = theta[i]
    elif eta > 0:
        for i in range(first, last):
            Theta[i] += theta[i]


@apart
def predict(
    rows: FloatArray,
    block: IntArray,
    theta: FloatArray,
    base: float,
    first: int,
    last: int,
    Q: FloatArray,
) -> None:
    """Q = base + phi(x, a) . theta for some of the states."""
    n_actions, s = block.shape[1], rows.shape[1]
    shared = rows.shape[0] == block.shape[0]
    each = 1 if shared else n_actions  # rows of a state
    x = max(first, 0)
    while x < last:
        n = 4 if s > 1 and x + 3 < last else 1  # so many states at once
        a = 0
        while a < n_actions:
            y, b, row = x - first, block[x, a], x if shared else x * n_actions + a
            of_b = theta[b * s : (b + 1) * s]
            alike = n == 4 and have_one_block(block, x, a)
            if alike and shared and a + 1 < n_actions and have_one_block(block, x, a + 1):
                c = block[x, a + 1]
                many = dot_eight(rows, x, of_b, theta[c * s : (c + 1) * s])
                for k in range(4):
                    Q[y + k, a], Q[y + k, a + 1] = base + many[k], base + many[4 + k]
                a += 1
            elif alike:
                sums = dot_four(rows, row, each, of_b)
                for k in range(4):
                    Q[y + k, a] = base + sums[k]
            else:
                for k in range(n):
                    begin, i = block[x + k, a] * s, row + k * each
                    if s == 1:
                        Q[y + k, a] = base + rows[i, 0] * theta[begin]
                    else:
                        Q[y + k, a] = base + dot(rows[i], theta[begin : begin + s])
            a += 1
        x += n


@inlined
def have_one_block(block: IntArray, x: int, a: int) -> bool:
    """Whether an action has the same block in four states from x on."""
    b = block[x, a]
    return bool(block[x + 1, a] == b and block[x + 2, a] == b and block[x + 3, a] == b)


@apart
def back_up(
    rule: Rule,
    eta: float,
    states: States,
    beyond: float,
    pays: bool,
    first: int,
    last: int,
    Q: FloatArray,
    begin: int,
) -> tuple[float, float, float, float]:
    """Compute Q, V and pi of the states from the first to the last.

    On entry Q holds base + phi . theta, of the state ``begin`` in row 0; it is overwritten.
    ``beyond`` is what heaven is worth, or gamma times that if it ``pays`` what the pair does. At
    eta = 0 the policy is evaluated and stays as it is. Returns the largest |Q|, by how much a value
    has changed at most, and if it ``pays`` the largest Q and the largest max Q - V.
    """
    kind = rule.optimism.ascension
    if math.isinf(eta):
        rewards, n_actions = states.rewards, states.rewards.shape[1]
        for x in range(first, last):
            for a in range(n_actions):
                rewards[x, a] = 0.0
    if kind == AscensionKind.TRUNCATION:
        truncate(states, beyond, first, last, Q, begin)
    target(states, beyond, pays, eta > 0, first, last, Q, begin)
    largest, best, most = largest_magnitude(flat(Q, first - begin, last - begin)), -np.inf, -np.inf
    if pays:
        for x in range(first, last):
            top = -np.inf
            for a in range(Q.shape[1]):
                top = max(top, Q[x - begin, a])
            best, most = max(best, top), max(most, top - states.V[x])
    change = improve(eta, rule.evaluates, states, first, last, Q, begin)
    if kind >= AscensionKind.NOVELTY:
        bound_values(states.V, rule.heaven, first, last)
        give_trials(states, first, last)
    return largest, change, best, most


@inlined
def set_worth(prior: Any, beyond: float, best: float, heaven: float) -> None:
    """Where heaven pays: gamma w of the update is summed, and w becomes the largest Q."""
    prior[0]["best"] = best
    prior[0]["worths"] += beyond
    prior[0]["worth"] = min(max(best, 0.0), heaven)


@inlined
def truncate(
    states: States, heaven: float, first: int, last: int, Q: FloatArray, begin: int
) -> None:
    """p = 1 where the target is not below heaven, otherwise 0 (`Truncation`)."""
    q, p = flat(Q, first - begin, last - begin), flat(states.p, first, last)
    r, CB = flat(states.r, first, last), flat(states.CB, first, last)
    for i in range(q.size):
        p[i] = 1.0 if heaven <= r[i] + CB[i] + q[i] else 0.0


@inlined
def target(
    states: States,
    heaven: float,
    pays: bool,
    summed: bool,
    first: int,
    last: int,
    Q: FloatArray,
    begin: int,
) -> None:
    """Q = (1 - p) (r + CB + gamma P V) + p R_max H in the place of gamma P V.

    A heaven that pays (`Novelty`) adds what the pair pays. Row 0 of Q is of the state ``begin``.
    """
    q, p = flat(Q, first - begin, last - begin), flat(states.p, first, last)
    r, CB = flat(states.r, first, last), flat(states.CB, first, last)
    rewards, share = flat(states.rewards, first, last), 1.0 if pays else 0.0
    for i in range(q.size):
        q[i] = (1 - p[i]) * (r[i] + CB[i] + q[i]) + p[i] * (heaven + share * r[i])
    if summed:
        for i in range(q.size):
            rewards[i] += r[i]


@apart
def improve(
    eta: float, evaluates: bool, states: States, first: int, last: int, Q: FloatArray, begin: int
) -> float:
    """V = 1/eta log sum_a pi(a) e^{eta Q(a)} and pi <- pi e^{eta (Q - V)}, at some states.

    At eta = infinity V = max_a Q, and pi is greedy for this Q alone: the paper's update without its
    regulariser. Where a policy is evaluated V = <pi, Q>, with pi as it was before: the limit at
    eta = 0, where pi stays. Returns by how much a value has changed at most; infinity if some is
    not finite. Q is overwritten.
    """
    moved = evaluate(states, first, last, Q, begin) if evaluates else 0.0
    if eta == 0:
        return moved
    if math.isinf(eta):
        return max(moved, improve_greedily(evaluates, states, first, last, Q, begin))
    n_actions, n = Q.shape[1], last - first
    if n * n_actions < FEW:
        return max(moved, improve_few(eta, evaluates, states, first, last, Q, begin))
    logits, weights = flat(states.log_pi, first, last), flat(states.cumulative, first, last)
    q = flat(Q, first - begin, last - begin)
    for i in range(q.size):
        logits[i] += eta * q[i]
    tops = flat(q, 0, n)  # the room of Q is free from here on
    normalisers = flat(q, n, 2 * n) if n_actions > 1 else weights
    V = tops if evaluates else flat(states.V, first, last)
    # A number that is written in a call is known to the compiler, and several states then share an
    # instruction.
    if n_actions == 2:
        subtract_tops(logits, 2, tops)
    elif n_actions == 4:
        subtract_tops(logits, 4, tops)
    else:
        subtract_tops(logits, n_actions, tops)
    finite = largest_magnitude(tops) < np.inf
    for i in range(weights.size):
        weights[i] = exp(logits[i]) if logits[i] > NEGLIGIBLE else 0.0
    if n_actions == 2:
        add_up(weights, 2, normalisers)
    elif n_actions == 4:
        add_up(weights, 4, normalisers)
    else:
        add_up(weights, n_actions, normalisers)
    change = 0
    for x in range(n):
        normaliser = log(normalisers[x])
        value = (tops[x] + normaliser) / eta
        change = max(change, bits(value - V[x]) & MAGNITUDE)
        V[x], normalisers[x] = value, normaliser
    if n_actions == 2:
        normalise(logits, weights, 2, normalisers)
    elif n_actions == 4:
        normalise(logits, weights, 4, normalisers)
    else:
        normalise(logits, weights, n_actions, normalisers)
    if not finite:
        return np.inf
    return moved if evaluates else from_bits(change)


@inlined
def subtract_tops(logits: FloatArray, n_actions: int, tops: FloatArray) -> None:
    """Subtract from the logits of each state the largest of them, and keep it."""
    for x in range(tops.size):
        top = -np.inf
        for a in range(n_actions):
            top = max(top, logits[x * n_actions + a])
        tops[x] = top
    for x in range(tops.size):
        for a in range(n_actions):
            logits[x * n_actions + a] -= tops[x]


@inlined
def add_up(weights: FloatArray, n_actions: int, totals: FloatArray) -> None:
    """Make the weights of each state cumulative, and keep their total."""
    for x in range(totals.size):
        total = 0.0
        for a in range(n_actions):
            total += weights[x * n_actions + a]
            weights[x * n_actions + a] = total
        totals[x] = total


@inlined
def normalise(
    logits: FloatArray, weights: FloatArray, n_actions: int, normalisers: FloatArray
) -> None:
    """Make log-probabilities of the logits of each state, and probabilities of the weights."""
    for x in range(normalisers.size):
        total = weights[(x + 1) * n_actions - 1]
        for a in range(n_actions):
            logits[x * n_actions + a] -= normalisers[x]
        for a in range(n_actions - 1):
            weights[x * n_actions + a] /= total
        weights[(x + 1) * n_actions - 1] = 1.0


@inlined
def evaluate(states: States, first: int, last: int, Q: FloatArray, begin: int) -> float:
    """V = <pi, Q>; by how much a value has changed at most, infinity if some is not finite."""
    V, log_pi, change, finite = states.V, states.log_pi, 0.0, True
    for x in range(first, last):
        mean = 0.0
        for a in range(Q.shape[1]):
            mean += math.exp(log_pi[x, a]) * Q[x - begin, a]
        finite, change = finite and math.isfinite(mean), max(change, abs(mean - V[x]))
        V[x] = mean
    return change if finite else np.inf


@inlined
def improve_few(
    eta: float, evaluates: bool, states: States, first: int, last: int, Q: FloatArray, begin: int
) -> float:
    """The same numbers for a few pairs: what is 0 or 1 is not exponentiated."""
    V, log_pi, cumulative, n_actions = states.V, states.log_pi, states.cumulative, Q.shape[1]
    change, finite = 0.0, True
    for x in range(first, last):
        top, total, normaliser = -np.inf, 0.0, 0.0
        for a in range(n_actions):
            log_pi[x, a] += eta * Q[x - begin, a]
            top = max(top, log_pi[x, a])
        finite = finite and -np.inf < top < np.inf
        for a in range(n_actions):
            log_pi[x, a] -= top
            if log_pi[x, a] > NEGLIGIBLE:
                total += exp(log_pi[x, a]) if log_pi[x, a] < 0 else 1.0
            cumulative[x, a] = total
        if total != 1.0:
            normaliser = log(total)
            for a in range(n_actions):
                log_pi[x, a] -= normaliser
                cumulative[x, a] /= total
        if not evaluates:
            value = (top + normaliser) / eta
            change = max(change, abs(value - V[x]))
            V[x] = value
    return change if finite else np.inf


@inlined
def improve_greedily(
    evaluates: bool, states: States, first: int, last: int, Q: FloatArray, begin: int
) -> float:
    """The same at eta = infinity."""
    V, log_pi, cumulative, n_actions = states.V, states.log_pi, states.cumulative, Q.shape[1]
    change, finite = 0.0, True
    for x in range(first, last):
        best, y = 0, x - begin
        for a in range(1, n_actions):
            if Q[y, a] > Q[y, best]:
                best = a
        top = Q[y, best]
        finite = finite and -np.inf < top < np.inf
        for a in range(n_actions):
            log_pi[x, a] = 0.0 if a == best else -np.inf
            cumulative[x, a] = 0.0 if a < best else 1.0
        if not evaluates:
            change = max(change, abs(top - V[x]))
            V[x] = top
    return change if finite else np.inf


@inlined
def bound_values(V: FloatArray, heaven: float, first: int, last: int) -> None:
    """Keep the values that enter the next regression below heaven; the policy stays as it is."""
    for x in range(first, last):
        V[x] = min(max(V[x], 0.0), heaven)


@inlined
def refuse_divergence(change: float) -> None:
    """Refuse values of which some are no longer finite."""
    if not change < np.inf:
        raise Diverged("values have diverged: they must be finite")
