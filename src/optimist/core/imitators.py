"""Episodes of a fixed table policy on finite worlds, compiled, and what is counted in them.

The draws come in the order of `optimist.core.finite.walk`: the first state of all before the first
step; in each step the action, the coin and, if the episode goes on, the next state; after the last
step the first state of the next episode. So the transition of the last pair is not seen.
"""

from typing import Any

import numpy as np

from optimist.checks import BoolArray, FloatArray, IntArray
from optimist.core.compiler import compiled
from optimist.core.linalg import draw, draw_between

GROWTH = 1.5
"""By which factor the visits of some pair must grow before a new solution is due."""


@compiled(nogil=True)
def play_tables(
    first: IntArray,
    after: IntArray,
    cumulative: FloatArray,
    start: FloatArray,
    gamma: float,
    tables: FloatArray,
    counts: FloatArray,
    visits: IntArray,
    starts: IntArray,
    before: IntArray,
    known: BoolArray,
    inside: FloatArray,
    clock: Any,
    rng: np.random.Generator,
    i: int,
    steps: IntArray,
    last: IntArray,
    stop: BoolArray,
) -> tuple[int, bool]:
    """Play episodes i, i + 1, ... until the record is full, or a new solution is due.

    Returns the number of the episode after the last that was played, and whether a solution is due.

    Parameters
    ----------
    first, after, cumulative, start, gamma
        The world, as in `optimist.core.state.Simulator`.
    tables, counts, visits, starts, before, known, inside
        As of `walk_tables`.
    clock
        One record of `optimist.core.state.CLOCK`, [1].
    steps, last
        The record: the length of each episode, and its last pair.
    stop
        [1]: set from outside, it ends the call after the episode under way.
    """
    due = False
    while i < steps.size and not due and not stop[0]:
        steps[i], last[i], due = walk_tables(
            first, after, cumulative, start, gamma, tables, counts, visits, starts, before, known,
            inside, clock, rng,
        )  # fmt: skip
        i += 1
    return i, due


@compiled(nogil=True)
def walk_tables(
    first: IntArray,
    after: IntArray,
    cumulative: FloatArray,
    start: FloatArray,
    gamma: float,
    tables: FloatArray,
    counts: FloatArray,
    visits: IntArray,
    starts: IntArray,
    before: IntArray,
    known: BoolArray,
    inside: FloatArray,
    clock: Any,
    rng: np.random.Generator,
) -> tuple[int, int, bool]:
    """One episode; its number of steps, its last pair, and whether a new solution is due.

    Parameters
    ----------
    tables
        Cumulative probabilities of the actions at each time, [T, X, A]; after T, the last table.
    counts, visits, starts
        Counts of the entries of P, of pairs whose next state was seen [X A], and of first states
        [X]; all empty if nothing is to be counted.
    before
        The visits at the last solution, [X A]: a new one is due when those of some pair grew by
        half, or from 0. Empty if none is ever due.
    known, inside
        Which states are known, [X], and how often each pair [X A] was visited while all states of
        the episode were known; both empty if that is not to be counted.
    """
    n_actions = tables.shape[2]
    if clock[0]["state"] < 0:
        clock[0]["state"] = draw(start, rng.random())
    x = clock[0]["state"]
    counting, watching = counts.size > 0, known.size > 0
    if counting:
        starts[x] += 1
    steps, pair, due, going = 0, 0, False, True
    while going:
        a = draw(tables[min(steps, tables.shape[0] - 1), x], rng.random())
        pair = x * n_actions + a
        steps += 1
        watching = watching and known[x]
        if watching:
            inside[pair] += 1
        going = rng.random() < gamma
        if going:
            entry = draw_between(cumulative, first[pair], first[pair + 1], rng.random())
            x = after[entry]
            if counting:
                counts[entry] += 1
                visits[pair] += 1
                if before.size > 0 and visits[pair] >= GROWTH * before[pair]:
                    due = True
    clock[0]["state"] = draw(start, rng.random())
    clock[0]["steps"] += steps
    clock[0]["episodes"] += 1
    return steps, pair, due
