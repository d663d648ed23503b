"""What holds of every map: shapes, norms, blocks, and arrays that belong to the caller."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from reference.refusals import assert_refuses

from optimist import features as maps
from optimist.features import RBF, OneHot, OneHotState, PerAction, StateOnly, Tiles
from optimist.features.base import split

BATCHES = [(), (4,), (0,), (2, 3)]
ROUNDING = 1e-12
UNIT = ([0.0], [1.0])


def test_features_are_the_same_whole_in_blocks_and_one_by_one(case):
    features, rng = case.features, np.random.default_rng(0)
    of_states = isinstance(features, maps.StateFeatures)
    base = maps.StateFeatures if of_states else maps.FeatureMap
    actions = () if of_states else (features.n_actions,)
    rows_of = (1,) if not of_states and features.shared else actions
    for batch in BATCHES:
        states = case.draw(rng, batch)
        every, (rows, block) = case.every(states), features.in_blocks(states)
        assert every.shape == (*batch, *actions, features.dim)
        assert rows.shape == (*batch, *rows_of, features.dim // features.blocks)
        assert block.shape == (*batch, *actions)
        assert every.dtype == rows.dtype == np.float64
        assert block.dtype == np.int64
        in_their_block = np.eye(features.blocks)[block][..., None] * rows[..., None, :]
        assert_array_equal(in_their_block.reshape(every.shape), every)
        for mine, plain in zip((rows, block), base.in_blocks(features, states), strict=True):
            assert_array_equal(mine, plain)
    states = case.draw(rng, (20,))
    one_by_one = [case.every(state) for state in states]
    assert_allclose(case.every(states), one_by_one, rtol=0, atol=1e-14)


def test_a_pair_has_the_features_of_its_action(pair_case):
    phi, rng = pair_case.features, np.random.default_rng(0)
    for batch in BATCHES:
        states, actions = pair_case.draw(rng, batch), rng.integers(phi.n_actions, size=batch)
        features = phi(states, actions)
        assert features.shape == (*batch, phi.dim)
        assert features.dtype == np.float64
    states = pair_case.draw(rng, (20,))
    every = phi.all_actions(states)
    for action in range(phi.n_actions):
        alone = [phi(state, action) for state in states]
        assert_allclose(every[:, action], alone, rtol=0, atol=1e-14)
    rows, _ = split(every, phi.blocks)
    assert phi.shared == (rows == rows[:, :1]).all()


def test_states_and_actions_broadcast(pair_case):
    phi, rng = pair_case.features, np.random.default_rng(3)
    states, actions = pair_case.draw(rng, (3,)), rng.integers(phi.n_actions, size=3)
    assert_array_equal(phi(states, 1), phi(states, [1, 1, 1]))
    assert_allclose(phi(states[0], actions), phi(states[[0, 0, 0]], actions), rtol=0, atol=1e-14)
    assert_refuses(
        lambda actions: phi(states, actions),
        ([0, 1], ValueError, r"batch \(3,\) of states .* batch \(2,\) of actions"),
        ([0, -1, 0], ValueError, r"action\[1\] must be in .*; got -1"),
        ([0, 3, 0], ValueError, r"action\[1\] must be in .*; got 3"),
        (1.0, TypeError, "action must hold whole numbers; got float64"),
    )


@given(seed=st.integers(0, 2**32 - 1))
def test_norms_are_within_the_bound(case, seed):
    states = case.draw(np.random.default_rng(seed), (20,))
    norms = np.linalg.norm(case.every(states), axis=-1)
    assert norms.max() <= case.features.bound + ROUNDING
    if case.constant_norm:
        assert_allclose(norms, case.features.bound, rtol=0, atol=ROUNDING)


def test_writing_into_features_reaches_neither_the_map_nor_the_states(case):
    features, rng = case.features, np.random.default_rng(5)
    for batch in ((), (4,)):
        states = case.draw(rng, batch)

        def arrays(states=states, batch=batch):
            found = [case.every(states), *features.in_blocks(states)]
            if isinstance(features, maps.FeatureMap):
                found.append(features(states, np.ones(batch, dtype=int)))
            return found

        copy, before = states.copy(), arrays()
        for scribbled in arrays():
            scribbled[...] = 99
        for now, then in zip(arrays(), before, strict=True):
            assert_array_equal(now, then)
        assert_array_equal(states, copy)


# The declared blocks are those of the covariance matrix, and no finer ones would do.


def finest_blocks(covariance: np.ndarray) -> int:
    """The largest number of equal contiguous blocks outside of which the matrix is zero."""
    dim = len(covariance)
    for size in range(1, dim + 1):
        block = np.arange(dim) // size
        if dim % size == 0 and not covariance[block[:, None] != block].any():
            return dim // size
    raise AssertionError("a single block always fits")


def test_the_finest_blocks_of_known_matrices():
    assert finest_blocks(np.eye(4)) == 4
    assert finest_blocks(np.kron(np.eye(2), np.ones((2, 2)))) == 2
    assert finest_blocks(np.eye(4) + np.eye(4, k=1) + np.eye(4, k=-1)) == 1


def test_the_covariance_has_the_declared_blocks(case):
    every = case.every(case.draw(np.random.default_rng(0), (2000,)))
    vectors = every.reshape(-1, case.features.dim)
    assert finest_blocks(vectors.T @ vectors) == case.features.blocks


@pytest.mark.parametrize(
    ("features", "structure"),
    [
        (OneHot(3, 2), "diagonal"),
        (OneHotState(1), "diagonal"),
        (Tiles(UNIT, bins=4), "diagonal"),
        (Tiles(UNIT, bins=4, tilings=2), "dense"),
        (RBF(UNIT, centres=1), "diagonal"),
        (RBF(UNIT, centres=2), "dense"),
        (PerAction(RBF(UNIT, centres=2), 3), "blocks"),
        (PerAction(RBF(UNIT, centres=2), 1), "dense"),
        (PerAction(OneHotState(4), 3), "diagonal"),
        (StateOnly(OneHotState(4), 3), "diagonal"),
    ],
)
def test_the_structure_names_the_blocks(features, structure):
    assert features.structure == structure


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
    tiles, bumps = Tiles(UNIT, 3), RBF(UNIT, 3)
    assert_refuses(
        lambda given: given[0].in_blocks(given[1]),
        ((OneHotState(3), [0, 3]), ValueError, r"state\[1\] must be in .*; got 3"),
        ((OneHot(3, 2), 0.5), TypeError, "state must hold .* numbers; got float64"),
        ((PerAction(bumps, 2), [2.0]), ValueError, r"observation\[0\] must be in \[0, 1\]; got 2"),
        (
            (StateOnly(tiles, 2), [np.nan]),
            ValueError,
            r"observation\[0\] must be a finite number; got nan",
        ),
    )


# Maps of a user's own


class Halves(maps.StateFeatures):
    """(1, x) in a block for negative x and in one for positive x, and nothing at zero."""

    def __init__(self, dim=4, bound=2.0, blocks=2):
        super().__init__(dim, bound, blocks)

    def __call__(self, observations):
        x = np.asarray(observations, dtype=np.float64)[..., None]
        part = np.concatenate([np.ones_like(x), x], axis=-1)
        return np.concatenate([part * (x < 0), part * (x > 0)], axis=-1)


class Swapped(maps.FeatureMap):
    """The same whole numbers for both actions, in one block each."""

    shared = True

    def __init__(self):
        super().__init__(dim=4, bound=2.0, blocks=2, n_actions=2)

    def __call__(self, states, actions):
        return self.all_actions(states)[..., actions, :]

    def all_actions(self, states):
        return np.array([[0, 0, 2, 1], [2, 1, 0, 0]])


def test_a_map_of_ones_own_is_split_into_blocks_too():
    rows, block = Halves().in_blocks([0.5, -1.0, 0.0])
    assert_array_equal(rows, [[1.0, 0.5], [1.0, -1.0], [0.0, 0.0]])
    assert block.tolist() == [1, 0, 0]
    each = PerAction(Halves(), 3).in_blocks([0.5, -1.0, 0.0])[1]
    assert each.tolist() == [[1, 3, 5], [0, 2, 4], [0, 2, 4]]
    assert StateOnly(Halves(), 2).in_blocks(0.5)[1].tolist() == [1, 1]
    rows, block = Swapped().in_blocks(0)
    assert (rows.tolist(), block.tolist()) == ([[2.0, 1.0]], [1, 0])
    assert rows.dtype == np.float64


def test_bad_declarations_are_refused():
    assert_refuses(
        lambda declared: Halves(*declared),
        ((5, 1.0, 2), ValueError, "blocks must divide dim = 5, .* got 2"),
        ((4, -1.0, 2), ValueError, "bound must be at least 0, .* got -1"),
        ((0, 1.0, 1), ValueError, "dim must be at least 1; got 0"),
    )
