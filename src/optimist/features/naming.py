"""Features by name, such as ``tiles:12x8``, for the observations of a Gymnasium environment."""

import re

import numpy as np
from gymnasium import spaces

from optimist.features.base import FeatureMap, StateFeatures
from optimist.features.box import Outside
from optimist.features.distinct import Distinct
from optimist.features.fourier import Fourier
from optimist.features.one_hot import OneHot
from optimist.features.per_action import PerAction
from optimist.features.product import OneHotProduct
from optimist.features.rbf import RBF
from optimist.features.spaces import Space, has_real_numbers, parts_of
from optimist.features.tiles import Tiles

BINS = {1: 40, 2: 40, 3: 15, 4: 8, 5: 5, 6: 5}
"""The default number of tiles along a side of a box, by its number of dimensions."""

COMBINATIONS = 100_000
"""Observations of more combinations of whole numbers are not one-hot by default, but distinct."""

NUMBER = "[0-9]{1,9}"
SIDES = f"{NUMBER}(?:x{NUMBER})*"
FORMS = {
    "onehot": re.compile(""),
    "distinct": re.compile(""),
    "tiles": re.compile(rf":({SIDES})(?:\*({NUMBER}))?"),
    "rbf": re.compile(f":({SIDES})"),
    "fourier": re.compile(f":({NUMBER})"),
}
"""The part of a name after each kind of features."""


def features_named(name: str, observation_space: Space, n_actions: int) -> FeatureMap:
    """The features with a name; the same name gives the same features.

    =========================  ==============================================================
    Name                       Features of an observation, repeated for each action
    =========================  ==============================================================
    onehot                     `OneHot`, if the observations are made of discrete spaces
    distinct                   `Distinct`, of any observations: each is a state of its own
    tiles:12, tiles:12x8       `Tiles`, 12 along each dimension of a Box, or 12 and 8
    tiles:8*4, tiles:8x6*4     four such tilings
    rbf:12, rbf:12x8           `RBF` with as many centres along each dimension
    fourier:100                `Fourier` with 100 pairs, of frequencies drawn from the seed 0
    =========================  ==============================================================

    Dimensions of a Box without a bound are squashed onto the unit interval. Observations outside
    the bounds count as ones on the border, with a warning.

    Parameters
    ----------
    name
        One of the above; `default_name` chooses one.
    observation_space
        The space of the observations.
    n_actions
        The number of actions; `count_actions` reads it from a space.

    Examples
    --------
    >>> import gymnasium
    >>> env = gymnasium.make("MountainCar-v0")
    >>> phi = features_named("tiles:12x8", env.observation_space, n_actions=3)
    >>> phi.psi.bins, phi.dim
    ((12, 8), 288)
    """
    kind, numbers = _parse(name)
    space, parts = observation_space, parts_of(observation_space)
    if kind == "distinct":
        return Distinct(n_actions, axes=len(space.shape or ()))
    if kind == "onehot":
        if parts is None:
            raise ValueError(
                f"'onehot' are features of Discrete observations, or of several such together; "
                f"those of {space} are {_instead(space)}"
            )
        if isinstance(space, spaces.Discrete) and space.start == 0:
            return OneHot(int(space.n), n_actions)
        return PerAction(OneHotProduct(*parts, axes=len(space.shape or (0,))), n_actions)
    if not (isinstance(space, spaces.Box) and len(space.shape) == 1):
        raise ValueError(
            f"{name!r} are features of a Box with one axis; those of {space} are {_instead(space)}"
        )
    return PerAction(_on_box(kind, numbers, space), n_actions)


def default_name(observation_space: Space) -> str:
    """The name of default features: one-hot, tiles, Fourier, or distinct observations.

    A single tiling is one-hot: its covariance is diagonal, and repeated next states reduce to
    counts, so the cost of an episode does not grow. But a grid grows exponentially with the
    dimension; random Fourier features do not. Images of whole numbers, text and what is made of
    several spaces are distinct observations.

    Examples
    --------
    >>> default_name(spaces.Discrete(16)), default_name(spaces.Box(-1.0, 1.0, (2,)))
    ('onehot', 'tiles:40')
    >>> default_name(spaces.Box(-1.0, 1.0, (8,)))
    'fourier:100'
    >>> default_name(spaces.Dict(image=spaces.Box(0, 255, (7, 7, 3), np.uint8), to=spaces.Text(9)))
    'distinct'
    """
    space, parts = observation_space, parts_of(observation_space)
    if parts is not None:
        simple = isinstance(space, spaces.Discrete) or parts.combinations <= COMBINATIONS
        return "onehot" if simple else "distinct"
    if isinstance(space, spaces.Box) and len(space.shape) == 1:
        n_dims = space.shape[0]
        return f"tiles:{BINS[n_dims]}" if n_dims in BINS else "fourier:100"
    if not isinstance(space, spaces.Space):
        raise TypeError(f"observations must have a space of Gymnasium; got {space!r}")
    if has_real_numbers(space):
        raise TypeError(
            f"there are no default features of {space}, which holds real numbers: "
            "gymnasium.wrappers.FlattenObservation makes one array of it, features of your own can "
            "be a subclass of StateFeatures, and 'distinct' makes a state of each observation"
        )
    return "distinct"


def _parse(name: str) -> tuple[str, re.Match[str]]:
    """The kind of features, and the numbers that follow it."""
    kind = str(name).partition(":")[0]
    numbers = FORMS[kind].fullmatch(name, len(kind)) if kind in FORMS else None
    if numbers is None:
        raise ValueError(
            f"{name!r} is not a name of features; there are 'onehot' for Discrete observations, "
            "'distinct' for any, and for a Box 'tiles:12' or 'tiles:12x8' (how many along each "
            "dimension), 'tiles:8*4' (four tilings of 8), 'rbf:12' or 'rbf:12x8', and "
            "'fourier:100' (how many pairs)"
        )
    return kind, numbers


def _instead(space: Space) -> str:
    """The features that fit a space, in words."""
    if isinstance(space, spaces.Box) and len(space.shape) == 1:
        return f"tiles, rbf or fourier, such as {default_name(space)!r}"
    return "'distinct'" if parts_of(space) is None else "'onehot' or 'distinct'"


def _on_box(kind: str, numbers: re.Match[str], box: spaces.Box) -> StateFeatures:
    outside: Outside = "warn"
    if kind == "fourier":
        return Fourier(box, int(numbers[1]), np.random.default_rng(0), outside=outside)
    sides = [int(side) for side in numbers[1].split("x")]
    along = sides if len(sides) > 1 else sides[0]
    if kind == "rbf":
        return RBF(box, along, outside=outside)
    return Tiles(box, along, int(numbers[2] or 1), outside=outside)
