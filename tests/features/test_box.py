"""Boxes, observations inside and outside of them, and dimensions without a bound."""

import math

import gymnasium
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from reference.refusals import assert_refuses

from optimist.features import RBF, Fourier, Tiles, read_box
from optimist.features.box import UnitBox

INF = math.inf
BOX = ([-1.0, 0.0], [1.0, 5.0])
SIDES = {"both": (-INF, INF), "above": (-3.0, INF), "below": (-INF, 4.0), "none": (-3.0, 4.0)}
"""Which sides of a dimension are infinite, and its bounds."""
WAYS = ("error", "clip", "squash", "warn")
UNBOUNDED = [
    (value, dtype)
    for value in (np.inf, float(np.finfo(np.float32).max), 1e30)
    for dtype in (np.float32, np.float64)
]

MAPS = {
    "tiles": lambda box, **options: Tiles(box, bins=3, **options),
    "tilings": lambda box, **options: Tiles(box, bins=3, tilings=4, **options),
    "rbf": lambda box, **options: RBF(box, centres=3, **options),
    "fourier": lambda box, **options: Fourier(box, 4, np.random.default_rng(0), **options),
}
each_map = pytest.mark.parametrize("make", MAPS.values(), ids=MAPS.keys())
each_side = pytest.mark.parametrize(("low", "high"), SIDES.values(), ids=SIDES.keys())


def squashed(low: float, high: float, observations) -> np.ndarray:
    return UnitBox(([low], [high]), "squash").unit(np.reshape(observations, (-1, 1)))[:, 0]


# Bounds


def test_a_pair_and_a_space_read_the_same():
    space = gymnasium.spaces.Box(np.array([-1.0, 0.0]), np.array([1.0, 5.0]), dtype=np.float64)
    for box in (space, BOX, list(BOX), ([-1, 0], np.array([1, 5]))):
        low, high = read_box(box)
        assert_array_equal(low, [-1.0, 0.0])
        assert_array_equal(high, [1.0, 5.0])
        assert low.dtype == high.dtype == np.float64


def test_the_bounds_are_copies():
    low, high = np.array([0.0]), np.array([1.0])
    box = UnitBox((low, high), "error")
    low[0] = high[0] = 99.0
    assert (box.low[0], box.high[0]) == (0.0, 1.0)
    with pytest.raises(ValueError, match="read-only"):
        box.low[0] = 99.0


def test_huge_bounds_count_as_infinite_and_are_refused_unless_these_are_allowed():
    for value, dtype in UNBOUNDED:
        low, high = np.array([-value, 0.0, -2.0], dtype=dtype), np.array([value, 1.0, value], dtype)
        read = read_box((low, high), infinite=True)
        assert_array_equal(read, [[-INF, 0.0, -2.0], [INF, 1.0, INF]])
        assert_refuses(
            read_box,
            ((low[:2], [1, 1]), ValueError, r"low\[0\] must be finite, .* got -.* outside='clip'"),
            (([0, 0], high[1:]), ValueError, r"high\[1\] must be finite, .* outside='squash'"),
        )


def test_bad_bounds_are_refused():
    no_bounds = r"box must be a Box space or a pair .* got .*; .* OneHotState"
    not_boxes = (gymnasium.spaces.Discrete(5), None, 3.0, ([0.0],), "box", [1, 2, 3])
    bad = [
        (([0, 1], [1, 1]), ValueError, r"low\[1\] must be less than high\[1\] = 1; got 1"),
        (([2.0], [1.0]), ValueError, r"low\[0\] must be less than high\[0\] = 1; got 2"),
        (([0, 0], [1]), ValueError, r"high must have shape \(2,\); got \(1,\)"),
        ((0.0, 1.0), ValueError, r"low must be a list of one number per dim.*; got shape \(\)"),
        (([[0.0]], [[1.0]]), ValueError, r"low must be a list .*; got shape \(1, 1\)"),
        (([], []), ValueError, r"low must be a list .*; got shape \(0,\)"),
        (([np.nan], [1.0]), ValueError, r"low\[0\] must be a finite number; got nan"),
        ((["a"], ["b"]), TypeError, "low must hold real numbers; got <U1"),
        (([0.0], [1j]), TypeError, "high must hold real numbers; got complex128"),
        *((box, TypeError, no_bounds) for box in not_boxes),
    ]
    assert_refuses(read_box, *bad)
    infinite = [
        (([INF], [INF]), ValueError, r"low\[0\] must be less than high\[0\] = inf; got inf"),
        (([-INF], [-INF]), ValueError, r"low\[0\] must be less than high\[0\] = -inf; got -inf"),
        (([INF], [-INF]), ValueError, r"low\[0\] must be less than high\[0\] = -inf; got inf"),
        (([np.nan], [INF]), ValueError, r"low\[0\] must be a finite number; got nan"),
        (([-INF], [np.nan]), ValueError, r"high\[0\] must be a finite number; got nan"),
        ((-INF, INF), ValueError, r"low must be a list .*; got shape \(\)"),
    ]
    assert_refuses(lambda box: UnitBox(box, "squash"), *infinite)


