"""Features as JSON and back, to the last bit; and JSON that describes none."""

import copy
import functools
import json
import operator

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from reference.features import DenseStateFeatures
from reference.refusals import assert_refuses

from optimist.features import (
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


def through_json(data):
    return json.loads(json.dumps(data, allow_nan=False))


def test_a_map_comes_back_as_it_was(case):
    phi = case.features
    if isinstance(phi, StateFeatures):
        phi = PerAction(phi, 3)
    if isinstance(phi, Table):
        assert describe(phi) is None  # its array is better kept in a file
        return
    again = from_description(through_json(describe(phi)))
    assert type(again) is type(phi)
    for name in ("dim", "bound", "blocks", "n_actions", "shared"):
        assert getattr(again, name) == getattr(phi, name)
    states = case.draw(rng(), (50,))
    assert_array_equal(again.all_actions(states), phi.all_actions(states))
    for mine, theirs in zip(again.in_blocks(states), phi.in_blocks(states), strict=True):
        assert_array_equal(mine, theirs)
    assert describe(again) == describe(phi)


def test_attributes_come_back_too():
    for outside in ("error", "clip", "squash", "warn"):
        phi = PerAction(Tiles(THIRDS, bins=2, outside=outside), 2)
        assert from_description(through_json(describe(phi))).psi.box.outside == outside
    psi = Fourier(OPEN, 9, rng(), lengthscale=0.3, outside="squash")
    again = from_description(through_json(describe(StateOnly(psi, 2)))).psi
    assert (again.pairs, again.lengthscale) == (9, 0.3)
    assert_array_equal(again.frequencies, psi.frequencies)
    assert again.box.low.tolist() == [-np.inf, 0.1]
    with pytest.raises(ValueError, match="read-only"):
        again.frequencies[0, 0] = 0.0


def test_infinite_bounds_are_written_as_words():
    data = describe(PerAction(Tiles(HALF, bins=2, outside="squash"), 2))
    assert data["psi"]["box"]["low"] == ["-inf", 0.1]
    assert data["psi"]["box"]["high"] == [1 / 3, "inf"]


class OwnTiles(Tiles):
    pass


class OwnMap(PerAction):
    pass


def test_other_features_have_no_description():
    own, table = DenseStateFeatures(7, 2), Table(np.ones((7, 3, 2)))
    for features in (
        table,
        PerAction(own, 3),
        PerAction(OwnTiles(THIRDS, 2), 3),
        OwnMap(OneHotState(7), 3),
        Concatenation(OneHot(7, 3), table),
        Concatenation(StateOnly(own, 3), OneHot(7, 3)),
        OneHotState(7),
        None,
        "OneHot",
    ):
        assert describe(features) is None, features


TILES = describe(PerAction(Tiles(THIRDS, bins=(2, 3)), 3))
FOURIER = describe(StateOnly(Fourier(THIRDS, 2, rng()), 3))
BOTH = describe(Concatenation(OneHot(2, 3), OneHot(2, 3)))
GRID = {"kind": "RBF", "box": TILES["psi"]["box"], "centres": [2, 2], "width": 0.5}
MISSING = object()


def changed(data, *path, to):
    """The data with the entry at the path replaced, or removed if ``to`` is `MISSING`."""
    data = copy.deepcopy(data)
    *inner, last = path
    entry = functools.reduce(operator.getitem, inner, data)
    entry[last] = to
    if to is MISSING:
        del entry[last]
    return data


def deep(n: int):
    data = describe(OneHot(2, 2))
    for _ in range(n):
        data = {"kind": "Concatenation", "phi_r": describe(OneHot(2, 2)), "phi_P": data}
    return data


def psi(*path, to):
    """A description of tiles with a change of the state features."""
    return changed(TILES, "psi", *path, to=to)


def test_bad_descriptions_are_refused():
    cases = [
        (None, "must be an object with a kind; got None"),
        ([TILES], r"must be an object with a kind; got \[.*\.\.\."),
        ("OneHot", "must be an object with a kind; got 'OneHot'"),
        ({}, "must be an object with a kind"),
        ({"kind": ["OneHot"]}, "must be an object with a kind"),
        ({"kind": "Table"}, "kind must be one of OneHot, OneHotState, .* got 'Table'"),
        ({"kind": "__import__"}, "kind must be one of"),
        (TILES["psi"], "Tiles is a map of states; wrap it in PerAction or StateOnly"),
        (changed(TILES, "n_actions", to=MISSING), r"PerAction must have .*'n_actions'\); got"),
        (changed(TILES, "more", to=1), r"PerAction must have the keys .*; got .*'more'"),
        (changed(TILES, "n_actions", to=0), "n_actions must be at least 1; got 0"),
        (changed(TILES, "n_actions", to=True), "n_actions must be a whole number; got True"),
        (psi(to=3), "must be an object with a kind; got 3"),
        (psi(to=describe(OneHot(2, 2))), "must be StateFeatures"),
        (psi("bins", to=MISSING), "Tiles must have the keys"),
        (psi("bins", to=[2, None]), r"bins\[1\] must be a whole number; got None"),
        (psi("bins", to="23"), r"bins\[0\] must be a whole number; got '2'"),
        (psi("bins", to=[10**400, 2]), r"= 2\.0e\+400; make it coarser"),
        (psi("tilings", to=10**12), r"= 1\.2e\+13; make it"),
        (psi("box", to=[0, 1]), r"box must be an object; got \[0, 1\]"),
        (psi("box", "low", to=MISSING), "box must have the keys"),
        (psi("box", "low", to=0.0), "low must be a list of numbers; got 0.0"),
        (psi("box", "low", to=["a", 0]), r"low\[0\] must be a number; got 'a'"),
        (psi("box", "low", to=[0, [0]]), r"low\[1\] must be a number; got \[0\]"),
        (psi("box", "low", to=[0, True]), r"low\[1\] must be a number; got True"),
        (psi("box", "low", to=["-inf", 0]), r"low\[0\] must be finite, .* got -inf"),
        (
            psi("box", "outside", to="wrap"),
            "outside must be 'error', 'clip', 'squash' or 'warn'; got 'wrap'",
        ),
        (
            psi("box", "outside", to={}),
            "outside must be 'error', 'clip', 'squash' or 'warn'; got {}",
        ),
        (psi(to={**GRID, "width": "0.5"}), "width must hold real numbers; got <U3"),
        (psi(to={**GRID, "width": 10**400}), "width must hold .* numbers; got object"),
        (
            changed(FOURIER, "psi", "frequencies", to=[[1, 2]]),
            r"frequencies must have shape .*; got \(1, 2\)",
        ),
        (
            changed(FOURIER, "psi", "frequencies", to=[1, 2]),
            r"frequencies must have shape .*; got \(2,\)",
        ),
        (changed(FOURIER, "psi", "frequencies", to=[[], []]), "pairs must be at least 1; got 0"),
        (changed(FOURIER, "psi", "frequencies", to=[[1], []]), "frequencies must be an array"),
        (
            changed(FOURIER, "psi", "frequencies", to=[["1"], ["2"]]),
            "frequencies must hold .* numbers; got <U1",
        ),
        (
            changed(FOURIER, "psi", "frequencies", to=None),
            "frequencies must hold .* numbers; got object",
        ),
        (changed(BOTH, "phi_r", to=TILES["psi"]), "phi_r must be a FeatureMap"),
        (deep(10_000), "recursion"),
    ]
    beginning = "^not a description of features: .*"
    assert_refuses(from_description, *((data, ValueError, beginning + m) for data, m in cases))
