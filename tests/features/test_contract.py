"""What holds of every map: shapes, norms, blocks, and arrays that belong to the caller."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
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
from optimist.features.base import split

BATCHES = [(), (4,), (0,), (2, 3)]
ROUNDING = 1e-12


def whole(rows: np.ndarray, block: np.ndarray, blocks: int) -> np.ndarray:
    """The vectors [..., d] of rows and the numbers of their blocks, entry by entry."""
    s = rows.shape[-1]
    rows = np.broadcast_to(rows, (*block.shape, s))
    features = np.zeros((*block.shape, blocks * s))
    for index in np.ndindex(block.shape):
        start = int(block[index]) * s
        features[index][start : start + s] = rows[index]
    return features


def test_state_features_are_the_same_whole_in_blocks_and_one_by_one(state_case):
    psi, rng = state_case.psi, np.random.default_rng(0)
    for batch in BATCHES:
        observations = state_case.draw(rng, batch)
        before, features = observations.copy(), psi(observations)
        rows, block = psi.in_blocks(observations)
        assert features.shape == (*batch, psi.dim)
        assert (rows.shape, block.shape) == ((*batch, psi.dim // psi.blocks), batch)
        assert features.dtype == rows.dtype == np.float64
        assert block.dtype == np.int64
        assert_array_equal(whole(rows, block, psi.blocks), features)
        for mine, plain in zip((rows, block), StateFeatures.in_blocks(psi, before), strict=True):
            assert_array_equal(mine, plain)
        features[...] = rows[...] = block[...] = 99
        assert_array_equal(observations, before)
    observations = state_case.draw(rng, (20,))
    one_by_one = [psi(observation) for observation in observations]
    assert_allclose(psi(observations), one_by_one, rtol=0, atol=1e-14)


def test_features_are_the_same_whole_in_blocks_and_one_by_one(case):
    phi, rng = case.phi, np.random.default_rng(0)
    for batch in BATCHES:
        states, actions = case.draw(rng, batch), rng.integers(phi.n_actions, size=batch)
        features, every, rows, block = every_array(phi, states, actions)
        assert features.shape == (*batch, phi.dim)
        assert every.shape == (*batch, phi.n_actions, phi.dim)
        different = 1 if phi.shared else phi.n_actions
        assert rows.shape == (*batch, different, phi.dim // phi.blocks)
        assert block.shape == (*batch, phi.n_actions)
        assert features.dtype == rows.dtype == np.float64
        assert block.dtype == np.int64
        assert_array_equal(whole(rows, block, phi.blocks), every)
        for mine, plain in zip((rows, block), FeatureMap.in_blocks(phi, states), strict=True):
            assert_array_equal(mine, plain)
    states = case.draw(rng, (20,))
    every = phi.all_actions(states)
    for action in range(phi.n_actions):
        alone = [phi(state, action) for state in states]
        assert_allclose(every[:, action], alone, rtol=0, atol=1e-14)
    rows, _ = split(every, phi.blocks)
    assert phi.shared == (rows == rows[:, :1]).all()


def test_states_and_actions_broadcast(case):
    rng = np.random.default_rng(3)
    states, actions = case.draw(rng, (3,)), rng.integers(case.phi.n_actions, size=3)
    assert_array_equal(case.phi(states, 1), case.phi(states, [1, 1, 1]))
    repeated = case.phi(states[[0, 0, 0]], actions)
    assert_allclose(case.phi(states[0], actions), repeated, rtol=0, atol=1e-14)
    assert_refuses(
        lambda actions: case.phi(states, actions),
        ([0, 1], ValueError, r"batch \(3,\) of states .* batch \(2,\) of actions"),
        ([0, -1, 0], ValueError, r"action\[1\] = -1 is outside"),
        ([0, 3, 0], ValueError, r"action\[1\] = 3 is outside"),
        (1.0, TypeError, "action holds float64, not whole numbers"),
    )


def check_norms(vectors, bound, constant):
    norms = np.linalg.norm(vectors, axis=-1)
    assert norms.max() <= bound + ROUNDING
    if constant:
        assert_allclose(norms, bound, rtol=0, atol=ROUNDING)


@given(seed=st.integers(0, 2**32 - 1))
def test_state_norms_are_within_the_bound(state_case, seed):
    observations = state_case.draw(np.random.default_rng(seed), (20,))
    check_norms(state_case.psi(observations), state_case.psi.bound, state_case.constant_norm)


@given(seed=st.integers(0, 2**32 - 1))
def test_norms_are_within_the_bound(case, seed):
    states = case.draw(np.random.default_rng(seed), (20,))
    check_norms(case.phi.all_actions(states), case.phi.bound, case.constant_norm)


def test_writing_into_features_reaches_neither_the_map_nor_the_states(case):
    rng = np.random.default_rng(5)
    for batch in ((), (4,)):
        states, actions = case.draw(rng, batch), rng.integers(case.phi.n_actions, size=batch)
        copy, before = states.copy(), every_array(case.phi, states, actions)
        for scribbled in every_array(case.phi, states, actions):
            scribbled[...] = 99
        for now, then in zip(every_array(case.phi, states, actions), before, strict=True):
            assert_array_equal(now, then)
        assert_array_equal(states, copy)


def every_array(phi, states, actions):
    return [phi(states, actions), phi.all_actions(states), *phi.in_blocks(states)]


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


def test_the_covariance_of_state_features_has_the_declared_blocks(state_case):
    features = state_case.psi(state_case.draw(np.random.default_rng(0), (2000,)))
    assert finest_blocks(features.T @ features) == state_case.psi.blocks


def test_the_covariance_has_the_declared_blocks(case):
    rng = np.random.default_rng(0)
    states, actions = case.draw(rng, (2000,)), rng.integers(case.phi.n_actions, size=2000)
    features = case.phi(states, actions)
    assert finest_blocks(features.T @ features) == case.phi.blocks


def test_the_structure_names_the_blocks():
    box = ([0.0], [1.0])
    structures = [
        (OneHot(3, 2), "diagonal"),
        (OneHotState(1), "diagonal"),
        (Tiles(box, bins=4), "diagonal"),
        (Tiles(box, bins=4, tilings=2), "dense"),
        (RBF(box, centres=1), "diagonal"),
        (RBF(box, centres=2), "dense"),
        (PerAction(RBF(box, centres=2), 3), "blocks"),
        (PerAction(RBF(box, centres=2), 1), "dense"),
        (PerAction(OneHotState(4), 3), "diagonal"),
        (StateOnly(OneHotState(4), 3), "diagonal"),
    ]
    for features, structure in structures:
        assert features.structure == structure, features


class Declared(StateFeatures):
    def __call__(self, observations):
        raise NotImplementedError


def test_bad_declarations_are_refused():
    assert_refuses(
        lambda declared: Declared(*declared),
        ((5, 1.0, 2), ValueError, "blocks must divide dim = 5, .* got 2"),
        ((4, -1.0, 2), ValueError, "bound must be at least 0, .* got -1"),
        ((0, 1.0, 1), ValueError, "dim = 0 must be at least 1"),
    )


def test_other_arguments_than_maps_are_refused():
    for wrap in (PerAction, StateOnly):
        with pytest.raises(TypeError, match="must be StateFeatures"):
            wrap(OneHot(2, 2), 2)
        with pytest.raises(ValueError, match="n_actions = 0 must be at least 1"):
            wrap(OneHotState(2), 0)
