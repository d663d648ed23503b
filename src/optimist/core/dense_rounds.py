"""Updates in rounds where all pairs share one block of features: Q by columns of the features.

A round begins by turning log pi and the targets to arrays with a row for each action, [A, X], as
those of `optimist.core.rounds`; its updates run along these rows, and nothing is dropped.
"""

import numpy as np

from optimist.checks import FloatArray
from optimist.core.compiler import apart, compiled, inlined
from optimist.core.counts import targets
from optimist.core.elementary import largest_magnitude
from optimist.core.iteration import add_update, count_update, refuse_divergence, set_worth
from optimist.core.linalg import fill
from optimist.core.optimism import AscensionKind
from optimist.core.regression import solve
from optimist.core.rounds import from_order, improve_mixed, in_order, move
from optimist.core.settling import accumulate
from optimist.core.state import Learner
from optimist.core.trials import give_trials


@apart
def play_dense_round(me: Learner, left: int) -> None:
    """As `optimist.core.rounds.play_round`; the round ends when values settle."""
    rounds, rule, prior, V = me.rounds, me.rule, me.epoch.prior, me.states.V
    gamma, heaven, pays = rule.gamma, rule.heaven, bool(prior[0]["pays"])
    clips = rule.optimism.ascension == AscensionKind.NOVELTY
    theta, b, Lambda, inverse = me.epoch.theta, me.data.b, me.reg.Lambda, me.reg.inverse
    n_states, n_actions = me.states.r.shape
    turn(me, pays)
    n, change, largest = 0, np.inf, 0.0
    while left > 0 and change >= rule.tolerance:
        beyond = gamma * prior[0]["worth"] if pays else heaven
        count_update(rule.eta, me.epoch.clock, prior)
        sum_rows(me.data.sums, targets(me, 0), b)
        solve(Lambda, inverse, b, gamma, theta)
        add_update(rule.eta, theta, me.epoch.Theta, 0, theta.size)
        largest, best = predict_columns(me, beyond)
        improve_mixed(me, n_states, n_actions)
        change, _, _ = move(rounds.value, rounds.old[1], V, clips, heaven, n_states)
        refuse_divergence(change)
        for x in range(n_states):
            V[x] = rounds.old[1, x]
        if pays:
            set_worth(prior, beyond, best, heaven)
        n += 1
        left -= 1
    turn_back(me, n)
    rounds.found[0], rounds.found[1], rounds.found[2] = largest, change, left


@inlined
def turn(me: Learner, pays: bool) -> None:
    """Q of all pairs as base + share beyond + mass phi . theta, a row for each action."""
    states, rounds, known = me.states, me.rounds, me.rule.gamma * me.epoch.prior[0]["v"]
    V, log_pi, every_p, every_r, CB = states.V, states.log_pi, states.p, states.r, states.CB
    old, paid = rounds.old[1], 1.0 if pays else 0.0
    for x in range(V.size):
        old[x] = V[x]
    for a in range(log_pi.shape[1]):
        base, share, mass = rounds.base[1 + a], rounds.share[1 + a], rounds.mass[1 + a]
        logits = rounds.logits[1 + a]
        for x in range(V.size):
            p, r = every_p[x, a], every_r[x, a]
            base[x] = (1 - p) * (r + CB[x, a] + known) + p * paid * r
            share[x], mass[x], logits[x] = p, 1 - p, log_pi[x, a]


@compiled()
def sum_rows(rows: FloatArray, weights: FloatArray, b: FloatArray) -> None:
    """b = the weighted sum of all rows, four at a time."""
    fill(b, 0.0)
    n = rows.shape[0]
    for x in range(0, n - 3, 4):
        r0, r1, r2, r3 = rows[x], rows[x + 1], rows[x + 2], rows[x + 3]
        w0, w1, w2, w3 = weights[x], weights[x + 1], weights[x + 2], weights[x + 3]
        for j in range(b.size):
            b[j] += (w0 * r0[j] + w1 * r1[j]) + (w2 * r2[j] + w3 * r3[j])
    for x in range(n - n % 4, n):
        row, weight = rows[x], weights[x]
        for j in range(b.size):
            b[j] += weight * row[j]


@inlined
def predict_columns(me: Learner, beyond: float) -> tuple[float, float]:
    """Q of all pairs; the largest |Q|, and the largest Q."""
    rounds, theta, columns = me.rounds, me.epoch.theta, me.rounds.columns
    s, n_actions, n_states = columns.shape
    largest, best = 0.0, in_order(-np.inf)
    for a in range(n_actions):
        q, base, share, mass = (
            *(rounds.q[1 + a], rounds.base[1 + a]),
            *(rounds.share[1 + a], rounds.mass[1 + a]),
        )
        for x in range(n_states):
            q[x] = 0.0
        for j in range(0, s - 3, 4):
            c0, c1, c2, c3 = columns[j, a], columns[j + 1, a], columns[j + 2, a], columns[j + 3, a]
            t0, t1, t2, t3 = theta[j], theta[j + 1], theta[j + 2], theta[j + 3]
            for x in range(n_states):
                q[x] += (t0 * c0[x] + t1 * c1[x]) + (t2 * c2[x] + t3 * c3[x])
        for j in range(s - s % 4, s):
            column, weight = columns[j, a], theta[j]
            for x in range(n_states):
                q[x] += weight * column[x]
        for x in range(n_states):
            q[x] = base[x] + share[x] * beyond + mass[x] * q[x]
        for x in range(n_states):
            best = max(best, in_order(q[x]))
        largest = max(largest, largest_magnitude(q))
    return largest, from_order(best)


@inlined
def turn_back(me: Learner, n: int) -> None:
    """Write the policy after n updates, and their sums of rewards."""
    rounds, states = me.rounds, me.states
    log_pi, cumulative, rewards, r = states.log_pi, states.cumulative, states.rewards, states.r
    logits, (n_states, n_actions) = rounds.logits, r.shape
    for x in range(n_states):
        for a in range(n_actions):
            log_pi[x, a] = logits[1 + a, x]
            rewards[x, a] += n * r[x, a]
        accumulate(log_pi[x], cumulative[x])
    if me.rule.optimism.ascension == AscensionKind.NOVELTY:
        give_trials(states, 0, n_states)
