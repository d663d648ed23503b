"""Features within their block, of maps of one's own and of very large ones."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from reference.refusals import assert_refuses

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
    assert_array_equal(rows, [[1.0, 0.5], [1.0, -1.0], [0.0, 0.0]])
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
        (OneHot(2**40, 4), 2**40 - 1, 2**42 - 1),
    ],
)
def test_one_hot_vectors_are_never_written_out(features, state, last):
    tracemalloc.start()
    rows, block = features.in_blocks(state)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert rows.ravel().tolist() == [1.0]
    assert block.ravel()[-1] == last
    assert most < 100_000


def test_bad_states_are_refused():
    tiles, bumps = Tiles(([0.0], [1.0]), 3), RBF(([0.0], [1.0]), 3)
    assert_refuses(
        lambda given: given[0].in_blocks(given[1]),
        ((OneHotState(3), [0, 3]), ValueError, r"state\[1\] = 3 is outside"),
        ((OneHot(3, 2), 0.5), TypeError, "state holds float64"),
        ((PerAction(bumps, 2), [2.0]), ValueError, r"observation\[0\] = 2 is out"),
        ((StateOnly(tiles, 2), [np.nan]), ValueError, r"observation\[0\] is nan"),
    )
