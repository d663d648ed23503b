"""Optimistic regularised value iteration: the target Q, the values V and the policy pi."""

import math
from typing import Any

import numpy as np

from optimist.checks import FloatArray, IntArray
from optimist.core.compiler import compiled, inlined
from optimist.core.linalg import dot, dot_two
from optimist.core.optimism import AscensionKind
from optimist.core.state import Rule, States
from optimist.core.trials import NEGLIGIBLE, give_trials
from optimist.errors import Diverged


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


@compiled()
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
    for x in range(max(first, 0), last):
        a, y = 0, x - first
        while a < n_actions:
            row, begin = x if shared else x * n_actions + a, block[x, a] * s
            if s == 1:
                Q[y, a] = base + rows[row, 0] * theta[begin]
            elif shared and a + 1 < n_actions:
                other = block[x, a + 1] * s
                p, q = dot_two(rows[row], theta[begin : begin + s], theta[other : other + s])
                Q[y, a], Q[y, a + 1] = base + p, base + q
                a += 1
            else:
                Q[y, a] = base + dot(rows[row], theta[begin : begin + s])
            a += 1


@compiled()
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
) -> tuple[float, float, float]:
    """Compute Q, V and pi of the states from the first to the last.

    On entry Q holds base + phi . theta, of the state ``begin`` in row 0; it is overwritten.
    ``beyond`` is what heaven is worth, or gamma times that if it ``pays`` what the pair does. At
    eta = 0 the policy is evaluated and stays as it is. Returns the largest |Q|, the largest Q, and
    by how much a value has changed at most.
    """
    kind = rule.optimism.ascension
    if math.isinf(eta):
        rewards, n_actions = states.rewards, states.rewards.shape[1]
        for x in range(first, last):
            for a in range(n_actions):
                rewards[x, a] = 0.0
    truncate = kind == AscensionKind.TRUNCATION
    largest, best = target(states, beyond, truncate, pays, eta > 0, first, last, Q, begin)
    change = improve(eta, rule.evaluates, states, first, last, Q, begin)
    if kind >= AscensionKind.NOVELTY:
        bound_values(states.V, rule.heaven, first, last)
        give_trials(states, first, last)
    return largest, best, change


@inlined
def set_worth(prior: Any, beyond: float, best: float, heaven: float) -> None:
    """Where heaven pays: gamma w of the update is summed, and w becomes the largest Q."""
    prior[0]["best"] = best
    prior[0]["worths"] += beyond
    prior[0]["worth"] = min(max(best, 0.0), heaven)


@inlined
def target(
    states: States,
    heaven: float,
    truncate: bool,
    pays: bool,
    summed: bool,
    first: int,
    last: int,
    Q: FloatArray,
    begin: int,
) -> tuple[float, float]:
    """Q = (1 - p) (r + CB + gamma P V) + p R_max H in the place of gamma P V.

    Returns the largest |Q|, and the largest Q. A heaven that pays (`Novelty`) adds what the pair
    pays. Row 0 of Q is of the state ``begin``.
    """
    r, CB, p, rewards, n_actions = states.r, states.CB, states.p, states.rewards, Q.shape[1]
    largest, best = 0.0, -np.inf
    for x in range(first, last):
        for a in range(n_actions):
            q, beyond = r[x, a] + CB[x, a] + Q[x - begin, a], heaven
            if truncate:
                p[x, a] = 1.0 if heaven <= q else 0.0
            if pays:
                beyond += r[x, a]
            q = (1 - p[x, a]) * q + p[x, a] * beyond
            if summed:
                rewards[x, a] += r[x, a]
            Q[x - begin, a] = q
            largest, best = max(largest, abs(q)), max(best, q)
    return largest, best


@inlined
def improve(
    eta: float, evaluates: bool, states: States, first: int, last: int, Q: FloatArray, begin: int
) -> float:
    """V = 1/eta log sum_a pi(a) e^{eta Q(a)} and pi <- pi e^{eta (Q - V)}, at some states.

    At eta = infinity V = max_a Q, and pi is greedy for this Q alone: the paper's update without its
    regulariser. Where a policy is evaluated V = <pi, Q>, with pi as it was before: the limit at
    eta = 0, where pi stays. Returns by how much a value has changed at most; infinity if some is
    not finite.
    """
    V, log_pi, cumulative, n_actions = states.V, states.log_pi, states.cumulative, Q.shape[1]
    greedy, change, finite = math.isinf(eta), 0.0, True
    for x in range(first, last):
        top, y = -np.inf, x - begin
        if evaluates:
            mean = 0.0
            for a in range(n_actions):
                mean += math.exp(log_pi[x, a]) * Q[y, a]
            finite, change = finite and math.isfinite(mean), max(change, abs(mean - V[x]))
            V[x] = mean
            if eta == 0:
                continue
        for a in range(n_actions):
            log_pi[x, a] = Q[y, a] if greedy else log_pi[x, a] + eta * Q[y, a]
            top = max(top, log_pi[x, a])
        finite = finite and -np.inf < top < np.inf
        if greedy:
            best = 0
            while Q[y, best] < top:
                best += 1
            for a in range(n_actions):
                log_pi[x, a] = 0.0 if a == best else -np.inf
                cumulative[x, a] = 0.0 if a < best else 1.0
            if not evaluates:
                change = max(change, abs(top - V[x]))
                V[x] = top
            continue
        total = 0.0
        for a in range(n_actions):
            log_pi[x, a] -= top
            if log_pi[x, a] > NEGLIGIBLE:
                total += math.exp(log_pi[x, a]) if log_pi[x, a] < 0 else 1.0
            cumulative[x, a] = total
        if total != 1.0:
            normaliser = math.log(total)
            top += normaliser
            for a in range(n_actions):
                log_pi[x, a] -= normaliser
                cumulative[x, a] /= total
        if not evaluates:
            change = max(change, abs(top / eta - V[x]))
            V[x] = top / eta
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