# Bounded dimensions


@pytest.mark.parametrize("outside", WAYS)
def test_the_box_becomes_the_unit_cube(outside):
    unit = UnitBox(BOX, outside).unit
    corners = unit([[-1.0, 0.0], [-1.0, 5.0], [1.0, 0.0], [1.0, 5.0]])
    assert_array_equal(corners, [[0, 0], [0, 1], [1, 0], [1, 1]])
    assert_allclose(unit([0.5, 1.0]), [0.75, 0.2])


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6), st.floats(0.0, 1.0))
def test_no_rounding_leaves_the_unit_cube(low, width, fraction):
    high = low + width
    observation = min(low + fraction * width, high)
    unit = UnitBox(([low], [high]), "error").unit
    assert 0.0 <= unit([observation])[0] <= 1.0
    assert (unit([low])[0], unit([high])[0]) == (0.0, 1.0)


def test_float32_rounding_is_not_outside():
    low, high = 0.1, 0.7
    unit = UnitBox(([low], [high]), "error").unit
    above = np.array([high], dtype=np.float32) * np.float32(1 + 1e-7)
    assert float(above[0]) > high
    assert unit(above)[0] == 1.0
    further = [high + 2e-6 * (high - low)], [low - 2e-6 * (high - low)]
    assert_refuses(unit, *((point, ValueError, "must be in") for point in further))
    for bound in (0.0, 0.1, 1000.1):  # of a dimension with one bound
        slack = 1e-7 * max(1.0, bound)
        assert squashed(bound, INF, bound - slack) == 0.0
        assert squashed(-INF, bound, bound + slack) == 1.0
        further = (bound, INF, bound - 100 * slack), (-INF, bound, bound + 100 * slack)
        assert_refuses(
            lambda at: squashed(*at), *((at, ValueError, "must be in") for at in further)
        )


@pytest.mark.parametrize("outside", WAYS)
def test_bad_observations_are_refused(outside):
    assert_refuses(
        UnitBox(BOX, outside).unit,
        (
            [[0.0, 1.0], [np.nan, 1.0]],
            ValueError,
            r"observation\[1, 0\] must be a finite number; got nan",
        ),
        ([0.0, np.inf], ValueError, r"observation\[1\] must be a finite number; got inf"),
        ([0.0, -np.inf], ValueError, r"observation\[1\] must be a finite number; got -inf"),
        (["a", "b"], TypeError, "observation must hold real numbers; got <U1"),
        ([0.0, 1j], TypeError, "observation must hold real numbers; got complex128"),
        ([0.0, None], TypeError, "observation must hold real numbers; got object"),
        ([[0.0, 1.0], [0.0]], ValueError, "observation must be an array"),
        ([0.0], ValueError, r"last axis .* must have length 2, .*; got shape \(1,\)"),
        ([[0.0, 1.0, 2.0]], ValueError, r"must have length 2, .*; got shape \(1, 3\)"),
        (0.0, ValueError, r"must have length 2, .*; got shape \(\)"),
    )


# Dimensions without a bound


def test_the_formulas_of_squashing():
    x = np.array([-3.0, -0.7, 0.0, 1.0, 3.9])
    expected = {
        "both": 0.5 + np.arctan(x) / np.pi,
        "above": 2 / np.pi * np.arctan(x + 3),
        "below": 1 - 2 / np.pi * np.arctan(4 - x),
        "none": (x + 3) / 7,
    }
    for name, ends in SIDES.items():
        assert_allclose(squashed(*ends, x), expected[name], rtol=1e-14)


