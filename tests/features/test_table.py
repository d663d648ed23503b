import numpy as np
import pytest
from numpy.testing import assert_array_equal
from reference.refusals import assert_refuses

from optimist.features import Table


def test_the_features_are_the_entries_and_the_bound_is_their_largest_norm():
    array = np.random.default_rng(0).normal(size=(4, 3, 5))
    phi = Table(array)
    assert (phi.n_states, phi.n_actions, phi.dim, phi.blocks) == (4, 3, 5, 1)
    assert_array_equal(phi([[0, 3], [1, 1]], 2), array[[[0, 3], [1, 1]], 2])
    assert_array_equal(phi.all_actions([3, 0]), array[[3, 0]])
    norms = [np.sqrt(sum(v * v for v in array[x, a])) for x in range(4) for a in range(3)]
    assert phi.bound == pytest.approx(max(norms), rel=1e-14)


def test_the_array_is_a_read_only_copy():
    array = np.ones((2, 2, 2))
    phi = Table(array)
    array[...] = 7.0
    assert_array_equal(phi.array, np.ones((2, 2, 2)))
    with pytest.raises(ValueError, match="read-only"):
        phi.array[0, 0, 0] = 7.0


def test_bad_arrays_are_refused():
    missing = np.zeros((2, 2, 2))
    missing[1, 0, 1] = np.nan
    assert_refuses(
        Table,
        (missing, ValueError, r"array\[1, 0, 1\] is nan"),
        (np.zeros((2, 2)), ValueError, r"array has shape \(2, 2\)"),
        (np.zeros((0, 2, 2)), ValueError, "n_states = 0 must be at least 1"),
        (np.zeros((2, 0, 2)), ValueError, "n_actions = 0 must be at least 1"),
        (np.zeros((2, 2, 0)), ValueError, "dim = 0 must be at least 1"),
    )
