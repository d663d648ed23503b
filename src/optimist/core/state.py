"""What the compiled loop works on: named tuples of arrays that it changes in place.

Notation is the paper's: Lambda, CB, p (for p+), V, Q, eta, beta. ``heaven`` is R_max / (1 - gamma),
or a better bound on the values.
"""

from typing import NamedTuple

import numpy as np

from optimist.checks import BoolArray, FloatArray, IntArray


class Simulator(NamedTuple):
    """The world: the entries of P by pairs, row ``x * A + a``, with cumulative probabilities."""

    first: IntArray  # [X A + 1], where the entries of each pair begin
    after: IntArray  # the next state of each entry
    cumulative: FloatArray  # of the probabilities, within each pair
    start: FloatArray  # cumulative nu0, [X]
    gamma: float


class Rule(NamedTuple):
    """The parameters of the algorithm."""

    eta: float
    bonus: int
    beta: float  # or c
    ascension: int
    a: float  # alpha, or the level of a threshold
    b: float  # omega
    heaven: float
    updates: int
    tolerance: float  # updates end when no value changes by more
    ridge: float  # the unit of a ridge that is learnt
    lazy: bool  # updates wait for the next epoch
    observe_last: bool
    gamma: float
    stage: int  # a new stage of the parameters begins a new epoch
    learns_heaven: bool  # heaven pays what a pair does, and is worth what the best pair is


class Statistics(NamedTuple):
    """What is kept of the data: the covariance Lambda and the sums of phi(x, a) over next states.

    Each phi(x, a) lies in one of the blocks of Lambda. With blocks of size one (``diagonal``) the
    transitions are counted by the entries of P; otherwise ``sums[x']`` is the sum of the features
    that were followed by x', and the inverse is kept up to date.
    """

    diagonal: bool
    own: bool  # diagonal, and every pair has a feature of its own, in their order
    phi: FloatArray  # the features within their block, [X A, s]
    block: IntArray  # the block of each pair, [X A]
    Lambda: FloatArray  # [blocks, s, s]
    inverse: FloatArray  # of Lambda; unused if diagonal
    counts: FloatArray  # of each entry of P; unused unless diagonal or the prior is learnt
    pair: IntArray  # of each entry of P; unused unless the prior is learnt
    sums: FloatArray  # [X, d]; unused if diagonal
    visits: IntArray  # of each pair in this episode; unused if diagonal
    met: IntArray  # the pairs met in this episode
    stale: IntArray  # rank-one updates of each block since it was factorised
    work: FloatArray  # room for a vector of d numbers
    log_det: FloatArray  # [2]: of Lambda now, and at the start of the epoch


class Iterate(NamedTuple):
    """The iterates of value iteration, and the policy that is played."""

    V: FloatArray  # [X]
    log_pi: FloatArray  # [X, A]
    cumulative: FloatArray  # of pi, [X, A]
    CB: FloatArray  # [X, A]
    p: FloatArray  # [X, A]
    alike: BoolArray  # new pairs that are tried alike (`engine.find_alike`), [X, A]
    Theta: FloatArray  # the sum of gamma M V over the epoch's updates, [d]
    rewards: FloatArray  # the sum of r_k over the epoch's updates, [X, A]
    Lambda: FloatArray  # at the start of the epoch
    prior: FloatArray  # the numbers below: of `core.prior`, as of the start of the epoch; of heaven
    first: FloatArray  # M (V - v) as of then, for variances, [d]; else empty
    second: FloatArray  # M (V - v)^2 as of then, likewise
    W: FloatArray  # room for V - v, [X]
    MV: FloatArray  # room for M V, [d]
    PV: FloatArray  # room for P V and then Q, [X, A]
    clock: IntArray  # the six numbers below


