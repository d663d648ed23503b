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

LOW, HIGH = [-1 / 3, 0.1], [1 / 3, 0.7]
BOX = (LOW, HIGH)
OPEN = ([-np.inf, 0.1], [np.inf, 0.7])


def in_box(rng: np.random.Generator, batch: tuple[int, ...]) -> np.ndarray:
    return rng.uniform(LOW, HIGH, size=(*batch, 2))


def anywhere(rng: np.random.Generator, batch: tuple[int, ...]) -> np.ndarray:
    return np.stack([rng.standard_cauchy(batch), rng.uniform(0.1, 0.7, batch)], axis=-1)


@dataclass(frozen=True)
class Case:
    """A map, what draws states for it (or their number), and whether its norm is constant."""

    features: StateFeatures | FeatureMap
    states: Callable[[np.random.Generator, tuple[int, ...]], np.ndarray] | int
    constant_norm: bool = True

    def draw(self, rng: np.random.Generator, batch: tuple[int, ...]) -> np.ndarray:
        if isinstance(self.states, int):
            return rng.integers(self.states, size=batch)
        return self.states(rng, batch)

    def every(self, states: np.ndarray) -> np.ndarray:
        """The features [..., d] of states, or [..., A, d] of states and all actions."""
        of_states = isinstance(self.features, StateFeatures)
        return self.features(states) if of_states else self.features.all_actions(states)


RNG = np.random.default_rng(7)
BUMPS = RBF(BOX, centres=(3, 2), width=1 / 3)
WAVES = Fourier(BOX, pairs=4, rng=RNG, lengthscale=0.3)
ONE_HOT = OneHot(4, 2)

STATE_CASES = {
    "one-hot": Case(OneHotState(5), 5),
    "one state": Case(OneHotState(1), 1),
    "one tiling": Case(Tiles(BOX, bins=(2, 3)), in_box),
    "tilings": Case(Tiles(BOX, bins=(2, 3), tilings=4, outside="clip"), in_box),
    "rbf": Case(BUMPS, in_box, constant_norm=False),
    "fourier": Case(WAVES, in_box),
    "squashed": Case(Tiles(OPEN, bins=(2, 3), outside="squash"), anywhere),
}
CASES = {
    "pairs, one-hot": Case(OneHot(5, 3), 5),
    "table": Case(Table(RNG.normal(size=(5, 3, 4))), 5, constant_norm=False),
    "concatenation": Case(Concatenation(StateOnly(OneHotState(4), 2), ONE_HOT), 4),
    "nested": Case(Concatenation(ONE_HOT, Concatenation(ONE_HOT, ONE_HOT)), 4),
    # Both wrappers, around diagonal features and around dense ones.
    "per action, one-hot": Case(PerAction(OneHotState(5), 3), 5),
    "per action, rbf": Case(PerAction(BUMPS, 3), in_box, constant_norm=False),
    "state only, one tiling": Case(StateOnly(Tiles(BOX, bins=(2, 3)), 3), in_box),
    "state only, fourier": Case(StateOnly(WAVES, 3), in_box),
}


@pytest.fixture(scope="session", params=[*STATE_CASES.values(), *CASES.values()],
                ids=[*STATE_CASES, *CASES])  # fmt: skip
def case(request: pytest.FixtureRequest) -> Case:
    return request.param


@pytest.fixture(scope="session", params=CASES.values(), ids=CASES.keys())
def pair_case(request: pytest.FixtureRequest) -> Case:
    return request.param
