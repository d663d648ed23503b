"""One number per dimension, and positive numbers."""

import numpy as np
import pytest

from optimist.features import RBF, Fourier, Tiles

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
