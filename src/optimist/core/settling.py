"""What updates in rounds leave to their end: the numbers of all pairs, from sums of values."""

from optimist.checks import FloatArray
from optimist.core.compiler import apart, compiled, inlined
from optimist.core.elementary import exp
from optimist.core.optimism import AscensionKind
from optimist.core.state import Learner
from optimist.core.trials import NEGLIGIBLE, give_trials


@apart
def settle(
    me: Learner, single: int, mixed: int, width: int, n: int, worths: float, beyond: float
) -> float:
    """All else that n updates of all pairs compute; the largest |Q| of the last one."""
    rounds, states, eta, parts = me.rounds, me.states, me.rule.eta, me.front.parts
    Q, log_pi, cumulative, n_parts = (
        me.data.Q,
        states.log_pi,
        states.cumulative,
        me.front.n_parts[0],
    )
    state, pairs, logits, n_actions, largest = (
        rounds.state,
        rounds.pair,
        rounds.logits,
        Q.shape[1],
        0.0,
    )
    for j in range(n_parts):
        top = add_targets(me, parts[j, 0], parts[j, 1], n, worths, beyond)
        largest = max(largest, top)
    for kind in range(2):
        rows = width + 1 if kind == 1 else 1
        for i in range(single if kind == 0 else mixed):
            x = state[kind, i]
            before = x * n_actions
            a = pairs[kind, i] - before
            V = Q[x, a] - (logits[kind, i] - log_pi[x, a]) / eta  # the sum of all V
            for a in range(n_actions):
                log_pi[x, a] += eta * (Q[x, a] - V)
            for k in range(kind, rows):
                if pairs[k, i] >= 0:
                    log_pi[x, pairs[k, i] - before] = logits[k, i]
            accumulate(log_pi[x], cumulative[x])
    if me.rule.optimism.ascension == AscensionKind.NOVELTY:
        for j in range(n_parts):
            give_trials(states, parts[j, 0], parts[j, 1])
    return largest


@inlined
def add_targets(me: Learner, begin: int, end: int, n: int, worths: float, beyond: float) -> float:
    """Sum n targets in the place of Q, and their weights; the largest |Q| of the last update."""
    rounds, states, world, epoch, gamma = me.rounds, me.states, me.world, me.epoch, me.rule.gamma
    Q, counts, Lambda, rewards = me.data.Q, me.data.counts, me.reg.Lambda, states.rewards
    every_p, every_r, CB, rows = states.p, states.r, states.CB, states.rows
    Theta, theta, total, last = epoch.Theta, epoch.theta, rounds.total, rounds.last
    v, first, after = epoch.prior[0]["v"], world.first, world.after
    pays, n_actions, largest = 1.0 if epoch.prior[0]["pays"] else 0.0, Q.shape[1], 0.0
    for x in range(begin, end):
        for a in range(n_actions):
            i, sum_all, sum_last = x * n_actions + a, 0.0, 0.0
            for entry in range(first[i], first[i + 1]):
                y = after[entry]
                sum_all += counts[entry] * (total[y] - n * v)
                sum_last += counts[entry] * (last[y] - v)
            phi, p, r = rows[i, 0], every_p[x, a], every_r[x, a]
            factor, known = gamma * phi / Lambda[i, 0, 0], r + CB[x, a] + gamma * v
            theta[i] = factor * sum_last
            Theta[i] += factor * sum_all
            q = (1 - p) * (known + phi * factor * sum_last) + p * (beyond + pays * r)
            largest = max(largest, abs(q))
            whole = (1 - p) * (n * known + phi * factor * sum_all)
            Q[x, a] = whole + p * (worths + n * pays * r)
            rewards[x, a] += n * r
    return largest


@compiled()
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