@each_side
def test_squashing_keeps_the_order_and_the_largest_numbers_in_the_unit_interval(low, high):
    assert (np.diff(squashed(low, high, np.linspace(-3.0, 4.0, 1000))) > 0).all()
    heavy_tailed = 1e6 * np.random.default_rng(0).standard_cauchy(1000)
    unit = squashed(low, high, np.sort(np.clip(heavy_tailed, low + 1e-6, high - 1e-6)))
    assert (np.diff(unit) >= 0).all()
    assert 0 < unit.min() <= unit.max() < 1
    largest = np.finfo(np.float64).max
    least, most = max(low, -largest), min(high, largest)
    assert_array_equal(squashed(low, high, [least, most]), [0.0, 1.0])


def test_each_dimension_is_squashed_by_itself_and_bounded_ones_are_rescaled():
    low, high = np.transpose(list(SIDES.values()))
    points = np.random.default_rng(0).uniform(-3.0, 4.0, size=(2, 5, 4))
    unit = UnitBox((low, high), "squash").unit(points)
    for i in range(4):
        alone = squashed(low[i], high[i], points[..., i].ravel())
        assert_array_equal(unit[..., i].ravel(), alone)
    box = ([-0.1, 0.3], [0.7, 0.9])
    points = np.random.default_rng(0).uniform(*box, size=(100, 2))
    assert_array_equal(UnitBox(box, "squash").unit(points), UnitBox(box, "error").unit(points))


def test_a_side_that_has_a_bound_keeps_it():
    def refused(low, high, x, interval):
        message = rf"observation\[0, 0\] must be in {interval}; got {x}; .* make that side infinite"
        return (low, high, x), ValueError, message

    assert_refuses(
        lambda at: squashed(*at),
        refused(-3.0, 4.0, 4.1, r"\[-3, 4\]"),
        refused(-3.0, 4.0, -3.1, r"\[-3, 4\]"),
        refused(-3.0, INF, -3.1, r"\[-3, inf\]"),
        refused(-INF, 4.0, 4.1, r"\[-inf, 4\]"),
    )


# Every map on a box


@each_map
def test_every_map_refuses_clips_or_squashes_as_configured(make):
    observations = [[0.0, 1.0], [0.0, 7.0], [-3.0, 1.0]]
    outside = (
        r"observation\[1, 1\] must be in \[0, 5\]; got 7; widen the box, or pass outside='clip'"
    )
    assert_refuses(
        make(BOX),
        (observations, ValueError, outside),
        (observations[2], ValueError, r"observation\[0\] must be in \[-1, 1\]; got -3"),
    )
    clipped = make(BOX, outside="clip")(observations)
    assert_array_equal(clipped, make(BOX)([[0.0, 1.0], [0.0, 5.0], [-1.0, 1.0]]))
    warned = make(BOX, outside="warn")
    with pytest.warns(UserWarning, match=r"observation\[1, 1\] = 7 is outside \[0, 5\]"):
        assert_array_equal(warned(observations), clipped)
    assert_array_equal(warned(observations), clipped)  # it is said once
    with pytest.raises(ValueError, match=r"outside must be 'error', 'clip', 'squash'.* got 'wrap'"):
        make(BOX, outside="wrap")
    for low, high in SIDES.values():
        unit = squashed(low, high, [-3.0, 0.5, 4.0])
        expected = make(([0.0], [1.0]))(unit[:, None])
        for way in ("squash", "warn"):
            psi = make(([low], [high]), outside=way)
            assert_allclose(psi([[-3.0], [0.5], [4.0]]), expected, atol=1e-12)


@each_map
def test_environments_of_gymnasium(make):
    car, pole = gymnasium.make("MountainCar-v0"), gymnasium.make("CartPole-v1")
    message = r"low\[1\] must be finite, .* got -inf; .* pair \(low, high\)"
    assert_refuses(make, (pole.observation_space, ValueError, message))
    high = np.array([2.4, 3.0, 0.21, 3.0])
    for env, psi in (
        (car, make(car.observation_space)),
        (pole, make((-high, high), outside="clip")),
        (pole, make(pole.observation_space, outside="squash")),
    ):
        first, _ = env.reset(seed=0)
        steps = [env.step((t // 2 % 2) * (env.action_space.n - 1))[0] for t in range(20)]
        norms = np.linalg.norm(psi(np.array([first, *steps])), axis=-1)
        assert norms.min() > 0
        assert norms.max() <= psi.bound + 1e-12
    corners = np.array([car.observation_space.low, car.observation_space.high])
    assert make(car.observation_space)(corners).shape[0] == 2
