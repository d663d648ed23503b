"""Kernels built from the moves that every state can make."""

import numpy as np
import pytest
import scipy.sparse as sp

from optimist.mdp import FiniteMDP, build_kernel

HERE = np.arange(3)


def test_moves_of_an_action_to_the_same_state_add_up():
    P = build_kernel(1, [(0, HERE, 0.25), (0, HERE, 0.25), (0, (HERE + 1) % 3, 0.5)])
    np.testing.assert_array_equal(P[2], [[0.5, 0.0, 0.5]])


def test_moves_that_cannot_happen_leave_no_entries():
    n = 2000  # large enough to be stored sparse
    after = np.arange(n)
    P = build_kernel(1, [(0, after, 1.0), (0, (after + 1) % n, 0.0)])
    assert sp.issparse(P)
    assert P.nnz == n
    FiniteMDP(P, np.zeros((n, 1)), np.full(n, 1 / n), 0.5)


@pytest.mark.parametrize(
    ("moves", "error", "message"),
    [
        ([(0, HERE, -1.0)], ValueError, "probability = -1 is not a probability"),
        ([(0, HERE, float("nan"))], ValueError, "probability is nan"),
        ([(2, HERE, 1.0)], ValueError, r"action = 2 is outside \{0, ..., 1\}"),
        ([(0, HERE + 1, 1.0)], ValueError, r"after\[2\] = 3 is outside \{0, ..., 2\}"),
        ([(0, HERE, 1.0), (1, HERE[:2], 1.0)], ValueError, r"after has shape \(2,\)"),
        ([(0, HERE / 2, 1.0)], TypeError, "after holds float64"),
        ([], ValueError, "there are no moves"),
    ],
)
def test_moves_that_make_no_sense_are_refused(moves, error, message):
    with pytest.raises(error, match=message):
        build_kernel(2, moves)
