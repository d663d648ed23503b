"""Room for the updates that follow an episode: arrays of which nothing outlives them."""

from typing import NamedTuple

import numpy as np

from optimist.checks import FloatArray, IntArray


class Rounds(NamedTuple):
    """Room for updates in rounds (`optimist.core.rounds`); empty where there are none.

    Row 0 of its matrices is of states whose V is the Q of one action, the others of states whose
    actions compete: of arrays [1 + A, X] a row for each action, of [2, X] one for all.
    """

    total: FloatArray  # the sum of the V's that went into the round's updates, [X]
    last: FloatArray  # the last of these, [X]
    state: IntArray  # which state it is, [2, X]
    old: FloatArray  # its V so far, [2, X]
    start: FloatArray  # V from which rises count, [2, X]
    ahead: FloatArray  # by how much V exceeded the Q of idle actions then, less V, [2, X]
    least: FloatArray  # the least weight of all V's in the Q of an idle action, [2, X]
    value: FloatArray  # new values of states whose actions compete, [X]
    top: FloatArray  # their largest logits, [X]
    weights: FloatArray  # the sums of e^logit, [X]
    pair: IntArray  # -1 for none, [1 + A, X]
    base: FloatArray  # Q = base + share beyond + the sum of weight V(after), [1 + A, X]
    share: FloatArray  # [1 + A, X]
    mass: FloatArray  # the weight of all V's in Q, [1 + A, X]
    q: FloatArray  # [1 + A, X]
    logits: FloatArray  # log pi, [1 + A, X]
    place: IntArray  # where it goes when others are dropped, or -1, [1 + A, X]
    at: IntArray  # the place in q of each link, of which there are at most the entries of P
    after: IntArray  # where it leads
    weight: FloatArray  # the weight of V there
    found: FloatArray  # [3]


def room_for_rounds(shape: tuple[int, int], links: int) -> Rounds:
    """Room for [X, A] pairs and so many links; nothing is set."""
    X, A = shape
    two, every = (2, X), (1 + A, X)
    return Rounds(
        total=np.zeros(X), last=np.zeros(X),
        state=_whole(two), old=np.empty(two), start=np.empty(two), ahead=np.empty(two),
        least=np.empty(two), value=np.empty(X), top=np.empty(X), weights=np.empty(X),
        pair=_whole(every), base=np.empty(every), share=np.empty(every), mass=np.empty(every),
        q=np.empty(every), logits=np.empty(every), place=_whole(every),
        at=_whole(links), after=_whole(links), weight=np.empty(links),
        found=np.zeros(3),
    )  # fmt: skip


def _whole(shape: int | tuple[int, int]) -> IntArray:
    return np.empty(shape, dtype=np.int64)
