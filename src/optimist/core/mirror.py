"""The moves of OAL, compiled: optimistic costs to go, occupancy, cost step and mirror step.

They work on the model P^ = N / n in rows of a pair ``x * A + a``: its next states ``to`` and their
``share``, from ``begins[pair]`` to ``begins[pair + 1]``. A row without entries, of a pair that was
never visited, is uniform. Costs are minimised: optimism subtracts the bonus and truncates below.
"""

import math
from typing import Any

import numpy as np

from optimist.checks import BoolArray, FloatArray, IntArray
from optimist.core.compiler import compiled
from optimist.core.imitators import walk_tables

DENSE = 250
"""The largest number of states for which an occupancy is solved; above it, sweeps find it.

At H = 20 both take as long there, about a millisecond.
"""

NEAR = 1e-11
"""How far, in L1, the occupancy that is found by sweeps may be from the exact one."""


@compiled(nogil=True)
def run_oal(
    first: IntArray,
    after: IntArray,
    cumulative: FloatArray,
    start: FloatArray,
    gamma: float,
    counts: FloatArray,
    visits: IntArray,
    starts: IntArray,
    mu_E: FloatArray,
    bonus: float,
    policy_step: float,
    cost_step: float,
    tolerance: float,
    pi: FloatArray,
    clock: Any,
    costs: FloatArray,
    S: FloatArray,
    V: FloatArray,
    m: FloatArray,
    rng: np.random.Generator,
    steps: IntArray,
    last: IntArray,
    stop: BoolArray,
    stride: int,
    policies: FloatArray,
    kept_costs: FloatArray,
    draws: BoolArray,
    drawn: FloatArray,
) -> None:
    """Play and learn one episode after the other, as many as the record has room for.

    Parameters
    ----------
    first, after, cumulative, start, gamma
        The world, as in `optimist.core.state.Simulator`.
    counts, visits, starts
        Counts of the entries of P, of pairs [X A] and of first states [X].
    mu_E
        The occupancy in the expert's data, [X, A].
    bonus, policy_step, cost_step, tolerance
        The bonus of a pair that was visited once, the steps t_pi and t_c, and the change of values
        at which sweeps end.
    pi, costs, S, V, m
        The policy and the costs [X, A], the sum of all Q [X, A], the values [X], and the occupancy
        of states of the last policy in the model [X].
    clock, rng, steps, last, stop
        As of `optimist.core.imitators.play_tables`.
    stride, policies, kept_costs, draws, drawn
        As in `optimist.core.tabular.KeptTables`, and the costs of the policies that are kept.
    """
    n_states, n_actions = pi.shape
    H, taken = 1 / (1 - gamma), 0
    none, never, unknown = np.zeros(0, np.int64), np.zeros(0, np.bool_), np.zeros(0)
    begins, to = np.zeros(visits.size + 1, np.int64), np.zeros(after.size, np.int64)
    share, W = np.zeros(after.size), np.zeros(n_states)
    Q, b, table = np.zeros(pi.shape), np.zeros(pi.shape), np.zeros((1, n_states, n_actions))
    for x in range(n_states):
        table[0, x] = np.cumsum(pi[x])
    for i in range(steps.size):
        if stop[0]:
            break
        if stride > 0 and clock[0]["episodes"] % stride == 0:
            policies[taken], kept_costs[taken] = pi, costs
            taken += 1
        if draws[i]:
            drawn[:] = pi
        steps[i], last[i], _ = walk_tables(
            first, after, cumulative, start, gamma, table, counts, visits, starts, none, never,
            unknown, clock, rng,
        )  # fmt: skip
        set_model(first, after, counts, visits, begins, to, share)
        set_bonuses(visits, bonus, H, b)
        evaluate_costs(begins, to, share, gamma, costs, b, pi, tolerance, V, W, Q, stop)
        if n_states <= DENSE:
            solve_occupancy(begins, to, share, gamma, starts, pi, m)
        else:
            sweep_occupancy(begins, to, share, gamma, starts, pi, m, W, stop)
        step_costs(m, pi, mu_E, cost_step, costs)
        step_policy(Q, policy_step, S, pi, table[0])


@compiled()
def set_model(
    first: IntArray,
    after: IntArray,
    counts: FloatArray,
    visits: IntArray,
    begins: IntArray,
    to: IntArray,
    share: FloatArray,
) -> None:
    """The rows of P^ from counts of the entries of P: what was not seen is left out of them."""
    j = 0
    for pair in range(visits.size):
        begins[pair] = j
        if visits[pair] > 0:
            for entry in range(first[pair], first[pair + 1]):
                if counts[entry] > 0:
                    to[j], share[j] = after[entry], counts[entry] / visits[pair]
                    j += 1
    begins[visits.size] = j


@compiled()
def set_bonuses(visits: IntArray, scale: float, most: float, b: FloatArray) -> None:
    """b = scale / sqrt n, and ``most`` where n = 0, [X, A]."""
    n_states, n_actions = b.shape
    for x in range(n_states):
        for a in range(n_actions):
            n = visits[x * n_actions + a]
            b[x, a] = scale / math.sqrt(n) if n > 0 else most


