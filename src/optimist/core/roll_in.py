"""Episodes of FAIL's games, compiled: tables of earlier times, then a step to be counted.

The draws come in the order of `optimist.core.finite.walk`.
"""

from typing import Any

import numpy as np

from optimist.checks import BoolArray, FloatArray, IntArray
from optimist.core.compiler import compiled
from optimist.core.linalg import draw, draw_between


@compiled(nogil=True)
def play_game(
    first: IntArray,
    after: IntArray,
    cumulative: FloatArray,
    start: FloatArray,
    gamma: float,
    tables: FloatArray,
    counts: FloatArray,
    clock: Any,
    rng: np.random.Generator,
    steps: IntArray,
    last: IntArray,
    stop: BoolArray,
) -> None:
    """Play as many episodes as the record has room for; count their transitions at time t.

    Parameters
    ----------
    first, after, cumulative, start, gamma
        The world, as in `optimist.core.state.Simulator`.
    tables
        Cumulative probabilities of the actions at times 0, ..., t, [t + 1, X, A]; after t, the last
        table.
    counts
        Counts of the entries of P at time t, of the episodes that live to t + 1.
    clock
        One record of `optimist.core.state.CLOCK`, [1].
    steps, last
        The record: the length of each episode, and its last pair.
    stop
        [1]: set from outside, it ends the call after the episode under way.
    """
    t, n_actions = tables.shape[0] - 1, tables.shape[2]
    if clock[0]["state"] < 0:
        clock[0]["state"] = draw(start, rng.random())
    i = 0
    while i < steps.size and not stop[0]:
        x, time, going = clock[0]["state"], 0, True
        while going:
            pair = x * n_actions + draw(tables[min(time, t), x], rng.random())
            going = rng.random() < gamma
            if going:
                entry = draw_between(cumulative, first[pair], first[pair + 1], rng.random())
                x = after[entry]
                counts[entry] += time == t
            time += 1
            steps[i], last[i] = time, pair
        clock[0]["state"] = draw(start, rng.random())
        clock[0]["steps"] += time
        clock[0]["episodes"] += 1
        i += 1
