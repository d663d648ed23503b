"""From a finite MDP and a feature map to the arrays that the compiled loop learns on."""

import math
from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from optimist import limits
from optimist.checks import FloatArray, IntArray
from optimist.core.optimism import KNOWN
from optimist.core.state import CHUNK, LARGE, Data, Front, Regression, Simulator, States
from optimist.features import Concatenation, Distinct, FeatureMap, OneHot
from optimist.mdp import FiniteMDP

MATRICES = 6
"""How many matrices of the size of a covariance a learner holds."""

BYTES_A_PAIR = 350
"""About what else a learner keeps of a pair: values and policies twice, and counts."""

ROWS_AT_ONCE = 2**21
"""How many numbers of feature rows are held while they are read."""


def check_features(features: FeatureMap, mdp: FiniteMDP, name: str = "features") -> None:
    """Refuse features whose states or actions are not those of the world."""
    if not isinstance(features, FeatureMap):
        raise TypeError(
            f"{name} must be a FeatureMap; got {features!r}; StateOnly(psi, n_actions) makes one "
            "of features of states"
        )
    if isinstance(features, Distinct):
        raise TypeError(
            f"{name} must not be Distinct, which is for environments: in a finite world each state "
            "has features of its own as OneHot(n_states, n_actions)"
        )
    if isinstance(features, Concatenation):
        check_features(features.phi_r, mdp, name)
        check_features(features.phi_P, mdp, name)
        return
    states = getattr(features, "n_states", None)
    if states is None:
        states = getattr(getattr(features, "psi", None), "n_states", mdp.n_states)
    if (states, features.n_actions) != mdp.r.shape:
        raise ValueError(
            f"the features have {states} states and {features.n_actions} actions, "
            f"the world has {mdp.n_states} and {mdp.n_actions}"
        )


def check_size(mdp: FiniteMDP, features: FeatureMap) -> None:
    """Refuse to learn if the arrays of the learner do not fit into memory."""
    X, (blocks, d) = mdp.n_states, (features.blocks, features.dim)
    s = d // blocks
    matrices = MATRICES * blocks * s * s  # Lambda and the like
    rows = 2 * mdp.r.size * s  # the features of all pairs, and once more while they are read
    sums = X * d if s > 1 else 0
    limits.need(
        8 * (matrices + rows + sums) + BYTES_A_PAIR * mdp.r.size,
        f"learning {X:,} states and {mdp.n_actions:,} actions with {d:,} features",
    )


def block_shape(features: FeatureMap) -> tuple[int, int]:
    """How many blocks the covariance has, and their size."""
    return features.blocks, features.dim // features.blocks


def blank_regression(features: FeatureMap, ridge: float) -> Regression:
    """A regression before the first transition: Lambda is ridge times the identity."""
    n_blocks, s = block_shape(features)
    identity = np.tile(np.eye(s), (n_blocks, 1, 1))
    log_det = features.dim * math.log(ridge)
    return Regression(
        Lambda=ridge * identity,
        inverse=identity / ridge,
        stale=np.zeros(n_blocks, dtype=np.int64),
        log_det=np.array([log_det, log_det]),
    )


def simulator(mdp: FiniteMDP) -> Simulator:
    """The world to be played; the learner sees its draws alone."""
    kernel = sp.csr_array(mdp.kernel, copy=True)
    kernel.eliminate_zeros()
    totals = np.cumsum(kernel.data)
    before = np.concatenate([[0.0], totals])[kernel.indptr[:-1]]
    cumulative = totals - np.repeat(before, np.diff(kernel.indptr))
    return Simulator(
        first=kernel.indptr.astype(np.int64),
        after=kernel.indices.astype(np.int64),
        cumulative=cumulative,
        start=_never_past_the_last(mdp.nu0),
        nu0=mdp.nu0,
        gamma=mdp.gamma,
    )


def _never_past_the_last(nu0: FloatArray) -> FloatArray:
    """Cumulative probabilities that no draw exceeds after the last state that can be drawn.

    Their sum is 1 only up to rounding; a draw above it must not land on a state of probability 0.
    """
    cumulative = np.cumsum(nu0)
    cumulative[np.flatnonzero(nu0)[-1] :] = np.inf
    return cumulative


