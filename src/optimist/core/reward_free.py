"""Reward-free exploration (RF-Express, Menard et al., 2021) on finite worlds, compiled."""

import math
from typing import Any

import numpy as np

from optimist.checks import BoolArray, FloatArray, IntArray
from optimist.core.compiler import compiled
from optimist.core.imitators import walk_tables
from optimist.core.peers import greedy

TOLERANCE = 1e-4
"""How far from its fixed point W may be, as a part of H."""

SWEEPS = 100_000
"""Sweeps to the fixed point, at most."""


@compiled(nogil=True)
def explore(
    first: IntArray,
    after: IntArray,
    cumulative: FloatArray,
    start: FloatArray,
    gamma: float,
    pi: FloatArray,
    counts: FloatArray,
    visits: IntArray,
    starts: IntArray,
    clock: Any,
    rng: np.random.Generator,
    c: float,
    log_term: float,
    backward: int,
    steps: IntArray,
    last: IntArray,
    stop: BoolArray,
    stride: int,
    policies: FloatArray,
    draw: BoolArray,
    drawn: FloatArray,
) -> None:
    """Play episodes, each with a greedy policy of the uncertainty W after the one before.

    Parameters
    ----------
    first, after, cumulative, start, gamma
        The world, as in `optimist.core.state.Simulator`.
    pi
        The policy of the first episode, [X, A]; afterwards that of the next one.
    counts, visits, starts, clock
        As of `optimist.core.imitators.walk_tables`.
    c, log_term, backward
        As of `sweep`.
    steps, last, stop
        The record of these episodes, and whether to end.
    stride, policies, draw, drawn
        As of `optimist.core.tabular.KeptTables`.
    """
    n_states, n_actions = pi.shape
    tables, never = np.zeros((1, n_states, n_actions)), np.zeros(0, dtype=np.int64)
    known, inside = np.zeros(0, dtype=np.bool_), np.zeros(0)
    W, shares = np.zeros((n_states, n_actions)), np.zeros(counts.size)
    V, bonus = np.zeros(n_states), np.zeros((n_states, n_actions))
    for x in range(n_states):
        tables[0, x] = np.cumsum(pi[x])
    taken = 0
    for i in range(steps.size):
        if stop[0]:
            break
        if stride > 0 and clock[0]["episodes"] % stride == 0:
            policies[taken] = pi
            taken += 1
        if draw[i]:
            drawn[:] = pi
        steps[i], last[i], _ = walk_tables(
            first, after, cumulative, start, gamma, tables, counts, visits, starts, never, known,
            inside, clock, rng,
        )  # fmt: skip
        sweep(first, after, gamma, counts, visits, c, log_term, backward, W, V, bonus, shares)
        for x in range(n_states):
            greedy(W[x], 0.0, pi[x], tables[0, x])


@compiled(nogil=True)
def sweep(
    first: IntArray,
    after: IntArray,
    gamma: float,
    counts: FloatArray,
    visits: IntArray,
    c: float,
    log_term: float,
    backward: int,
    W: FloatArray,
    V: FloatArray,
    bonus: FloatArray,
    shares: FloatArray,
) -> None:
    """The uncertainty W(x,a) = min(H, B(n) + F gamma sum_y P^(y|x,a) max_a' W(y,a')), [X, A].

    Where n = 0 it is H.

    Parameters
    ----------
    c, log_term
        B(n) = c H / sqrt n; or, where ``log_term`` is not 0, that of the theory,
        15 H^2 (log_term + X log(8e (n+1))) / n with log_term = log(3 X A H / delta).
    backward
        The number T of backward steps from 0, with F = 1 + 1/T; or 0: the fixed point, with F = 1.
    V, bonus, shares
        Room for max_a W [X], for B(n) [X, A], and for F gamma P^ by the entries of P.
    """
    n_states, n_actions = W.shape
    H, factor = 1 / (1 - gamma), 1.0
    if backward > 0:
        factor += 1 / backward
    for x in range(n_states):
        for a in range(n_actions):
            pair = x * n_actions + a
            n = visits[pair]
            if n > 0 and log_term == 0:
                bonus[x, a] = c * H / math.sqrt(n)
            elif n > 0:
                beta = log_term + n_states * math.log(8 * math.e * (n + 1))
                bonus[x, a] = 15 * H**2 * beta / n
            else:
                bonus[x, a] = H
            for entry in range(first[pair], first[pair + 1]):
                shares[entry] = factor * gamma * (counts[entry] / n) if n > 0 else 0.0
    W[:] = 0.0
    V[:] = 0.0
    done, change = 0, math.inf
    most, enough = SWEEPS, TOLERANCE * H
    if backward > 0:  # where nothing changes, further steps change nothing
        most, enough = backward, 0.0
    while done < most and change > enough:
        change = 0.0
        for x in range(n_states):
            for a in range(n_actions):
                pair = x * n_actions + a
                total = 0.0
                for entry in range(first[pair], first[pair + 1]):
                    total += shares[entry] * V[after[entry]]
                new = min(H, bonus[x, a] + total)
                change = max(change, abs(new - W[x, a]))
                W[x, a] = new
        for x in range(n_states):
            V[x] = W[x].max()
        done += 1
