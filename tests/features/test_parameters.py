"""One number per dimension, and positive numbers."""

import numpy as np
import pytest

from optimist.features import (
    RBF,
    Concatenation,
    Fourier,
    OneHot,
    OneHotState,
    PerAction,
    StateOnly,
    Tiles,
)

BOX = ([0.0, 0.0], [1.0, 1.0])


def test_one_number_stands_for_all_dimensions():
    assert Tiles(BOX, bins=3).bins == (3, 3)
    assert RBF(BOX, centres=[3, 4]).centres == (3, 4)


@pytest.mark.parametrize(
    ("bins", "error", "message"),
    [
        ([3], ValueError, "bins has 1 entries; .* each of the 2 dimensions"),
        ([3, 0], ValueError, r"bins\[1\] = 0 must be at least 1"),
        ([3, 2.5], TypeError, r"bins\[1\] = 2.5 is not a whole number"),
        (0, ValueError, "bins = 0 must be at least 1"),
        (2.0, TypeError, "bins = 2.0 is not a whole number"),
        (True, TypeError, "bins = True is not a whole number"),
    ],
)
def test_bins_that_are_not_counts_are_refused(bins, error, message):
    with pytest.raises(error, match=message):
        Tiles(BOX, bins=bins)


@pytest.mark.parametrize("value", [0.0, -1.0])
def test_sizes_must_be_positive(value):
    with pytest.raises(ValueError, match=r"width = .* must be positive"):
        RBF(BOX, centres=3, width=value)
    with pytest.raises(ValueError, match=r"lengthscale = .* must be positive"):
        Fourier(BOX, pairs=3, rng=np.random.default_rng(0), lengthscale=value)


def test_sizes_must_be_finite():
    with pytest.raises(ValueError, match="width is nan; it must be a finite number"):
        RBF(BOX, centres=3, width=float("nan"))


def test_tilings_must_be_a_count():
    with pytest.raises(ValueError, match="tilings = 0 must be at least 1"):
        Tiles(BOX, bins=2, tilings=0)


def test_absurd_grids_are_refused_instead_of_overflowing():
    box = (np.zeros(10), np.ones(10))
    with pytest.raises(
        ValueError, match=r"has 1\.0e\+20 features: make it coarser, or use Fourier"
    ):
        Tiles(box, bins=100)
    with pytest.raises(ValueError, match=r"has 1\.0e\+20 features"):
        RBF(box, centres=100)
    with pytest.raises(ValueError, match=r"has 1\.0e\+400 features"):
        Tiles((np.zeros(200), np.ones(200)), bins=100)
    with pytest.raises(ValueError, match=r"has 2\.4e\+21 features"):
        Tiles((np.zeros(70), np.ones(70)), bins=1, tilings=2)


def test_bumps_too_narrow_for_floats_are_refused():
    with pytest.raises(ValueError, match=r"width = 1e-170 is below 0.001 grid spacings"):
        RBF(([0.0], [1.0]), centres=3, width=1e-170)


def test_arrays_do_as_well_as_lists():
    box = np.array([[0.0, 0.0], [1.0, 1.0]])
    psi = Tiles(box, bins=np.array([8, 4]))
    assert psi.bins == (8, 4)
    np.testing.assert_array_equal(psi([0.5, 0.5]), Tiles(([0, 0], [1, 1]), bins=[8, 4])([0.5, 0.5]))


@pytest.mark.parametrize("wrap", [PerAction, StateOnly])
def test_state_features_are_asked_for_by_name(wrap):
    with pytest.raises(TypeError, match="must be StateFeatures"):
        wrap(OneHot(2, 2), 2)


def test_feature_maps_are_asked_for_by_name():
    with pytest.raises(TypeError, match=r"phi_r = .* must be a FeatureMap"):
        Concatenation(OneHotState(2), OneHot(2, 2))
