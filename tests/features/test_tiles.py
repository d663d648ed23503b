import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from reference.refusals import assert_refuses

from optimist.features import Tiles

BOX = ([0.0, 0.0], [1.0, 1.0])

layouts = st.integers(1, 3).flatmap(
    lambda k: st.tuples(
        st.lists(st.integers(1, 5), min_size=k, max_size=k),
        st.integers(1, 9),
        st.lists(st.floats(0.0, 1.0), min_size=k, max_size=k),
    )
)


def unit_tiles(bins: list[int], tilings: int) -> Tiles:
    """Tiles of the unit cube."""
    return Tiles((np.zeros(len(bins)), np.ones(len(bins))), bins, tilings)


def odd_steps(tilings: int, n_dims: int) -> list[int]:
    steps, candidate = [], 1
    while len(steps) < n_dims:
        if math.gcd(candidate, tilings) == 1:
            steps.append(candidate)
        candidate += 2
    return steps


def tiles_by_hand(point: list[float], bins: list[int], tilings: int) -> list[int]:
    """Walk every tile of every tiling in order and note the ones that hold the point."""
    active, number = [], 0
    for t in range(tilings):
        shifts = [t * step % tilings / tilings for step in odd_steps(tilings, len(bins))]
        axes = []
        for b, shift in zip(bins, shifts, strict=True):
            edges = [max(0.0, (i - shift) / b) for i in range(b + 1)]
            axes.append([*edges, 1.0] if shift else edges)
        for corner in itertools.product(*(range(len(edges) - 1) for edges in axes)):
            if all(
                edges[i] <= x < edges[i + 1] or (x == 1.0 and i == len(edges) - 2)
                for x, edges, i in zip(point, axes, corner, strict=True)
            ):
                active.append(number)
            number += 1
    return active


def far_from_edges(point: list[float], bins: list[int], tilings: int) -> bool:
    """Whether rounding cannot decide which tile the point is in; the box's borders are exact."""
    return all(
        x in (0.0, 1.0) or abs(x * b * tilings - round(x * b * tilings)) > 1e-6
        for x, b in zip(point, bins, strict=True)
    )


@given(layouts)
def test_the_active_tiles_are_those_found_by_hand(layout):
    bins, tilings, point = layout
    assume(far_from_edges(point, bins, tilings))
    assert unit_tiles(bins, tilings).tiles(point).tolist() == tiles_by_hand(point, bins, tilings)


@given(layouts)
def test_one_tile_of_each_tiling_is_active(layout):
    bins, tilings, point = layout
    psi = unit_tiles(bins, tilings)
    active, features = psi.tiles(point), psi(point)
    assert len(set(active.tolist())) == tilings
    assert 0 <= active.min() <= active.max() < psi.dim
    assert_array_equal(np.flatnonzero(features), np.sort(active))
    assert_allclose(features[active], 1 / math.sqrt(tilings))


def test_every_tile_is_reached():
    grid = (np.arange(200) + 0.5) / 200
    points = np.stack(np.meshgrid(grid, grid), axis=-1)
    for bins, tilings in itertools.product([(2, 3), (1, 4)], [1, 2, 3, 4, 6, 8]):
        psi = unit_tiles(bins, tilings)
        assert psi.dim == math.prod(bins) + (tilings - 1) * math.prod(b + 1 for b in bins)
        assert_array_equal(np.unique(psi.tiles(points)), np.arange(psi.dim))


def test_a_tile_holds_its_lower_border_and_the_last_one_the_upper_border_too():
    psi = Tiles(([-2.0, 0.1], [2.0, 0.7]), bins=(4, 3))
    corners = [[-2.0, 0.1], [-2.0, 0.7], [2.0, 0.1], [2.0, 0.7]]
    assert psi.tiles(corners).ravel().tolist() == [0, 2, 9, 11]
    assert Tiles(([0.0], [4.0]), bins=4).tiles([[1.0], [2.0], [3.0]]).ravel().tolist() == [1, 2, 3]


def test_generalisation_is_not_along_the_diagonal():
    """Points and their neighbours share (1 - 0.4)^2 = 0.36 of the tiles on average.

    With displacements along the diagonal it would be 0.6 along it and 0.2 across.
    """
    psi = unit_tiles([2, 2], 8)
    points = np.random.default_rng(0).uniform(0.3, 0.7, size=(20000, 2))
    for step in ([0.2, 0.2], [0.2, -0.2]):
        shared = (psi.tiles(points) == psi.tiles(points + np.array(step))).mean()
        assert shared == pytest.approx(0.36, abs=0.03)


def test_one_number_of_bins_stands_for_all_dimensions_and_arrays_do_as_well_as_lists():
    assert Tiles(BOX, bins=3).bins == (3, 3)
    psi = Tiles(np.array(BOX), bins=np.array([8, 4]))
    assert psi.bins == (8, 4)
    assert_array_equal(psi([0.5, 0.5]), Tiles(BOX, bins=[8, 4])([0.5, 0.5]))


def test_bad_numbers_of_tiles_are_refused():
    assert_refuses(
        lambda bins: Tiles(BOX, bins),
        ([3], ValueError, "bins must be .* each of the 2 dimensions .* got 1"),
        ([3, 0], ValueError, r"bins\[1\] must be at least 1; got 0"),
        ([3, 2.5], TypeError, r"bins\[1\] must be a whole number; got 2.5"),
        (0, ValueError, "bins must be at least 1; got 0"),
        (2.0, TypeError, "bins must be a whole number; got 2.0"),
        (True, TypeError, "bins must be a whole number; got True"),
    )
    coarser = r"got 100 x .* = 1\.0e\+20; make it coarser, or use Fourier"
    assert_refuses(
        lambda sizes: unit_tiles(*sizes),
        (([2, 2], 0), ValueError, "tilings must be at least 1; got 0"),
        (([100] * 10, 1), ValueError, coarser),
        (([100] * 200, 1), ValueError, r"= 1\.0e\+400; "),
        (([1] * 70, 2), ValueError, r"= 2\.4e\+21; "),
    )
