"""The data of the compiled loops: named tuples of arrays that they change in place.

Notation is the paper's: Lambda, CB, p (for p+), V, Q, eta, beta. ``heaven`` is R_max / (1 - gamma),
or a better bound on the values. A finite world is a memory in which every state has been met: both
loops have `States`, a `Regression` and an `Epoch`, and differ in how they keep the transitions.
"""

from typing import Any, NamedTuple

import numpy as np

from optimist.checks import BoolArray, FloatArray, IntArray
from optimist.core.optimism import Optimism
from optimist.core.rooms import Rounds

CLOCK = np.dtype(
    [(name, np.int64) for name in ("episodes", "epochs", "updates", "steps", "state", "stage")]
)
"""Counters. ``updates`` counts this epoch only; ``state`` is the current state of a finite world,
or -1 before the first; ``stage`` is the stage of the parameters in this epoch, or `NO_STAGE`."""

CHUNK = 8
"""How many neighbouring states of a finite world take part in updates together."""

LARGE = 128
"""Blocks of this size and more are updated once an episode, and factorised seldom: a factorisation
takes as long as some s rank-one updates."""

NO_STAGE = -1
"""On the clock in the place of a stage, it makes the next episode begin an epoch."""

PRIOR = np.dtype(
    [
        *((name, np.float64) for name in ("concentration", "novel", "v", "expected")),
        *((name, np.float64) for name in ("worth", "worths", "best")),
        ("pays", np.bool_),
    ],
    align=True,
)
"""What is learnt of untried pairs (`optimist.core.prior`), as of the start of the epoch:

concentration, novel, v
    theta of all pairs, s L and v, as in `optimist.core.prior`.
expected
    Prior mean of an update's target: gamma v, plus the mean reward where rewards are estimated.
pays
    Whether heaven pays rewards, and its worth is learnt (`Novelty`).
worth, worths, best
    w, what heaven is worth; the sum of gamma w over the epoch's updates; the largest Q of the last
    update, where w is learnt.
"""


class Rule(NamedTuple):
    """The parameters of the algorithm."""

    optimism: Optimism
    eta: float
    heaven: float
    updates: int
    tolerance: float  # updates end when no value changes by more
    evaluates: bool  # updates evaluate the policy, and the last one moves it
    lazy: bool  # updates wait for the next epoch
    observe_last: bool
    gamma: float
    stage: int  # a new stage of the parameters begins a new epoch
    learns_heaven: bool  # heaven pays what a pair does, and is worth what the best pair is
    keeps: float  # the least share of a constant in all values that an update keeps


class States(NamedTuple):
    """The states of a finite world, or those met so far: the first n are in use."""

    rows: FloatArray  # phi within its block, [X, s] if all actions share it, else [X A, s]
    block: IntArray  # the block of phi(x, a), [X, A]
    V: FloatArray  # [X]
    log_pi: FloatArray  # [X, A]
    cumulative: FloatArray  # of pi, [X, A]
    CB: FloatArray  # [X, A]
    p: FloatArray  # [X, A]
    standing: FloatArray  # whether an action is on trial or untried (`optimism.standing`), [X, A]
    r: FloatArray  # rewards that are known and not in the weights, [X, A]
    rewards: FloatArray  # their sum over the epoch's updates, [X, A]


class Regression(NamedTuple):
    """The covariance of all data so far, by blocks."""

    Lambda: FloatArray  # [blocks, s, s]
    inverse: FloatArray  # of Lambda; not read where s = 1
    stale: IntArray  # rank-one updates of each block since it was factorised
    log_det: FloatArray  # [2]: of Lambda now, and at the start of the epoch


class Epoch(NamedTuple):
    """The numbers of the policy, and the clock."""

    Theta: FloatArray  # the sum of theta over the epoch's updates, [d]
    theta: FloatArray  # of the last update, [d]
    Lambda: FloatArray  # at the start of the epoch
    inverse: FloatArray  # of that; empty in a finite world, where no state is met later
    first: FloatArray  # the regression of V - v as of then, [d]; empty where none is needed
    second: FloatArray  # that of (V - v)^2; empty likewise
    concentration: FloatArray  # theta of each block (`core.prior`), [blocks]; empty likewise
    prior: Any  # one record of `PRIOR`, [1]
    clock: Any  # one record of `CLOCK`, [1]


