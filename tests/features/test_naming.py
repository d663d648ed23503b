"""Names of features, those to begin with, and names that are none."""

import numpy as np
import pytest
from gymnasium import spaces
from numpy.testing import assert_array_equal
from reference.refusals import assert_refuses

from optimist.features import RBF, Fourier, OneHot, PerAction, Tiles, default_name, features_named

BOX = spaces.Box(np.array([-1.0, 0.0]), np.array([1.0, 5.0]), dtype=np.float64)
OPEN = spaces.Box(np.array([-1.0, -np.inf]), np.array([1.0, np.inf]), dtype=np.float64)
POINTS = np.random.default_rng(0).uniform(BOX.low, BOX.high, size=(50, 2))

WRONG = [
    *("", "tile:3", "tiles", "tiles:", "tiles:x", "tiles:3x", "tiles:3.5", "tiles:-3", "tiles: 3"),
    *("tiles:3*", "tiles:3*2*2", "tiles:1234567890", "Tiles:3", "tiles:3\n", "rbf:3*2", "fourier"),
    *("fourier:3x3", "onehot:", "onehot:5", "onehot\n", None, 5),
    "tiles:٣",  # a digit, but not one of ours
]


def test_one_hot():
    phi = features_named("onehot", spaces.Discrete(5), 3)
    assert type(phi) is OneHot
    assert (phi.n_states, phi.n_actions) == (5, 3)
    assert type(phi.n_states) is int


@pytest.mark.parametrize(
    ("name", "psi"),
    [
        ("tiles:12", Tiles(BOX, 12)),
        ("tiles:12x8", Tiles(BOX, (12, 8))),
        ("tiles:8*4", Tiles(BOX, 8, tilings=4)),
        ("tiles:8x6*4", Tiles(BOX, (8, 6), tilings=4)),
        ("rbf:12", RBF(BOX, 12)),
        ("rbf:12x8", RBF(BOX, (12, 8))),
        ("fourier:100", Fourier(BOX, 100, np.random.default_rng(0))),
    ],
)
def test_features_of_a_box(name, psi):
    phi = features_named(name, BOX, 3)
    assert type(phi) is PerAction
    assert type(phi.psi) is type(psi)
    assert (phi.n_actions, phi.psi.dim, phi.psi.box.outside) == (3, psi.dim, "warn")
    assert_array_equal(phi.all_actions(POINTS), PerAction(psi, 3).all_actions(POINTS))


def test_dimensions_without_a_bound_are_squashed():
    for name in ("tiles:3", "tiles:3*2", "rbf:3x2", "fourier:7"):
        phi = features_named(name, OPEN, 2)
        assert phi.psi.box.outside == "warn"
        assert phi([0.0, 1e9], 1).shape == (phi.dim,)
        with pytest.warns(UserWarning, match=r"observation\[0\] = 2 is outside \[-1, 1\]"):
            np.testing.assert_array_equal(phi([2.0, 0.0], 1), phi([1.0, 0.0], 1))


def test_the_error_for_a_wrong_name_lists_the_right_ones():
    rights = ("onehot", "tiles:12", "tiles:12x8", "tiles:8*4", "rbf:12x8", "fourier:100")
    for name in WRONG:
        for space in (BOX, spaces.Discrete(5)):
            with pytest.raises(ValueError, match="is not a name of features; there are") as caught:
                features_named(name, space, 2)
            assert str(caught.value).startswith(repr(name))
            assert all(f"'{right}'" in str(caught.value) for right in rights)


def test_names_and_numbers_that_do_not_fit_the_space_are_refused():
    assert_refuses(
        lambda name: features_named(name, BOX, 2),
        ("onehot", ValueError, r"those of Box.* are tiles, .* such as 'tiles:40'"),
        ("tiles:3x0", ValueError, r"bins\[1\] must be at least 1; got 0"),
        ("tiles:3x3x3", ValueError, "bins must be .* each of the 2 dimensions .* got 3"),
        ("tiles:3*0", ValueError, "tilings must be at least 1; got 0"),
        ("rbf:1x2x3", ValueError, "centres must be .* got 3"),
        ("fourier:0", ValueError, "pairs must be at least 1; got 0"),
    )
    with pytest.raises(ValueError, match=r"'rbf:3' are .* those of Discrete\(5\) are 'onehot'"):
        features_named("rbf:3", spaces.Discrete(5), 2)
    for space in (BOX, spaces.Discrete(5)):
        with pytest.raises(TypeError, match=r"n_actions must be a whole number; got Discrete\(2\)"):
            features_named(default_name(space), space, spaces.Discrete(2))
    image = spaces.Box(0, 255, (8, 8), np.uint8)
    assert_refuses(
        lambda name: features_named(name, image, 2),
        ("tiles:3", ValueError, "of a Box with one axis; those of Box.* are 'distinct'"),
        ("onehot", ValueError, "of Discrete observations, or of several .* are 'distinct'"),
    )


def test_the_default_fits_the_space():
    for space, name in [
        (spaces.Discrete(5), "onehot"),
        (spaces.Box(0.0, 1.0, (1,)), "tiles:40"),
        (spaces.Box(0.0, 1.0, (2,)), "tiles:40"),
        (spaces.Box(0.0, 1.0, (3,)), "tiles:15"),
        (spaces.Box(-np.inf, 1.0, (4,)), "tiles:8"),
        (spaces.Box(0.0, 1.0, (6,)), "tiles:5"),
        (spaces.Box(0.0, 1.0, (7,)), "fourier:100"),
        (spaces.Box(0, 255, (128,), np.uint8), "fourier:100"),
    ]:
        assert default_name(space) == name
        space.seed(0)
        phi = features_named(name, space, 2)
        assert phi(space.sample(), 1).shape == (phi.dim,)
