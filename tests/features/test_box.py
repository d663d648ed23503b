"""Reading boxes, and observations inside and outside of them."""

import gymnasium
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimist.features import RBF, Fourier, Tiles, read_box
from optimist.features.box import UnitBox

BOX = ([-1.0, 0.0], [1.0, 5.0])

MAPS = {
    "tiles": lambda box, **options: Tiles(box, bins=3, **options),
    "rbf": lambda box, **options: RBF(box, centres=3, **options),
    "fourier": lambda box, **options: Fourier(box, 4, np.random.default_rng(0), **options),
}
each_map = pytest.mark.parametrize("make", MAPS.values(), ids=MAPS.keys())


def test_a_pair_and_a_space_read_the_same():
    space = gymnasium.spaces.Box(np.array([-1.0, 0.0]), np.array([1.0, 5.0]), dtype=np.float64)
    for box in (space, BOX, list(BOX), ([-1, 0], np.array([1, 5]))):
        low, high = read_box(box)
        np.testing.assert_array_equal(low, [-1.0, 0.0])
        np.testing.assert_array_equal(high, [1.0, 5.0])
        assert low.dtype == high.dtype == np.float64


def test_the_bounds_are_copies():
    low, high = np.array([0.0]), np.array([1.0])
    box = UnitBox((low, high), "error")
    low[0] = high[0] = 99.0
    assert (box.low[0], box.high[0]) == (0.0, 1.0)
    with pytest.raises(ValueError, match="read-only"):
        box.low[0] = 99.0


@pytest.mark.parametrize(
    "box", [gymnasium.spaces.Discrete(5), None, 3.0, ([0.0],), "box", [1, 2, 3]]
)
def test_no_bounds(box):
    with pytest.raises(TypeError, match=r"has no low and high; .* OneHotState"):
        read_box(box)


@pytest.mark.parametrize("value", [np.inf, float(np.finfo(np.float32).max), 1e30])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_bounds_that_are_none(value, dtype):
    with pytest.raises(ValueError, match=r"high\[1\] = .* is no bound .* outside='squash'"):
        read_box(([0.0, 0.0], np.array([1.0, value], dtype=dtype)))
    with pytest.raises(ValueError, match=r"low\[0\] = -.* is no bound .* outside='clip'"):
        read_box((np.array([-value, 0.0], dtype=dtype), [1.0, 1.0]))


@pytest.mark.parametrize(
    ("box", "error", "message"),
    [
        (([0.0, 1.0], [1.0, 1.0]), ValueError, r"low\[1\] = 1 must be less than high\[1\] = 1"),
        (([2.0], [1.0]), ValueError, r"low\[0\] = 2 must be less than high\[0\] = 1"),
        (([0.0, 0.0], [1.0]), ValueError, r"high has shape \(1,\); it must have shape \(2,\)"),
        ((0.0, 1.0), ValueError, r"low has shape \(\); it must be a list of one number per dim"),
        (([[0.0]], [[1.0]]), ValueError, r"low has shape \(1, 1\); it must be a list"),
        (([], []), ValueError, r"low has shape \(0,\); it must be a list"),
        (([np.nan], [1.0]), ValueError, r"low\[0\] is nan"),
        ((["a"], ["b"]), TypeError, "low holds <U1, not real numbers"),
        (([0.0], [1j]), TypeError, "high holds complex128, not real numbers"),
    ],
)
def test_bounds_that_are_wrong(box, error, message):
    with pytest.raises(error, match=message):
        read_box(box)


@pytest.mark.parametrize("outside", ["error", "clip", "squash"])
def test_the_box_becomes_the_unit_cube(outside):
    unit = UnitBox(BOX, outside).unit
    corners = unit([[-1.0, 0.0], [-1.0, 5.0], [1.0, 0.0], [1.0, 5.0]])
    np.testing.assert_array_equal(corners, [[0, 0], [0, 1], [1, 0], [1, 1]])
    np.testing.assert_allclose(unit([0.5, 1.0]), [0.75, 0.2])


widths = st.floats(1e-6, 1e6)


@given(st.floats(-1e6, 1e6), widths, st.floats(0.0, 1.0))
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
    with pytest.raises(ValueError, match="outside"):
        unit([high + 2e-6 * (high - low)])
    with pytest.raises(ValueError, match="outside"):
        unit([low - 2e-6 * (high - low)])


@each_map
def test_outside_is_an_error_unless_clipping_is_chosen(make):
    observations = [[0.0, 1.0], [0.0, 7.0], [-3.0, 1.0]]
    message = r"observation\[1, 1\] = 7 is outside \[0, 5\]; widen the box, or pass outside='clip'"
    with pytest.raises(ValueError, match=message):
        make(BOX)(observations)
    with pytest.raises(ValueError, match=r"observation\[0\] = -3 is outside \[-1, 1\]"):
        make(BOX)(observations[2])
    clipped = make(BOX, outside="clip")(observations)
    np.testing.assert_array_equal(clipped, make(BOX)([[0.0, 1.0], [0.0, 5.0], [-1.0, 1.0]]))


@each_map
def test_other_ways_to_treat_the_outside_are_refused(make):
    with pytest.raises(ValueError, match="outside = 'wrap' must be 'error', 'clip' or 'squash'"):
        make(BOX, outside="wrap")


@each_map
@pytest.mark.parametrize("outside", ["error", "clip", "squash"])
@pytest.mark.parametrize(
    ("observation", "error", "message"),
    [
        ([[0.0, 1.0], [np.nan, 1.0]], ValueError, r"observation\[1, 0\] is nan"),
        ([0.0, np.inf], ValueError, r"observation\[1\] is inf"),
        (["a", "b"], TypeError, "observation holds <U1, not real numbers"),
        ([0.0, 1j], TypeError, "observation holds complex128, not real numbers"),
        ([0.0, None], TypeError, "observation holds object, not real numbers"),
        ([[0.0, 1.0], [0.0]], ValueError, "observation is not an array"),
        ([0.0], ValueError, r"observation has shape \(1,\); its last axis must have length 2"),
        ([[0.0, 1.0, 2.0]], ValueError, r"observation has shape \(1, 3\); .* length 2"),
        (0.0, ValueError, r"observation has shape \(\); .* length 2"),
    ],
)
def test_observations_that_are_wrong(make, outside, observation, error, message):
    with pytest.raises(error, match=message):
        make(BOX, outside=outside)(observation)


@each_map
def test_mountain_car(make):
    env = gymnasium.make("MountainCar-v0")
    psi = make(env.observation_space)
    first, _ = env.reset(seed=0)
    swing = [env.step((t // 20 % 2) * 2)[0] for t in range(100)]
    corners = [env.observation_space.low, env.observation_space.high]
    norms = np.linalg.norm(psi(np.array([first, *swing, *corners])), axis=-1)
    assert norms.shape == (103,)
    assert norms.min() > 0
    assert norms.max() <= psi.bound + 1e-12


@each_map
def test_cart_pole_needs_bounds_by_hand(make):
    env = gymnasium.make("CartPole-v1")
    with pytest.raises(ValueError, match=r"low\[1\] = -inf is no bound .* pair \(low, high\)"):
        make(env.observation_space)
    high = np.array([2.4, 3.0, 0.21, 3.0])
    psi = make((-high, high), outside="clip")
    observation, _ = env.reset(seed=0)
    assert psi(observation).shape == (psi.dim,)