def learning_arrays(
    mdp: FiniteMDP,
    world: Simulator,
    features: FeatureMap,
    ridge: float,
    learns_prior: bool,
) -> tuple[States, Data, Regression]:
    """Before the first episode: V_1 = 0, pi_1 uniform, no data, Lambda ridge times the identity.

    Where a prior is learnt, transitions are counted whatever the features.
    """
    shape, d, (_, s) = mdp.r.shape, features.dim, block_shape(features)
    rows, block = _in_blocks(mdp, features)
    states = States(
        rows=rows,
        block=block,
        V=np.zeros(mdp.n_states),
        log_pi=np.full(shape, -math.log(mdp.n_actions)),
        cumulative=np.cumsum(mdp.uniform_policy, axis=1),
        CB=np.zeros(shape),
        p=np.zeros(shape),
        standing=np.full(shape, KNOWN),
        r=mdp.r.copy(),
        rewards=np.zeros(shape),
    )
    pairs = np.repeat(np.arange(mdp.r.size), np.diff(world.first))
    dense = 0 if s == 1 else mdp.r.size
    data = Data(
        own=s == 1 and np.array_equal(block.ravel(), np.arange(d)),
        counts=np.zeros(world.after.size if s == 1 or learns_prior else 0),
        starts=np.zeros(mdp.n_states, dtype=np.int64),
        pair=pairs if learns_prior else pairs[:0],
        seen=np.zeros(pairs.size if learns_prior else 0, dtype=np.int64),
        n_seen=np.zeros(1, dtype=np.int64),
        sums=np.zeros((0, 0) if s == 1 else (mdp.n_states, d)),
        norms=(rows**2).sum(axis=1) / ridge if s >= LARGE else np.zeros(0),
        visits=np.zeros(dense, dtype=np.int64),
        met=np.zeros(dense, dtype=np.int64),
        b=np.zeros(d),
        W=np.zeros(mdp.n_states),
        place=np.zeros(mdp.n_states, dtype=np.int64),
        Q=np.zeros(shape),
    )
    return states, data, blank_regression(features, ridge)


def kinds_of(states: States) -> IntArray:
    """The kind of each state (`optimist.core.front`): its rewards and the size of its features."""
    rows = states.rows.reshape(states.r.shape)
    return np.asarray(np.unique(np.hstack([states.r, rows]), axis=0, return_inverse=True)[1])


def whole_front(world: Simulator) -> Front:
    """All states take part in updates."""
    none, n_states = np.zeros(0, dtype=np.int64), world.nu0.size
    return Front(
        kind=none, order=none, at=none, end=none,
        met=np.ones(n_states, dtype=np.bool_),
        active=np.ones(-(-n_states // CHUNK), dtype=np.bool_),
        parts=np.array([[0, n_states]]),
        n_parts=np.ones(1, dtype=np.int64),
        fresh=none,
        n_fresh=np.zeros(1, dtype=np.int64),
        begins=np.flatnonzero(world.nu0),
    )  # fmt: skip


def front_of(kind: IntArray, counts: FloatArray, world: Simulator) -> Front:
    """The states with data and a lead of each kind take part; all other arrays are complete."""
    n_states, n_actions = kind.size, (world.first.size - 1) // kind.size
    met = np.zeros(n_states, dtype=np.bool_)
    seen = np.flatnonzero(counts)
    met[world.after[seen]] = True
    met[(np.searchsorted(world.first, seen, side="right") - 1) // n_actions] = True
    order = np.lexsort((met, kind))  # of each kind those that were not met come first
    end = np.cumsum(np.bincount(kind))
    at = np.concatenate([[0], end[:-1]])
    active = np.zeros(-(-n_states // CHUNK), dtype=np.bool_)
    active[np.flatnonzero(met) // CHUNK] = True
    active[order[at] // CHUNK] = True
    edges = np.flatnonzero(np.diff(active, prepend=False, append=False)).reshape(-1, 2)
    parts = np.zeros((active.size // 2 + 1, 2), dtype=np.int64)
    parts[: len(edges)] = np.minimum(CHUNK * edges, n_states)
    return Front(
        kind, order, at, end, met, active, parts,
        n_parts=np.array([len(edges)]),
        fresh=np.zeros(n_states, dtype=np.int64),
        n_fresh=np.zeros(1, dtype=np.int64),
        begins=np.flatnonzero(world.nu0),
    )  # fmt: skip


def _in_blocks(mdp: FiniteMDP, features: FeatureMap) -> tuple[FloatArray, IntArray]:
    """The features of each pair within its block, [X A, s], and which block that is, [X, A]."""
    n_pairs, s = mdp.r.size, features.dim // features.blocks
    if isinstance(features, OneHot):
        return np.ones((n_pairs, 1)), np.arange(n_pairs).reshape(mdp.r.shape)
    phi, block = np.empty((*mdp.r.shape, s)), np.empty(mdp.r.shape, dtype=np.int64)
    for states in _chunks(features, mdp.n_states):
        phi[states], block[states] = features.in_blocks(states)
    return phi.reshape(n_pairs, s), block


def sparse_rows(features: FeatureMap, n_states: int) -> sp.csr_array:
    """The features of all pairs without their zeros, row ``x * A + a``."""
    chunks = (features.all_actions(states) for states in _chunks(features, n_states))
    parts = [sp.csr_array(phi.reshape(-1, features.dim), dtype=np.float64) for phi in chunks]
    return sp.csr_array(sp.vstack(parts, format="csr"))


def _chunks(features: FeatureMap, n_states: int) -> Iterator[IntArray]:
    """All states in chunks whose features fit into memory."""
    chunk = max(1, ROWS_AT_ONCE // (features.dim * features.n_actions))
    for x in range(0, n_states, chunk):
        yield np.arange(x, min(x + chunk, n_states))
