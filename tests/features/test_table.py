import numpy as np
import pytest

from optimist.features import Table


def test_the_features_are_the_entries():
    array = np.random.default_rng(0).normal(size=(4, 3, 5))
    phi = Table(array)
    assert (phi.n_states, phi.n_actions, phi.dim, phi.blocks) == (4, 3, 5, 1)
    np.testing.assert_array_equal(phi([[0, 3], [1, 1]], 2), array[[[0, 3], [1, 1]], 2])
    np.testing.assert_array_equal(phi.all_actions([3, 0]), array[[3, 0]])


def test_the_bound_is_the_largest_norm():
    array = np.random.default_rng(1).normal(size=(4, 3, 5))
    norms = [np.sqrt(sum(v * v for v in array[x, a])) for x in range(4) for a in range(3)]
    assert Table(array).bound == pytest.approx(max(norms), rel=1e-14)


def test_the_array_is_a_read_only_copy():
    array = np.ones((2, 2, 2))
    phi = Table(array)
    array[...] = 7.0
    np.testing.assert_array_equal(phi.array, np.ones((2, 2, 2)))
    with pytest.raises(ValueError, match="read-only"):
        phi.array[0, 0, 0] = 7.0


@pytest.mark.parametrize("compute", [lambda phi: phi(0, 0), lambda phi: phi.all_actions(0)])
def test_features_of_one_state_are_writable_like_any_others(compute):
    phi = Table(np.ones((2, 2, 2)))
    compute(phi)[...] = 7.0
    np.testing.assert_array_equal(phi.array, np.ones((2, 2, 2)))


def test_entries_must_be_finite():
    array = np.zeros((2, 2, 2))
    array[1, 0, 1] = np.nan
    with pytest.raises(ValueError, match=r"array\[1, 0, 1\] is nan"):
        Table(array)


def test_other_shapes_are_refused():
    with pytest.raises(ValueError, match=r"array has shape \(2, 2\)"):
        Table(np.zeros((2, 2)))


@pytest.mark.parametrize(
    ("shape", "name"), [((0, 2, 2), "n_states"), ((2, 0, 2), "n_actions"), ((2, 2, 0), "dim")]
)
def test_empty_tables_are_refused(shape, name):
    with pytest.raises(ValueError, match=f"{name} = 0 must be at least 1"):
        Table(np.zeros(shape))
