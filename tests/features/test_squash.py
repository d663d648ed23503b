"""Dimensions without a bound, squashed onto the unit interval."""

import math

import gymnasium
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimist.features import RBF, Fourier, Tiles, read_box
from optimist.features.box import UnitBox

INF = math.inf
SIDES = {"both": (-INF, INF), "above": (-3.0, INF), "below": (-INF, 4.0), "none": (-3.0, 4.0)}
MAPS = {
    "tiles": lambda box: Tiles(box, bins=5, outside="squash"),
    "tilings": lambda box: Tiles(box, bins=5, tilings=4, outside="squash"),
    "rbf": lambda box: RBF(box, centres=5, outside="squash"),
    "fourier": lambda box: Fourier(box, 4, np.random.default_rng(0), outside="squash"),
}
each_side = pytest.mark.parametrize(("low", "high"), SIDES.values(), ids=SIDES.keys())
each_map = pytest.mark.parametrize("make", MAPS.values(), ids=MAPS.keys())


def squashed(low: float, high: float, observations) -> np.ndarray:
    return UnitBox(([low], [high]), "squash").unit(np.reshape(observations, (-1, 1)))[:, 0]


@pytest.mark.parametrize("x", [-3.0, -0.7, 0.0, 1.0, 3.9])
def test_the_formulas(x):
    assert squashed(-INF, INF, x) == pytest.approx(0.5 + math.atan(x) / math.pi, rel=1e-14)
    assert squashed(-3.0, INF, x) == pytest.approx(2 / math.pi * math.atan(x + 3), rel=1e-14)
    assert squashed(-INF, 4.0, x) == pytest.approx(1 - 2 / math.pi * math.atan(4 - x), rel=1e-14)
    assert squashed(-3.0, 4.0, x) == pytest.approx((x + 3) / 7, rel=1e-14)


@each_side
@given(seed=st.integers(0, 2**32 - 1), scale=st.floats(1e-3, 1e6))
def test_it_keeps_the_order_within_the_unit_interval(low, high, seed, scale):
    rng = np.random.default_rng(seed)
    observations = np.sort(np.clip(scale * rng.standard_cauchy(50), low + 1e-6, high - 1e-6))
    unit = squashed(low, high, observations)
    assert (np.diff(unit) >= 0).all()
    assert unit.min() > 0
    assert unit.max() < 1


@each_side
def test_different_observations_stay_different(low, high):
    assert (np.diff(squashed(low, high, np.linspace(-3.0, 4.0, 1000))) > 0).all()


@each_side
def test_the_largest_numbers_stay_in_the_unit_interval(low, high):
    largest = np.finfo(np.float64).max
    least, most = max(low, -largest), min(high, largest)
    np.testing.assert_array_equal(squashed(low, high, [least, most]), [0.0, 1.0])


@each_map
@each_side
def test_every_map_squashes(make, low, high):
    psi = make(([low], [high]))
    unit = squashed(low, high, [-3.0, 0.5, 4.0])
    expected = make(([0.0], [1.0]))(unit[:, None])
    np.testing.assert_allclose(psi([[-3.0], [0.5], [4.0]]), expected, atol=1e-12)


def test_each_dimension_is_squashed_by_itself():
    low, high = np.transpose(list(SIDES.values()))
    points = np.random.default_rng(0).uniform(-3.0, 4.0, size=(2, 5, 4))
    unit = UnitBox((low, high), "squash").unit(points)
    for i in range(4):
        alone = squashed(low[i], high[i], points[..., i].ravel())
        np.testing.assert_array_equal(unit[..., i].ravel(), alone)


def test_a_bounded_box_is_rescaled_as_ever():
    box = ([-0.1, 0.3], [0.7, 0.9])
    points = np.random.default_rng(0).uniform(*box, size=(100, 2))
    np.testing.assert_array_equal(
        UnitBox(box, "squash").unit(points), UnitBox(box, "error").unit(points)
    )


@pytest.mark.parametrize(
    ("low", "high", "x", "interval"),
    [
        (-3.0, 4.0, 4.1, r"\[-3, 4\]"),
        (-3.0, 4.0, -3.1, r"\[-3, 4\]"),
        (-3.0, INF, -3.1, r"\[-3, inf\]"),
        (-INF, 4.0, 4.1, r"\[-inf, 4\]"),
    ],
)
def test_the_sides_that_have_a_bound_keep_it(low, high, x, interval):
    message = rf"observation\[0, 0\] = {x} is outside {interval}; .* make that side infinite"
    with pytest.raises(ValueError, match=message):
        squashed(low, high, x)


@pytest.mark.parametrize("bound", [0.0, 0.1, 1000.1])
def test_float32_rounding_at_a_bound_is_not_outside(bound):
    slack = 1e-7 * max(1.0, bound)
    assert squashed(bound, INF, bound - slack) == 0.0
    assert squashed(-INF, bound, bound + slack) == 1.0
    for low, high, x in [(bound, INF, bound - 100 * slack), (-INF, bound, bound + 100 * slack)]:
        with pytest.raises(ValueError, match="outside"):
            squashed(low, high, x)


@each_map
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_observations_that_are_no_numbers_are_refused(make, value):
    with pytest.raises(ValueError, match=r"observation\[1\] is -?(nan|inf); it must be a finite"):
        make(([0.0, -INF], [1.0, INF]))([0.5, value])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("value", [np.inf, float(np.finfo(np.float32).max), 1e30])
def test_bounds_that_are_none_count_as_infinite(value, dtype):
    low, high = np.array([-value, 0.0, -2.0], dtype=dtype), np.array([value, 1.0, value], dtype)
    read = read_box((low, high), infinite=True)
    np.testing.assert_array_equal(read, [[-INF, 0.0, -2.0], [INF, 1.0, INF]])


@pytest.mark.parametrize(
    ("box", "message"),
    [
        (([INF], [INF]), r"low\[0\] = inf must be less than high\[0\] = inf"),
        (([-INF], [-INF]), r"low\[0\] = -inf must be less than high\[0\] = -inf"),
        (([INF], [-INF]), r"low\[0\] = inf must be less"),
        (([np.nan], [INF]), r"low\[0\] is nan"),
        (([-INF], [np.nan]), r"high\[0\] is nan"),
        ((-INF, INF), r"low has shape \(\)"),
    ],
)
def test_bounds_that_are_wrong_stay_wrong(box, message):
    with pytest.raises(ValueError, match=message):
        UnitBox(box, "squash")


@each_map
def test_cart_pole(make):
    env = gymnasium.make("CartPole-v1")
    psi = make(env.observation_space)
    first, _ = env.reset(seed=0)
    observations = np.array([first, *(env.step(t // 2 % 2)[0] for t in range(20))])
    norms = np.linalg.norm(psi(observations), axis=-1)
    assert norms.min() > 0
    assert norms.max() <= psi.bound + 1e-12
