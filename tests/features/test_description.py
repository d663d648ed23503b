"""Features as JSON and back, to the last bit; and JSON that describes none."""

import copy
import json

import numpy as np
import pytest

from optimist.features import (
    RBF,
    Concatenation,
    Fourier,
    OneHot,
    OneHotState,
    PerAction,
    StateFeatures,
    StateOnly,
    Table,
    Tiles,
    describe,
    from_description,
)

THIRDS = ([-1 / 3, 0.1], [1 / 3, 0.7])
OPEN = ([-np.inf, 0.1], [np.inf, 0.7])
HALF = ([-np.inf, 0.1], [1 / 3, np.inf])


def rng() -> np.random.Generator:
    return np.random.default_rng(5)


STATE_FEATURES = {
    "one-hot": OneHotState(7),
    "tiles": Tiles(THIRDS, bins=(2, 3)),
    "tilings": Tiles(THIRDS, bins=3, tilings=4, outside="clip"),
    "squashed tiles": Tiles(OPEN, bins=3, outside="squash"),
    "rbf": RBF(THIRDS, centres=(2, 3), width=1 / 3),
    "squashed rbf": RBF(HALF, centres=3, outside="squash"),
    "fourier": Fourier(THIRDS, 9, rng(), lengthscale=0.3),
    "squashed fourier": Fourier(OPEN, 9, rng(), outside="squash"),
}
MAPS = {
    "one-hot": OneHot(7, 3),
    **{f"per action, {name}": PerAction(psi, 3) for name, psi in STATE_FEATURES.items()},
    **{f"state only, {name}": StateOnly(psi, 3) for name, psi in STATE_FEATURES.items()},
    "concatenation": Concatenation(
        StateOnly(RBF(THIRDS, 2), 3), PerAction(Fourier(THIRDS, 4, rng()), 3)
    ),
    "three": Concatenation(OneHot(7, 3), Concatenation(OneHot(7, 3), StateOnly(OneHotState(7), 3))),
}


def through_json(data):
    return json.loads(json.dumps(data, allow_nan=False))


def discrete(phi) -> bool:
    if isinstance(phi, Concatenation):
        return discrete(phi.phi_r)
    return isinstance(getattr(phi, "psi", phi), (OneHot, OneHotState))