class Simulator(NamedTuple):
    """A finite world: the entries of P by pairs, ``x * A + a``, with cumulative probabilities."""

    first: IntArray  # [X A + 1], where the entries of each pair begin
    after: IntArray  # the next state of each entry
    cumulative: FloatArray  # of the probabilities, within each pair
    start: FloatArray  # cumulative nu0, [X]
    nu0: FloatArray  # [X]
    gamma: float


class Data(NamedTuple):
    """The transitions seen in a finite world, as sums of a fixed size, and room for vectors.

    With blocks of size one transitions are counted by the entries of P; otherwise ``sums[x']`` is
    the sum of the features that were followed by x'. Where a prior is learnt they are counted too.
    """

    own: bool  # every pair has a feature of its own, in their order
    counts: FloatArray  # of each entry of P; empty if they are not counted
    starts: IntArray  # how often an episode began in each state, [X]
    pair: IntArray  # of each entry of P; empty unless a prior is learnt
    seen: IntArray  # the entries of P with counts, in any order, and room for the others; likewise
    n_seen: IntArray  # [1]
    sums: FloatArray  # [X, d]; empty if s = 1
    norms: FloatArray  # phi' Lambda^{-1} phi of each pair; empty unless blocks are `LARGE`
    visits: IntArray  # of each pair in this episode; empty if s = 1
    met: IntArray  # the pairs met in this episode; likewise
    b: FloatArray  # room for a vector, [d]
    W: FloatArray  # room for what is regressed, [X]
    place: IntArray  # room for a number of each state, [X]
    Q: FloatArray  # room for Q, [X, A]


class Front(NamedTuple):
    """Which states of a finite world take part in updates (`optimist.core.front`)."""

    kind: IntArray  # of each state; empty where all take part, as are the next three
    order: IntArray  # the states, by kinds
    at: IntArray  # where in that order the lead of each kind is
    end: IntArray  # where each kind ends
    met: BoolArray  # [X]
    active: BoolArray  # whether each chunk of states takes part
    parts: IntArray  # [n, 2], the first state of each run of such chunks, and past its last
    n_parts: IntArray  # [1]
    fresh: IntArray  # room for the states met for the first time in an episode, [X]
    n_fresh: IntArray  # [1]
    begins: IntArray  # the states in which an episode may begin


class Learner(NamedTuple):
    """A learner in a finite world: the argument of every function of the compiled loop."""

    world: Simulator
    rule: Rule
    states: States
    data: Data
    reg: Regression
    epoch: Epoch
    front: Front
    rounds: Rounds
    # Functions that not every learner calls, by name; they are compiled for those that do.
    meet_first: Any = ""
    meet: Any = ""
    follow_all: Any = ""
    observe_visits: Any = ""
    regress_all: Any = ""
    freeze_all: Any = ""
    norms: Any = ""
    learn_prior: Any = ""
    draw_bonuses: Any = ""
    play_round: Any = ""


FRONT_FUNCTIONS, SHARED_FUNCTIONS, PRIOR_FUNCTIONS, NOISE_FUNCTIONS = (
    {name: f"optimist.core.{module}:{name}" for name in names}
    for module, names in (
        ("front", ("meet_first", "meet", "follow_all")),
        ("shared", ("observe_visits", "regress_all", "freeze_all", "norms")),
        ("learning", ("learn_prior",)),
        ("learning", ("draw_bonuses",)),
    )
)
"""What a learner calls besides, in which some states do not take part, in which pairs share
features, whose prior is learnt, and whose bonuses are drawn."""

ROUND_FUNCTIONS = {"play_round": "optimist.core.rounds:play_round"}
"""What a learner calls whose updates come in rounds."""


class Links(NamedTuple):
    """The transitions (x, a, x'), each once."""

    source: IntArray  # x
    action: IntArray  # a
    after: IntArray  # x', or -1 if the episode terminated
    weight: FloatArray  # how often it was seen
    paid: FloatArray  # the sum of its rewards