@compiled()
def evaluate_costs(
    begins: IntArray,
    to: IntArray,
    share: FloatArray,
    gamma: float,
    costs: FloatArray,
    b: FloatArray,
    pi: FloatArray,
    tolerance: float,
    V: FloatArray,
    W: FloatArray,
    Q: FloatArray,
    stop: BoolArray,
) -> None:
    """The fixed point of Q = clip(c - b + gamma P^ V, 0, H), V = <pi, Q>, from V as it is.

    Sweeps end when no value changes by more than the tolerance; Q is then computed from the last V.
    ``W`` is room for values. As P^ has rows that sum to one, sweeps contract by gamma.
    """
    n_states, n_actions = Q.shape
    H, change, last = 1 / (1 - gamma), np.inf, False
    while not last:
        last = change <= tolerance or stop[0]
        anywhere, change = V.mean(), 0.0
        for x in range(n_states):
            W[x] = 0.0
            for a in range(n_actions):
                begin, end = begins[x * n_actions + a], begins[x * n_actions + a + 1]
                mean = 0.0 if begin < end else anywhere
                for j in range(begin, end):
                    mean += share[j] * V[to[j]]
                Q[x, a] = min(max(costs[x, a] - b[x, a] + gamma * mean, 0.0), H)
                W[x] += pi[x, a] * Q[x, a]
            change = max(change, abs(W[x] - V[x]))
        if not last:
            V[:] = W


@compiled()
def solve_occupancy(
    begins: IntArray,
    to: IntArray,
    share: FloatArray,
    gamma: float,
    starts: IntArray,
    pi: FloatArray,
    m: FloatArray,
) -> None:
    """m, the occupancy of states of pi under P^: (I - gamma P^_pi)' m = (1 - gamma) nu^, [X].

    nu^ are the frequencies of first states, which were counted as ``starts``.
    """
    n_states, n_actions = pi.shape
    system = np.zeros((n_states, n_states))
    for x in range(n_states):
        spread = 0.0
        for a in range(n_actions):
            begin, end = begins[x * n_actions + a], begins[x * n_actions + a + 1]
            if begin == end:
                spread += gamma * pi[x, a] / n_states
            for j in range(begin, end):
                system[to[j], x] -= gamma * pi[x, a] * share[j]
        for y in range(n_states):
            system[y, x] -= spread
        system[x, x] += 1.0
    found: Any = np.linalg.solve(system, starts * ((1 - gamma) / starts.sum()))
    m[:] = found


@compiled()
def sweep_occupancy(
    begins: IntArray,
    to: IntArray,
    share: FloatArray,
    gamma: float,
    starts: IntArray,
    pi: FloatArray,
    m: FloatArray,
    W: FloatArray,
    stop: BoolArray,
) -> None:
    """The same by sweeps of m <- (1 - gamma) nu^ + gamma P^_pi' m, from m as it is.

    They contract by gamma in L1: after a change e the error is at most gamma H e, and after n
    sweeps at most 2 gamma^n, which bounds their number where changes are lost in rounding.
    """
    n_states, n_actions = pi.shape
    most = 1 + int(math.log(NEAR / 2) / math.log(gamma)) if gamma > 0 else 1
    total, change, n = starts.sum(), 1.0, 0
    while n < most and (n == 0 or change * gamma > NEAR * (1 - gamma)) and not stop[0]:
        n += 1
        W[:] = 0.0
        spread = 0.0
        for x in range(n_states):
            for a in range(n_actions):
                begin, end = begins[x * n_actions + a], begins[x * n_actions + a + 1]
                flow = gamma * m[x] * pi[x, a]
                if begin == end:
                    spread += flow / n_states
                for j in range(begin, end):
                    W[to[j]] += flow * share[j]
        change = 0.0
        for x in range(n_states):
            W[x] += spread + (1 - gamma) * starts[x] / total
            change += abs(W[x] - m[x])
            m[x] = W[x]


@compiled()
def step_costs(
    m: FloatArray, pi: FloatArray, mu_E: FloatArray, step: float, costs: FloatArray
) -> None:
    """c <- clip(c + step (d - mu_E), 0, 1), where d(x, a) = m(x) pi(a|x)."""
    n_states, n_actions = pi.shape
    for x in range(n_states):
        for a in range(n_actions):
            moved = costs[x, a] + step * (m[x] * pi[x, a] - mu_E[x, a])
            costs[x, a] = min(max(moved, 0.0), 1.0)


@compiled()
def step_policy(
    Q: FloatArray, step: float, S: FloatArray, pi: FloatArray, cumulative: FloatArray
) -> None:
    """pi <- pi exp(-step Q), normalised, from the sum S of all Q so far.

    A sum loses nothing, where products of exponentials would underflow.
    """
    n_states, n_actions = Q.shape
    for x in range(n_states):
        for a in range(n_actions):
            S[x, a] += Q[x, a]
        least, total = S[x].min(), 0.0
        for a in range(n_actions):
            pi[x, a] = math.exp(-step * (S[x, a] - least))
            total += pi[x, a]
        below = 0.0
        for a in range(n_actions):
            pi[x, a] /= total
            below += pi[x, a]
            cumulative[x, a] = below
