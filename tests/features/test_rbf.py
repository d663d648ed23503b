import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from reference.refusals import assert_refuses

from optimist.features import RBF

BOX = ([-1.0, 0.0], [1.0, 5.0])


def by_hand(unit: list[float], centres: list[int], width: float) -> np.ndarray:
    """The Gaussian of the distance to each grid point, over their sum."""
    grid = np.array(list(np.ndindex(*centres)))  # in units of the grid spacing
    position = np.array(unit) * (np.array(centres) - 1)
    bumps = np.exp(-((position - grid) ** 2).sum(axis=1) / (2 * width**2))
    return bumps / bumps.sum()


@given(
    st.lists(st.floats(0.0, 1.0), min_size=3, max_size=3),
    st.lists(st.integers(2, 4), min_size=3, max_size=3),
    st.floats(0.3, 3.0),
)
def test_the_features_are_those_computed_densely(unit, centres, width):
    psi = RBF(([0.0] * 3, [1.0] * 3), centres, width)
    assert_allclose(psi(unit), by_hand(unit, centres, width), rtol=1e-9, atol=1e-15)


@given(
    st.lists(st.floats(0.0, 1.0), min_size=2, max_size=2),
    st.integers(1, 6),
    st.floats(1e-3, 1e3),
)
def test_the_features_are_a_distribution(unit, centres, width):
    features = RBF(([0.0, 0.0], [1.0, 1.0]), centres, width)(unit)
    assert features.min() >= 0
    assert features.sum() == pytest.approx(1.0, abs=1e-12)


def test_narrow_bumps_do_not_underflow():
    psi = RBF(([0.0], [1.0]), centres=3, width=1e-3)
    # Every Gaussian is below the smallest float at 0.2; its nearest centre is 0.
    assert_array_equal(psi([[0.2], [0.25]]), [[1.0, 0.0, 0.0], [0.5, 0.5, 0.0]])


def test_the_bound_is_approached_by_narrow_bumps():
    psi = RBF(BOX, centres=4, width=0.05)
    assert np.linalg.norm(psi([-1.0, 0.0])) == pytest.approx(psi.bound, abs=1e-12)


def test_the_default_is_close_to_linear_interpolation():
    positions = np.linspace(1.0, 3.0, 101)
    hats = np.maximum(1 - np.abs(positions[:, None] - np.arange(5)), 0)
    features = RBF(([0.0], [4.0]), centres=5)(positions[:, None])
    assert np.abs(features - hats).max() < 0.25
    assert_allclose(features @ np.arange(5), positions, atol=0.05)


def test_a_single_centre_ignores_the_dimension():
    both, one = RBF(BOX, centres=[3, 1]), RBF(([-1.0], [1.0]), centres=3)
    assert (both.centres, one.centres) == ((3, 1), (3,))
    assert_allclose(both([[0.3, 0.0], [0.3, 4.0]]), [one([0.3])] * 2)


def test_bad_widths_and_absurd_grids_are_refused():
    assert_refuses(
        lambda width: RBF(([0.0], [1.0]), centres=3, width=width),
        (0.0, ValueError, "width must be positive; got 0"),
        (-1.0, ValueError, "width must be positive; got -1"),
        (float("nan"), ValueError, "width must be a finite number; got nan"),
        (1e-170, ValueError, "width must be at least 0.001; got 1e-170"),
    )
    with pytest.raises(ValueError, match=r"= 1\.0e\+20; "):
        RBF((np.zeros(10), np.ones(10)), centres=100)
