"""Features within their block: the same numbers as in the long vectors, without the zeros."""

import tracemalloc

import numpy as np
import pytest

from optimist.features import (
    RBF,
    FeatureMap,
    OneHot,
    OneHotState,
    PerAction,
    StateFeatures,
    StateOnly,
    Tiles,
)
from optimist.features.base import split

BATCHES = [(), (4,), (0,), (2, 3)]


def whole(rows: np.ndarray, block: np.ndarray, blocks: int) -> np.ndarray:
    """The vectors [..., d] put together again, entry by entry."""
    s = rows.shape[-1]
    rows = np.broadcast_to(rows, (*block.shape, s))
    features = np.zeros((*block.shape, blocks * s))
    for index in np.ndindex(block.shape):
        start = int(block[index]) * s
        features[index][start : start + s] = rows[index]
    return features


@pytest.mark.parametrize("batch", BATCHES)
def test_state_features_are_those_in_their_block(state_case, batch):
    psi = state_case.psi
    observations = state_case.draw(np.random.default_rng(0), batch)
    rows, block = psi.in_blocks(observations)
    assert (rows.shape, block.shape) == ((*batch, psi.dim // psi.blocks), batch)
    assert (rows.dtype, block.dtype) == (np.float64, np.int64)
    np.testing.assert_array_equal(whole(rows, block, psi.blocks), psi(observations))


@pytest.mark.parametrize("batch", BATCHES)
def test_features_are_those_in_their_block(case, batch):
    phi = case.phi
    states = case.draw(np.random.default_rng(0), batch)
    rows, block = phi.in_blocks(states)
    different = 1 if phi.shared else phi.n_actions
    assert rows.shape == (*batch, different, phi.dim // phi.blocks)
    assert block.shape == (*batch, phi.n_actions)
    assert (rows.dtype, block.dtype) == (np.float64, np.int64)
    np.testing.assert_array_equal(whole(rows, block, phi.blocks), phi.all_actions(states))


def test_short_cuts_give_what_the_base_class_computes(case, state_case):
    pairs = [(FeatureMap, case.phi, case.draw), (StateFeatures, state_case.psi, state_case.draw)]
    for base, features, draw in pairs:
        states = draw(np.random.default_rng(1), (2, 5))
        for short, long in zip(
            features.in_blocks(states), base.in_blocks(features, states), strict=True
        ):
            np.testing.assert_array_equal(short, long)


def test_which_maps_are_shared(case):
    features = case.phi.all_actions(case.draw(np.random.default_rng(2), (20,)))
    rows, _ = split(features, case.phi.blocks)
    assert case.phi.shared == (rows == rows[:, :1]).all()


@pytest.mark.parametrize("batch", [(), (4,)])
def test_writing_into_the_rows_reaches_neither_the_map_nor_the_states(case, batch):
    states = case.draw(np.random.default_rng(3), batch)
    copy = states.copy()
    before = case.phi.in_blocks(states)
    for scribbled in case.phi.in_blocks(states):
        scribbled[...] = 99
    np.testing.assert_array_equal(states, copy)
    for now, then in zip(case.phi.in_blocks(states), before, strict=True):
        np.testing.assert_array_equal(now, then)


def test_states_are_not_handed_out_as_their_blocks():
    states = np.array([1, 2])
    OneHotState(3).in_blocks(states)[1][...] = 0
    assert states.tolist() == [1, 2]


class Halves(StateFeatures):
    """(1, x) in a block for negative x and in one for positive x, and nothing at zero."""

    def __init__(self):
        super().__init__(dim=4, bound=2.0, blocks=2)

    def __call__(self, observations):
        x = np.asarray(observations, dtype=np.float64)[..., None]
        part = np.concatenate([np.ones_like(x), x], axis=-1)
        return np.concatenate([part * (x < 0), part * (x > 0)], axis=-1)


def test_a_map_of_ones_own_has_them_too():
    rows, block = Halves().in_blocks([0.5, -1.0, 0.0])
    np.testing.assert_array_equal(rows, [[1.0, 0.5], [1.0, -1.0], [0.0, 0.0]])
    assert block.tolist() == [1, 0, 0]
    each = PerAction(Halves(), 3).in_blocks([0.5, -1.0, 0.0])[1]
    assert each.tolist() == [[1, 3, 5], [0, 2, 4], [0, 2, 4]]
    assert StateOnly(Halves(), 2).in_blocks(0.5)[1].tolist() == [1, 1]


def test_a_map_of_ones_own_may_be_shared():
    class Both(FeatureMap):
        shared = True

        def __init__(self):
            super().__init__(dim=4, bound=2.0, blocks=2, n_actions=2)

        def __call__(self, states, actions):
            return self.all_actions(states)[..., actions, :]

        def all_actions(self, states):
            return np.array([[0, 0, 2, 1], [2, 1, 0, 0]])  # of whole numbers, all the same

    rows, block = Both().in_blocks(0)
    assert (rows.tolist(), block.tolist()) == ([[2.0, 1.0]], [1, 0])
    assert rows.dtype == np.float64


LARGE = Tiles((np.zeros(3), np.ones(3)), bins=2**10)


@pytest.mark.parametrize(
    ("features", "state", "last"),
    [
        (LARGE, np.ones(3), 2**30 - 1),
        (PerAction(LARGE, 4), np.ones(3), 2**32 - 1),
        (StateOnly(LARGE, 4), np.ones(3), 2**30 - 1),
        (OneHotState(2**40), 2**40 - 1, 2**40 - 1),
        (PerAction(OneHotState(2**40), 4), 2**40 - 1, 2**42 - 1),
        (OneHot(2**40, 4), 2**40 - 1, 2**42 - 1),
    ],
)
def test_what_is_one_hot_is_never_written_out(features, state, last):
    tracemalloc.start()
    rows, block = features.in_blocks(state)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert rows.ravel().tolist() == [1.0]
    assert block.ravel()[-1] == last
    assert most < 100_000


@pytest.mark.parametrize(
    ("features", "state", "error", "message"),
    [
        (OneHotState(3), [0, 3], ValueError, r"state\[1\] = 3 is outside"),
        (OneHot(3, 2), 0.5, TypeError, "state holds float64"),
        (PerAction(RBF(([0.0], [1.0]), 3), 2), [2.0], ValueError, r"observation\[0\] = 2 is out"),
        (StateOnly(Tiles(([0.0], [1.0]), 3), 2), [np.nan], ValueError, r"observation\[0\] is nan"),
    ],
)
def test_states_that_are_wrong_are_refused_as_ever(features, state, error, message):
    with pytest.raises(error, match=message):
        features.in_blocks(state)
