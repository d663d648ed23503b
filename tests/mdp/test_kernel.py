"""Kernels built from the moves that every state can make, and kernels rescaled on request."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from reference.refusals import assert_refuses

from optimist.mdp import FiniteMDP, LinearMDP, build_kernel

HERE = np.arange(3)
COUNTS = np.array([[[2.0, 6.0], [1, 0]], [[0, 3], [5, 5]]])
R = np.array([[0.0, 1.0], [0.5, 0.25]])


def test_moves_of_an_action_to_the_same_state_add_up():
    twice = [(0, HERE, 0.25), (0, HERE, 0.25), (0, (HERE + 1) % 3, 0.5)]
    P = build_kernel(2, [*twice, (1, HERE, 1.0)])
    assert_array_equal(P[:, 0], [[0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [0.5, 0.0, 0.5]])
    assert_array_equal(P[:, 1], np.eye(3))


def test_moves_that_cannot_happen_leave_no_entries():
    n = 2000  # large enough to be stored sparse
    after = np.arange(n)
    P = build_kernel(1, [(0, after, 1.0), (0, (after + 1) % n, 0.0)])
    assert sp.issparse(P)
    assert P.nnz == n
    FiniteMDP(P, np.zeros((n, 1)), np.full(n, 1 / n), 0.5)


def test_bad_moves_are_refused():
    assert_refuses(
        lambda moves: build_kernel(2, moves),
        ([(0, HERE, -1.0)], ValueError, r"probability must be in \[0, 1\]; got -1"),
        ([(0, HERE, float("nan"))], ValueError, "probability must be a finite number; got nan"),
        ([(2, HERE, 1.0)], ValueError, r"action must be in \{0, ..., 1\}; got 2"),
        ([(0, HERE + 1, 1.0)], ValueError, r"after\[2\] must be in \{0, ..., 2\}; got 3"),
        ([(0, HERE, 1.0), (1, HERE[:2], 1.0)], ValueError, r"after must have shape .*; got \(2,\)"),
        ([(0, HERE / 2, 1.0)], TypeError, "after must hold .* numbers; got float64"),
        ([], ValueError, "moves must hold at least one move, .* got none"),
    )


@pytest.mark.parametrize("store", [np.asarray, lambda P: sp.coo_array(P.reshape(4, 2))])
def test_rows_and_nu0_are_rescaled_if_their_sums_are_positive(store):
    counts = store(COUNTS)
    mdp = FiniteMDP.normalised(counts, R, [1, 3], 0.5)
    kernel = mdp.kernel.toarray() if sp.issparse(mdp.kernel) else mdp.kernel
    assert_array_equal(kernel, [[0.25, 0.75], [1, 0], [0, 1], [0.5, 0.5]])
    assert_array_equal(mdp.nu0, [0.25, 0.75])
    assert_array_equal(mdp.r, R)
    given = counts.toarray().reshape(2, 2, 2) if sp.issparse(counts) else counts
    assert_array_equal(given, COUNTS)
    empty, negative = COUNTS.copy(), COUNTS.copy()
    empty[1, 0], negative[1, 1] = 0, [-1, 3]
    assert_refuses(
        lambda parts: FiniteMDP.normalised(store(parts[0]), R, parts[1], 0.5),
        ((empty, [1, 3]), ValueError, r"^P\[1, 0\] sums to 0; only a positive, finite sum"),
        ((COUNTS, [0, 0]), ValueError, r"^nu0 sums to 0; only a positive sum"),
        ((negative, [1, 3]), ValueError, r"^P\[1, 1, 0\] must not be negative; got -1$"),
        ((COUNTS, [-1, 3]), ValueError, r"^nu0\[0\] must not be negative; got -1$"),
    )


def test_rescaling_gives_a_finite_mdp():
    mdp = LinearMDP.normalised(COUNTS, R, [1, 3], 0.5)
    assert type(mdp) is FiniteMDP
    assert_array_equal(mdp.P[0, 0], [0.25, 0.75])
