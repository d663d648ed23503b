"""The data of the compiled loop of the tabular peers: named tuples of arrays."""

from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from optimist import limits
from optimist.checks import BoolArray, FloatArray, IntArray
from optimist.core.state import Simulator, blank_clock
from optimist.mdp import FiniteMDP

BYTES_A_PAIR = 150
"""About what a peer keeps of a pair."""


class Peer(IntEnum):
    """The algorithm."""

    UCBVI = 0
    PSRL = 1
    OPTIMISTIC_Q = 2
    Q_LEARNING = 3
    PLANNED = 4  # between two calls of the loop


class TableRule(NamedTuple):
    """The parameters of a tabular peer; each algorithm has some of them."""

    kind: int
    heaven: float  # R_max H
    c: float = 0.0  # the scale of the bonuses
    alpha: float = 0.0  # the mass of the prior
    every: bool = True  # plans are made after every episode, not when an epoch begins
    sweeps: int = 0  # of value iteration in a plan, at most
    tolerance: float = 0.0  # at which a plan counts as made
    epsilon: float = 0.0  # how often an action is drawn at random
    step: float = 0.0  # the learning rate of a first visit
    power: float = 0.0  # of the number of visits, by which the learning rate falls


class Tables(NamedTuple):
    """The state of a tabular peer."""

    Q: FloatArray  # [X, A]
    V: FloatArray  # its values: max_a Q, but for a cut-off, [X]
    CB: FloatArray  # the bonuses within Q, [X, A]
    pi: FloatArray  # the policy, [X, A]
    cumulative: FloatArray  # of pi, [X, A]
    mean: FloatArray  # Q before the smallest so far was taken; of optimistic Q-learning, [X, A]
    counts: FloatArray  # of each entry of P: those that were not seen are 0
    seen: IntArray  # the entries that were, from the first of each pair on
    distinct: IntArray  # how many of each pair were, [X A]
    visits: IntArray  # of each pair, [X A]
    before: IntArray  # the same at the start of the epoch, [X A]
    starts: IntArray  # how often an episode began in each state, [X]
    clock: Any  # as in `optimist.core.state`; updates, stage: the episodes of this epoch, the last
    work: FloatArray  # room for probabilities that are sampled, [X A, X], or for values, [1, X]
    to: IntArray  # the next states that they are of, [X A, X]
    width: IntArray  # how many of them there are, [X A]


class KeptTables(NamedTuple):
    """Policies stored on the way: those to evaluate, and the one drawn for the output."""

    stride: int  # 0 for none
    policies: FloatArray  # [n, X, A]
    draw: BoolArray  # for each episode of the call, whether its policy becomes the drawn one
    drawn: FloatArray  # [X, A]


def check_tables(mdp: FiniteMDP, kind: int) -> None:
    """Refuse tables that do not fit into memory: samples of all of P are not sparse."""
    X, A = mdp.r.shape
    room = 16 * X * X * A if kind == Peer.PSRL else 0
    limits.need(BYTES_A_PAIR * X * A + room, f"tables of {X:,} states and {A:,} actions")


def tables(mdp: FiniteMDP, world: Simulator, rule: TableRule) -> Tables:
    """Before the first episode: no data, values at their largest if optimistic, uniform play."""
    optimistic = rule.kind in (Peer.UCBVI, Peer.OPTIMISTIC_Q)
    first = rule.heaven if optimistic else 0.0
    n_pairs = mdp.r.size
    check_tables(mdp, rule.kind)
    shape = (n_pairs if rule.kind == Peer.PSRL else 1, mdp.n_states)
    return Tables(
        Q=np.full(mdp.r.shape, first),
        V=np.full(mdp.n_states, first),
        CB=np.zeros(mdp.r.shape),
        pi=mdp.uniform_policy.copy(),
        cumulative=np.cumsum(mdp.uniform_policy, axis=1),
        mean=np.full(mdp.r.shape if rule.kind == Peer.OPTIMISTIC_Q else (0, 0), first),
        counts=np.zeros(world.after.size),
        seen=np.zeros(world.after.size, dtype=np.int64),
        distinct=np.zeros(n_pairs, dtype=np.int64),
        visits=np.zeros(n_pairs, dtype=np.int64),
        before=np.zeros(n_pairs, dtype=np.int64),
        starts=np.zeros(mdp.n_states, dtype=np.int64),
        clock=blank_clock(),
        work=np.zeros(shape),
        to=np.zeros(shape, dtype=np.int64),
        width=np.zeros(shape[0], dtype=np.int64),
    )


def check_counts(
    first: IntArray, counts: FloatArray, seen: IntArray, distinct: IntArray, visits: IntArray
) -> None:
    """Refuse counts of the entries of P, from the first of each pair on, that contradict."""
    pair = np.repeat(np.arange(len(distinct)), np.diff(first))
    met = counts > 0
    if (np.bincount(pair, met, len(distinct)) != distinct).any():
        raise ValueError("distinct must be how many counts of each pair are not 0")
    if (np.bincount(pair, counts, len(visits)) != visits).any():
        raise ValueError("visits must be the sum of the counts of each pair")
    used = np.arange(counts.size) - first[pair] < distinct[pair]
    entries = seen[used]
    if (pair[entries] != pair[used]).any() or (np.sort(entries) != np.flatnonzero(met)).any():
        raise ValueError("seen must be the entries of each pair whose counts are not 0")