RIDGE, NOVEL, MEAN, BASE, PAYS, WORTH, WORTHS, HOPE = range(8)
"""The numbers of a prior (`optimist.core.prior`): theta in the units of the covariance; s with its
logarithm; v; and what every update expects of an untried pair: gamma v, and the mean reward where
it is estimated. Then 1 if heaven pays in this epoch and its worth is learnt, else 0; w, what it is
worth; the sum of gamma w over the epoch's updates; and w as of the start of the epoch."""

PRIOR = 8
"""How many they are."""

EPISODES, EPOCHS, UPDATES, STEPS, STATE, STAGE = range(6)
"""What the clock shows: counts, those of updates in this epoch; the present state, or -1 before the
first; and the stage of the parameters in this epoch."""


class Record(NamedTuple):
    """What is noted of each episode of a call, [episodes]."""

    steps: IntArray
    reward: FloatArray
    epoch: IntArray
    value: FloatArray  # <nu0, V_k>, the optimistic estimate
    sup_q: FloatArray  # the largest |Q_{k+1}|
    bonus: FloatArray  # the mean of CB along the path
    ascension: FloatArray  # the mean of p+ along the path
    stop: BoolArray  # [1]: raised from outside, it ends the call soon; its work is to be dropped


class Snapshots(NamedTuple):
    """Policies set aside on the way: those to be evaluated, and the one drawn for the output."""

    stride: int  # 0 for none
    log_policies: FloatArray  # log pi, [n, X, A]: exponentiated as all are, by NumPy
    draw: BoolArray  # for each episode of the call, whether its policy becomes the drawn one
    Theta: FloatArray
    rewards: FloatArray
    Lambda: FloatArray
    prior: FloatArray
    first: FloatArray
    second: FloatArray
    log_pi: FloatArray
    clock: IntArray


class Player(NamedTuple):
    """The reward player of FRA-IL (Algorithm 2), which moves its weights w after every episode.

    The reward features are stored by pairs: those of pair ``x * A + a`` are the entries from
    ``first[pair]`` to ``first[pair + 1]``.
    """

    kind: int  # which class of weights: one of the codes below
    numbers: FloatArray  # [2]: the radius of a ball, the ends of a box, the sum of a simplex
    step: float  # eta_r
    shift: float  # r_k = Phi_r w_k + shift
    fresh: bool  # whether (X_k, A_k) comes from a rollout of its own
    expert: FloatArray  # the estimate of lambda(pi_E), [d_r]
    first: IntArray  # [X A + 1]
    column: IntArray
    value: FloatArray
    w: FloatArray  # w_k, [d_r]
    total: FloatArray  # the sum of w_1, ..., w_k, [d_r]
    pairs: IntArray  # the pair (X_k, A_k) of each episode of a call
    rollouts: IntArray  # the steps of its rollout, if it had one of its own
    kept: FloatArray  # w_k of the episodes whose policies are kept, [n, d_r]


NOBODY, BALL, BOX, SIMPLEX, OTHER = range(5)
"""The kinds of player: none, since rewards are fixed; three classes whose projection is compiled;
and any other, whose weights are moved between two calls."""

WHOLE, PLAY, UPDATE = range(3)
"""What a call does of each episode: all of it, or one of its halves, between which r may change."""


def blank_record(episodes: int) -> Record:
    """A record with room for so many episodes."""
    return Record(
        steps=np.zeros(episodes, dtype=np.int64),
        reward=np.zeros(episodes),
        epoch=np.zeros(episodes, dtype=np.int64),
        value=np.zeros(episodes),
        sup_q=np.zeros(episodes),
        bonus=np.zeros(episodes),
        ascension=np.zeros(episodes),
        stop=np.zeros(1, dtype=np.bool_),
    )


def nobody() -> Player:
    """No reward player."""
    none, indices = np.zeros(0), np.zeros(0, dtype=np.int64)
    return Player(
        kind=NOBODY,
        numbers=none,
        step=0.0,
        shift=0.0,
        fresh=False,
        expert=none,
        first=indices,
        column=indices,
        value=none,
        w=none,
        total=none,
        pairs=indices,
        rollouts=indices,
        kept=np.zeros((0, 0)),
    )
