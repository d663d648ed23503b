"""Names of features, those to begin with, and names that are none."""

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from optimist.features import (
    RBF,
    Fourier,
    OneHot,
    PerAction,
    Tiles,
    default_name,
    features_named,
)

BOX = spaces.Box(np.array([-1.0, 0.0]), np.array([1.0, 5.0]), dtype=np.float64)
OPEN = spaces.Box(np.array([-1.0, -np.inf]), np.array([1.0, np.inf]), dtype=np.float64)
POINTS = np.random.default_rng(0).uniform(BOX.low, BOX.high, size=(50, 2))


def test_one_hot():
    phi = features_named("onehot", spaces.Discrete(5), 3)
    assert type(phi) is OneHot
    assert (phi.n_states, phi.n_actions) == (5, 3)
    assert type(phi.n_states) is int


def same_rng() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.mark.parametrize(
    ("name", "psi"),
    [
        ("tiles:12", Tiles(BOX, 12)),
        ("tiles:12x8", Tiles(BOX, (12, 8))),
        ("tiles:8*4", Tiles(BOX, 8, tilings=4)),
        ("tiles:8x6*4", Tiles(BOX, (8, 6), tilings=4)),
        ("rbf:12", RBF(BOX, 12)),
        ("rbf:12x8", RBF(BOX, (12, 8))),
        ("fourier:100", Fourier(BOX, 100, same_rng())),
    ],
)
def test_features_of_a_box(name, psi):
    phi = features_named(name, BOX, 3)
    assert type(phi) is PerAction
    assert type(phi.psi) is type(psi)
    assert (phi.n_actions, phi.psi.dim, phi.psi.box.outside) == (3, psi.dim, "error")
    np.testing.assert_array_equal(phi.all_actions(POINTS), PerAction(psi, 3).all_actions(POINTS))


@pytest.mark.parametrize("name", ["tiles:3", "tiles:3*2", "rbf:3x2", "fourier:7"])
def test_what_has_no_bound_is_squashed(name):
    phi = features_named(name, OPEN, 2)
    assert phi.psi.box.outside == "squash"
    assert phi([0.0, 1e9], 1).shape == (phi.dim,)
    with pytest.raises(ValueError, match=r"observation\[0\] = 2 is outside \[-1, 1\]"):
        phi([2.0, 0.0], 1)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "tile:3",
        "tiles",
        "tiles:",
        "tiles:x",
        "tiles:3x",
        "tiles:3.5",
        "tiles:-3",
        "tiles: 3",
        "tiles:3*",
        "tiles:3*2*2",
        "tiles:1234567890",
        "tiles:٣",  # a digit, but not one of ours
        "Tiles:3",
        "rbf:3*2",
        "fourier",
        "fourier:3x3",
        "onehot:",
        "onehot:5",
        "onehot\n",
        "tiles:3\n",
        None,
        5,
    ],
)
def test_wrong_names_are_answered_by_the_right_ones(name):
    for space in (BOX, spaces.Discrete(5)):
        with pytest.raises(ValueError, match="is no name of features; there are") as caught:
            features_named(name, space, 2)
        for right in ("onehot", "tiles:12", "tiles:12x8", "tiles:8*4", "rbf:12x8", "fourier:100"):
            assert f"'{right}'" in str(caught.value)
        assert str(caught.value).startswith(repr(name))


def test_names_for_other_observations():
    with pytest.raises(ValueError, match=r"those of Box.* are tiles, .* such as 'tiles:40'"):
        features_named("onehot", BOX, 2)
    with pytest.raises(ValueError, match=r"'rbf:3' are .* those of Discrete\(5\) are 'onehot'"):
        features_named("rbf:3", spaces.Discrete(5), 2)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("tiles:0", "bins = 0 must be at least 1"),
        ("tiles:3x0", r"bins\[1\] = 0 must be at least 1"),
        ("tiles:3x3x3", "bins has 3 entries; .* each of the 2 dimensions"),
        ("tiles:3*0", "tilings = 0 must be at least 1"),
        ("tiles:99999x99999", r"has 1\.0e\+10 features"),
        ("rbf:1x2x3", "centres has 3 entries"),
        ("fourier:0", "pairs = 0 must be at least 1"),
    ],
)
def test_numbers_that_do_not_fit(name, message):
    with pytest.raises(ValueError, match=message):
        features_named(name, BOX, 2)


@pytest.mark.parametrize("space", [BOX, spaces.Discrete(5)])
def test_actions_are_counted(space):
    with pytest.raises(TypeError, match=r"n_actions = Discrete\(2\) is not a whole number"):
        features_named(default_name(space), space, spaces.Discrete(2))


@pytest.mark.parametrize(
    ("space", "name"),
    [
        (spaces.Discrete(5), "onehot"),
        (spaces.Box(0.0, 1.0, (1,)), "tiles:40"),
        (spaces.Box(0.0, 1.0, (2,)), "tiles:40"),
        (spaces.Box(0.0, 1.0, (3,)), "tiles:15"),
        (spaces.Box(-np.inf, 1.0, (4,)), "tiles:8"),
        (spaces.Box(0.0, 1.0, (6,)), "tiles:5"),
        (spaces.Box(0.0, 1.0, (7,)), "fourier:100"),
        (spaces.Box(0, 255, (128,), np.uint8), "fourier:100"),
    ],
)
def test_the_default_fits_the_space(space, name):
    assert default_name(space) == name
    space.seed(0)
    phi = features_named(name, space, 2)
    assert phi(space.sample(), 1).shape == (phi.dim,)


@pytest.mark.parametrize("call", [default_name, lambda space: features_named("tiles:3", space, 2)])
def test_other_spaces_are_refused(call):
    with pytest.raises(TypeError, match=r"not MultiBinary\(3\); .*FlattenObservation"):
        call(spaces.MultiBinary(3))


def test_default_tilings_are_diagonal_and_small():
    for k in range(1, 5):
        phi = features_named(default_name(spaces.Box(0.0, 1.0, (k,))), spaces.Box(0, 1, (k,)), 3)
        assert phi.structure == "diagonal"
        assert phi.dim <= 20_000


@pytest.mark.parametrize("name", ["MountainCar-v0", "CartPole-v1", "Acrobot-v1", "Taxi-v4"])
def test_environments_of_gymnasium(name):
    env = gymnasium.make(name)
    phi = features_named(default_name(env.observation_space), env.observation_space, 2)
    observation, _ = env.reset(seed=0)
    for _ in range(8):
        assert np.linalg.norm(phi(observation, 1)) == pytest.approx(1.0)
        observation, *_ = env.step(0)
