"""Every map, with a way to draw states for it."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from optimist.features import (
    RBF,
    Concatenation,
    FeatureMap,
    Fourier,
    OneHot,
    OneHotState,
    PerAction,
    StateFeatures,
    StateOnly,
    Table,
    Tiles,
)

LOW, HIGH = [-1.0, 0.0], [1.0, 5.0]
BOX = (LOW, HIGH)
OPEN = ([-np.inf, 0.0], [np.inf, 5.0])

Draw = Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]


def in_box(rng: np.random.Generator, batch: tuple[int, ...]) -> np.ndarray:
    return rng.uniform(LOW, HIGH, size=(*batch, 2))


def anywhere(rng: np.random.Generator, batch: tuple[int, ...]) -> np.ndarray:
    return np.stack([rng.standard_cauchy(batch), rng.uniform(0.0, 5.0, batch)], axis=-1)


def below(n_states: int) -> Draw:
    return lambda rng, batch: rng.integers(n_states, size=batch)


@dataclass(frozen=True)
class StateCase:
    psi: StateFeatures
    draw: Draw
    constant_norm: bool = True


@dataclass(frozen=True)
class Case:
    phi: FeatureMap
    draw: Draw
    constant_norm: bool = True


def _rng() -> np.random.Generator:
    return np.random.default_rng(7)


STATE_CASES = {
    "one-hot": StateCase(OneHotState(5), below(5)),
    "one state": StateCase(OneHotState(1), below(1)),
    "one tiling": StateCase(Tiles(BOX, bins=(2, 3)), in_box),
    "tilings": StateCase(Tiles(BOX, bins=(2, 3), tilings=4), in_box),
    "rbf": StateCase(RBF(BOX, centres=(3, 2)), in_box, constant_norm=False),
    "fourier": StateCase(Fourier(BOX, pairs=4, rng=_rng()), in_box),
    "squashed": StateCase(Tiles(OPEN, bins=(2, 3), outside="squash"), anywhere),
}


def _with_actions(wrap: Callable[[StateFeatures, int], FeatureMap], name: str) -> Case:
    case = STATE_CASES[name]
    return Case(wrap(case.psi, 3), case.draw, case.constant_norm)


CASES = {
    "one-hot": Case(OneHot(5, 3), below(5)),
    "table": Case(Table(_rng().normal(size=(5, 3, 4))), below(5), constant_norm=False),
    "concatenation": Case(Concatenation(StateOnly(OneHotState(4), 2), OneHot(4, 2)), below(4)),
    # Both wrappers, around diagonal features and around dense ones.
    **{f"per action, {name}": _with_actions(PerAction, name) for name in ("one-hot", "rbf")},
    **{f"state only, {name}": _with_actions(StateOnly, name) for name in ("one tiling", "fourier")},
}


@pytest.fixture(scope="session", params=STATE_CASES.values(), ids=STATE_CASES.keys())
def state_case(request: pytest.FixtureRequest) -> StateCase:
    return request.param


@pytest.fixture(scope="session", params=CASES.values(), ids=CASES.keys())
def case(request: pytest.FixtureRequest) -> Case:
    return request.param
