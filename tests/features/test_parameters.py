"""The numbers that maps on a box are built from: whole, positive, and not absurdly large."""

import numpy as np
from numpy.testing import assert_array_equal
from reference.refusals import assert_refuses

from optimist.features import RBF, Fourier, Tiles

BOX = ([0.0, 0.0], [1.0, 1.0])


def test_one_number_stands_for_all_dimensions_and_arrays_do_as_well_as_lists():
    assert Tiles(BOX, bins=3).bins == (3, 3)
    assert RBF(BOX, centres=[3, 4]).centres == (3, 4)
    psi = Tiles(np.array(BOX), bins=np.array([8, 4]))
    assert psi.bins == (8, 4)
    assert_array_equal(psi([0.5, 0.5]), Tiles(BOX, bins=[8, 4])([0.5, 0.5]))


def test_bad_numbers_of_tiles_are_refused():
    assert_refuses(
        lambda bins: Tiles(BOX, bins),
        ([3], ValueError, "bins must be .* each of the 2 dimensions .* got 1"),
        ([3, 0], ValueError, r"bins\[1\] = 0 must be at least 1"),
        ([3, 2.5], TypeError, r"bins\[1\] = 2.5 is not a whole number"),
        (0, ValueError, "bins = 0 must be at least 1"),
        (2.0, TypeError, "bins = 2.0 is not a whole number"),
        (True, TypeError, "bins = True is not a whole number"),
    )
    assert_refuses(
        lambda tilings: Tiles(BOX, bins=2, tilings=tilings),
        (0, ValueError, "tilings = 0 must be at least 1"),
    )


def test_bad_widths_and_lengthscales_are_refused():
    assert_refuses(
        lambda width: RBF(([0.0], [1.0]), centres=3, width=width),
        (0.0, ValueError, "width = 0 must be positive"),
        (-1.0, ValueError, "width = -1 must be positive"),
        (float("nan"), ValueError, "width is nan; it must be a finite number"),
        (1e-170, ValueError, "width must be at least 0.001; got 1e-170"),
    )
    assert_refuses(
        lambda scale: Fourier(BOX, pairs=3, rng=np.random.default_rng(0), lengthscale=scale),
        *((bad, ValueError, r"lengthscale = .* must be positive") for bad in (0.0, -1.0)),
    )


def test_absurd_grids_are_refused_instead_of_overflowing():
    def box(k):
        return np.zeros(k), np.ones(k)

    coarser = r"got 100 x .* = 1\.0e\+20; make it coarser, or use Fourier"
    assert_refuses(
        lambda make: make(),
        (lambda: Tiles(box(10), bins=100), ValueError, coarser),
        (lambda: RBF(box(10), centres=100), ValueError, r"= 1\.0e\+20; "),
        (lambda: Tiles(box(200), bins=100), ValueError, r"= 1\.0e\+400; "),
        (lambda: Tiles(box(70), bins=1, tilings=2), ValueError, r"= 2\.4e\+21; "),
    )