@pytest.mark.parametrize("phi", MAPS.values(), ids=MAPS.keys())
def test_a_map_comes_back_as_it_was(phi):
    again = from_description(through_json(describe(phi)))
    assert type(again) is type(phi)
    declared = ("dim", "bound", "blocks", "n_actions", "shared")
    for name in declared:
        assert getattr(again, name) == getattr(phi, name)
    states = np.arange(7) if discrete(phi) else rng().uniform(*THIRDS, size=(50, 2))
    np.testing.assert_array_equal(again.all_actions(states), phi.all_actions(states))
    for mine, theirs in zip(again.in_blocks(states), phi.in_blocks(states), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert describe(again) == describe(phi)


@pytest.mark.parametrize("outside", ["error", "clip", "squash"])
def test_what_happens_outside_is_remembered(outside):
    phi = PerAction(Tiles(THIRDS, bins=2, outside=outside), 2)
    again = from_description(through_json(describe(phi)))
    assert again.psi.box.outside == outside


def test_attributes_come_back_too():
    psi = Fourier(OPEN, 9, rng(), lengthscale=0.3, outside="squash")
    again = from_description(through_json(describe(StateOnly(psi, 2)))).psi
    assert (again.pairs, again.lengthscale) == (9, 0.3)
    np.testing.assert_array_equal(again.frequencies, psi.frequencies)
    assert again.box.low.tolist() == [-np.inf, 0.1]
    with pytest.raises(ValueError, match="read-only"):
        again.frequencies[0, 0] = 0.0


def test_infinite_bounds_are_written_as_words():
    data = describe(PerAction(Tiles(HALF, bins=2, outside="squash"), 2))
    assert data["psi"]["box"]["low"] == ["-inf", 0.1]
    assert data["psi"]["box"]["high"] == [1 / 3, "inf"]


class Own(StateFeatures):
    def __init__(self):
        super().__init__(dim=2, bound=1.0, blocks=1)

    def __call__(self, observations):
        raise NotImplementedError


class OwnTiles(Tiles):
    pass


class OwnMap(PerAction):
    pass


@pytest.mark.parametrize(
    "features",
    [
        Table(np.ones((7, 3, 2))),
        PerAction(Own(), 3),
        PerAction(OwnTiles(THIRDS, 2), 3),
        OwnMap(OneHotState(7), 3),
        Concatenation(OneHot(7, 3), Table(np.ones((7, 3, 2)))),
        Concatenation(StateOnly(Own(), 3), OneHot(7, 3)),
        OneHotState(7),
        None,
        "OneHot",
    ],
)
def test_of_anything_else_there_is_no_description(features):
    assert describe(features) is None


TILES = describe(PerAction(Tiles(THIRDS, bins=(2, 3)), 3))
FOURIER = describe(StateOnly(Fourier(THIRDS, 2, rng()), 3))
BOTH = describe(MAPS["concatenation"])
GRID = {"kind": "RBF", "box": TILES["psi"]["box"], "centres": [2, 2], "width": 0.5}


def changed(data, *path, to):
    data = copy.deepcopy(data)
    inner = data
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = to
    return data


def without(data, *path):
    data = copy.deepcopy(data)
    inner = data
    for key in path[:-1]:
        inner = inner[key]
    del inner[path[-1]]
    return data


def deep(n: int):
    data = describe(OneHot(2, 2))
    for _ in range(n):
        data = {"kind": "Concatenation", "phi_r": describe(OneHot(2, 2)), "phi_P": data}
    return data


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (None, "None must be an object with a kind"),
        ([TILES], r"\[.*\.\.\. must be an object with a kind"),
        ("OneHot", "'OneHot' must be an object with a kind"),
        ({}, "must be an object with a kind"),
        ({"kind": ["OneHot"]}, "must be an object with a kind"),
        ({"kind": "Table"}, "'Table' is none of the kinds OneHot, OneHotState, PerAction"),
        ({"kind": "__import__"}, "is none of the kinds"),
        (TILES["psi"], "Tiles describes states alone; PerAction or StateOnly must be around it"),
        (without(TILES, "n_actions"), r"PerAction must have the keys .*'n_actions'\), not"),
        (changed(TILES, "more", to=1), r"PerAction must have the keys .*, not .*'more'"),
        (changed(TILES, "n_actions", to=0), "n_actions = 0 must be at least 1"),
        (changed(TILES, "n_actions", to=2.0), "n_actions = 2.0 is not a whole number"),
        (changed(TILES, "n_actions", to=True), "n_actions = True is not a whole number"),
        (changed(TILES, "psi", to=3), "3 must be an object with a kind"),
        (changed(TILES, "psi", to=describe(OneHot(2, 2))), "must be StateFeatures"),
        (without(TILES, "psi", "bins"), "Tiles must have the keys"),
        (changed(TILES, "psi", "bins", to=[2]), "bins has 1 entries"),
        (changed(TILES, "psi", "bins", to=[2, None]), r"bins\[1\] = None is not a whole number"),
        (changed(TILES, "psi", "bins", to="23"), r"bins\[0\] = '2' is not a whole number"),
        (changed(TILES, "psi", "bins", to=[10**400, 2]), r"2\.0e\+400 features"),
        (changed(TILES, "psi", "tilings", to="1"), "tilings = '1' is not a whole number"),
        (changed(TILES, "psi", "tilings", to=10**12), r"1\.2e\+13 features"),
        (changed(TILES, "psi", "box", to=[0, 1]), r"box = \[0, 1\] must be an object"),
        (without(TILES, "psi", "box", "low"), "box must have the keys"),
        (changed(TILES, "psi", "box", "low", to=0.0), "low = 0.0 must be a list of numbers"),
        (changed(TILES, "psi", "box", "low", to=[0.0]), "high has shape"),
        (changed(TILES, "psi", "box", "low", to=["a", 0]), "low holds <U"),
        (changed(TILES, "psi", "box", "low", to=[None, 0]), "low holds object"),
        (changed(TILES, "psi", "box", "low", to=[[0], 0]), "inhomogeneous"),
        (changed(TILES, "psi", "box", "low", to=[9, 9]), r"low\[0\] = 9 must be less than"),
        (changed(TILES, "psi", "box", "low", to=["-inf", 0]), r"low\[0\] = -inf is no bound"),
        (changed(TILES, "psi", "box", "outside", to="wrap"), "outside = 'wrap' must be"),
        (changed(TILES, "psi", "box", "outside", to={}), "outside = {} must be"),
        (changed(TILES, "psi", to={**GRID, "width": "0.5"}), "width holds <U3, not real numbers"),
        (changed(TILES, "psi", to={**GRID, "width": 10**400}), "width holds object"),
        (changed(TILES, "psi", to={**GRID, "width": -1}), "width = -1 must be positive"),
        (changed(TILES, "psi", to={**GRID, "centres": 2.5}), "centres = 2.5 is not a whole"),
        (changed(FOURIER, "psi", "frequencies", to=[[1, 2]]), r"frequencies has shape \(1, 2\)"),
        (changed(FOURIER, "psi", "frequencies", to=[1, 2]), r"frequencies has shape \(2,\)"),
        (changed(FOURIER, "psi", "frequencies", to=[[], []]), "pairs = 0 must be at least 1"),
        (changed(FOURIER, "psi", "frequencies", to=[[1], []]), "frequencies is not an array"),
        (changed(FOURIER, "psi", "frequencies", to=[["1"], ["2"]]), "frequencies holds <U1"),
        (changed(FOURIER, "psi", "frequencies", to=None), "frequencies holds object"),
        (changed(FOURIER, "psi", "lengthscale", to=0), "lengthscale = 0 must be positive"),
        (changed(BOTH, "phi_r", to=TILES["psi"]), "phi_r = .* must be a FeatureMap"),
        (changed(BOTH, "phi_r", "n_actions", to=2), "phi_r has 2 actions and phi_P has 3"),
        (deep(10_000), "recursion"),
    ],
)
def test_what_describes_no_features_is_refused(data, message):
    with pytest.raises(ValueError, match=f"^not a description of features: .*{message}"):
        from_description(data)