class Chains(NamedTuple):
    """Links that lead to the same state, chained; they follow from the links and are not saved."""

    head: IntArray  # the first link to each state, or -1, [X]
    left: IntArray  # how many links leave each state, [X]
    following: IntArray  # the next link to the same x', or -1
    ended: IntArray  # the first link that terminated, or -1, [1]


class Sums(NamedTuple):
    """Sums over all data, [d]."""

    paid: FloatArray  # sum phi (r + gamma V) with V of terminations alone
    values: FloatArray  # sum phi V(x') for the present V
    features: FloatArray  # sum phi


class Stream(NamedTuple):
    """A learner in an environment: the argument of every function of the compiled part."""

    rule: Rule
    states: States
    links: Links
    chains: Chains
    reg: Regression
    sums: Sums
    epoch: Epoch


class Record(NamedTuple):
    """The record of each episode of a call, [episodes]."""

    steps: IntArray
    reward: FloatArray
    epoch: IntArray
    value: FloatArray  # <nu0, V_k>, the optimistic estimate
    sup_q: FloatArray  # the largest |Q_{k+1}|
    bonus: FloatArray  # the mean of CB along the path
    ascension: FloatArray  # the mean of p+ along the path
    last: IntArray  # the last pair, x * A + a
    stop: BoolArray  # [1]: if set from outside, the call ends soon, and its result is dropped


class Kept(NamedTuple):
    """Policies stored on the way: those to evaluate, and the one drawn for the output."""

    stride: int  # 0 for none
    log_policies: FloatArray  # log pi, [n, X, A]: exponentiated as all are, by NumPy
    draw: BoolArray  # for each episode of the call, whether its policy becomes the drawn one
    epoch: Epoch  # of the drawn policy
    rewards: FloatArray  # of the drawn policy, [X, A]
    log_pi: FloatArray  # of the drawn policy, [X, A]


def blank_record(episodes: int) -> Record:
    """A record with room for ``episodes`` episodes."""
    whole = (np.zeros(episodes, dtype=np.int64) for _ in range(3))
    steps, epoch, last = whole
    reward, value, sup_q, bonus, ascension = (np.zeros(episodes) for _ in range(5))
    stop = np.zeros(1, dtype=np.bool_)
    return Record(steps, reward, epoch, value, sup_q, bonus, ascension, last, stop)


def blank_clock() -> Any:
    """A clock before the first episode."""
    clock = np.zeros(1, CLOCK)
    clock["state"] = -1
    return clock


def blank_epoch(
    regression: Regression, moments: bool, met_later: bool, v: float = 0.0, expected: float = 0.0
) -> Epoch:
    """An epoch before the first one: no updates, so the policy is uniform.

    ``moments`` says whether regressions of V are kept, ``met_later`` whether states may be met in
    the middle of an epoch; ``v`` and ``expected`` are what the ridge shrinks to (`PRIOR`).
    """
    n_blocks, s, _ = regression.Lambda.shape
    d = n_blocks * s
    none, prior = np.zeros(d if moments else 0), np.zeros(1, PRIOR)
    prior["v"], prior["expected"] = v, expected
    return Epoch(
        Theta=np.zeros(d),
        theta=np.zeros(d),
        Lambda=regression.Lambda.copy(),
        inverse=regression.inverse[: None if met_later else 0].copy(),
        first=none,
        second=none.copy(),
        concentration=np.zeros(n_blocks if moments else 0),
        prior=prior,
        clock=blank_clock(),
    )


def arrays_of(group: str, values: Any) -> dict[str, Any]:
    """The arrays of a named tuple by names with their groups; records as one array a field.

    They are views: what is written to them is written to the tuple.
    """
    found = {}
    for name, array in values._asdict().items():
        if not isinstance(array, np.ndarray):
            continue
        if array.dtype.names is None:
            found[f"{group}.{name}"] = array
        else:
            found.update({f"{group}.{name}.{f}": array[f] for f in array.dtype.names})
    return found


def copied(values: Any) -> Any:
    """A named tuple with copies of its arrays."""
    return values._make(v.copy() if isinstance(v, np.ndarray) else v for v in values)
