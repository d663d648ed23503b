"""Rescaling is asked for by name, and repairs nothing but scale."""

import numpy as np
import pytest
import scipy.sparse as sp

from optimist.mdp import FiniteMDP

COUNTS = np.array([[[2.0, 6.0], [1, 0]], [[0, 3], [5, 5]]])
R = np.array([[0.0, 1.0], [0.5, 0.25]])


def test_rows_and_nu0_are_divided_by_their_sums():
    mdp = FiniteMDP.normalised(COUNTS, R, [1, 3], 0.5)
    np.testing.assert_array_equal(mdp.P, [[[0.25, 0.75], [1, 0]], [[0, 1], [0.5, 0.5]]])
    np.testing.assert_array_equal(mdp.nu0, [0.25, 0.75])
    np.testing.assert_array_equal(mdp.r, R)


def test_sparse_rows_are_rescaled_alike():
    dense = FiniteMDP.normalised(COUNTS, R, [1, 3], 0.5)
    counts = sp.coo_array(COUNTS.reshape(4, 2))
    sparse = FiniteMDP.normalised(counts, R, [1, 3], 0.5)
    np.testing.assert_array_equal(sparse.kernel.toarray(), dense.kernel)
    np.testing.assert_array_equal(counts.toarray(), COUNTS.reshape(4, 2))


@pytest.mark.parametrize("store", [np.asarray, lambda P: sp.csr_array(P.reshape(4, 2))])
def test_only_a_positive_sum_can_be_rescaled(store):
    empty = COUNTS.copy()
    empty[1, 0] = 0
    with pytest.raises(ValueError, match=r"^P\[1, 0\] sums to 0; only a positive, finite sum"):
        FiniteMDP.normalised(store(empty), R, [1, 3], 0.5)
    with pytest.raises(ValueError, match=r"^nu0 sums to 0; only a positive sum"):
        FiniteMDP.normalised(store(COUNTS), R, [0, 0], 0.5)


def test_negative_entries_are_still_refused():
    negative = COUNTS.copy()
    negative[1, 1] = [-1, 3]
    with pytest.raises(ValueError, match=r"^P\[1, 1, 0\] = -1 is negative$"):
        FiniteMDP.normalised(negative, R, [1, 3], 0.5)
    with pytest.raises(ValueError, match=r"^nu0\[0\] = -1 is negative$"):
        FiniteMDP.normalised(COUNTS, R, [-1, 3], 0.5)
