"""The moves of OAL on counts, compiled: optimistic costs to go, occupancy, mirror step, cost step.

P^ are the frequencies of next states, and uniform where a pair was not visited. Transitions are
counted by the entries of P, from ``first[pair]`` on, and those that were seen are listed in
``seen``, as in `optimist.core.tabular.Tables`. Costs are minimised: optimism subtracts the bonus
and truncates below.
"""

import math
from typing import Any

import numpy as np

from optimist.checks import BoolArray, FloatArray, IntArray
from optimist.core.compiler import compiled

DENSE = 150
"""Up to so many states an occupancy is solved for; with more it is found by sweeps."""

NEAR = 1e-11
"""How far, in L1, the occupancy that is found by sweeps may be from the exact one."""


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
    first: IntArray,
    after: IntArray,
    counts: FloatArray,
    seen: IntArray,
    distinct: IntArray,
    visits: IntArray,
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
                pair, mean = x * n_actions + a, anywhere
                if visits[pair] > 0:
                    mean = 0.0
                    for entry in seen[first[pair] : first[pair] + distinct[pair]]:
                        mean += counts[entry] * V[after[entry]]
                    mean /= visits[pair]
                Q[x, a] = min(max(costs[x, a] - b[x, a] + gamma * mean, 0.0), H)
                W[x] += pi[x, a] * Q[x, a]
            change = max(change, abs(W[x] - V[x]))
        if not last:
            V[:] = W


@compiled()
def solve_occupancy(
    first: IntArray,
    after: IntArray,
    counts: FloatArray,
    seen: IntArray,
    distinct: IntArray,
    visits: IntArray,
    gamma: float,
    starts: FloatArray,
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
            pair = x * n_actions + a
            if visits[pair] == 0:
                spread += gamma * pi[x, a] / n_states
                continue
            share = gamma * pi[x, a] / visits[pair]
            for entry in seen[first[pair] : first[pair] + distinct[pair]]:
                system[after[entry], x] -= share * counts[entry]
        for y in range(n_states):
            system[y, x] -= spread
        system[x, x] += 1.0
    found: Any = np.linalg.solve(system, starts * ((1 - gamma) / starts.sum()))
    m[:] = found


@compiled()
def sweep_occupancy(
    first: IntArray,
    after: IntArray,
    counts: FloatArray,
    seen: IntArray,
    distinct: IntArray,
    visits: IntArray,
    gamma: float,
    starts: FloatArray,
    pi: FloatArray,
    m: FloatArray,
    W: FloatArray,
    stop: BoolArray,
) -> None:
    """The same by sweeps of m <- (1 - gamma) nu^ + gamma P^_pi' m, from m as it is.

    They contract by gamma in L1, so that after a change e the error is at most gamma H e.
    """
    n_states, n_actions = pi.shape
    total, change = starts.sum(), np.inf
    while change * gamma > NEAR * (1 - gamma) and not stop[0]:
        W[:] = 0.0
        spread = 0.0
        for x in range(n_states):
            for a in range(n_actions):
                pair, flow = x * n_actions + a, gamma * m[x] * pi[x, a]
                if visits[pair] == 0:
                    spread += flow / n_states
                    continue
                flow /= visits[pair]
                for entry in seen[first[pair] : first[pair] + distinct[pair]]:
                    W[after[entry]] += flow * counts[entry]
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
