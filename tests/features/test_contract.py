"""What holds of every map: shapes, norms, and arrays that belong to the caller."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

BATCHES = [(), (4,), (0,), (2, 3)]
ROUNDING = 1e-12


@pytest.mark.parametrize("batch", BATCHES)
def test_state_feature_shapes(state_case, batch):
    features = state_case.psi(state_case.draw(np.random.default_rng(0), batch))
    assert features.shape == (*batch, state_case.psi.dim)
    assert features.dtype == np.float64


@pytest.mark.parametrize("batch", BATCHES)
def test_feature_shapes(case, batch):
    rng = np.random.default_rng(0)
    states, actions = case.draw(rng, batch), rng.integers(case.phi.n_actions, size=batch)
    assert case.phi(states, actions).shape == (*batch, case.phi.dim)
    assert case.phi.all_actions(states).shape == (*batch, case.phi.n_actions, case.phi.dim)
    assert case.phi(states, actions).dtype == np.float64


def test_a_batch_is_its_observations_one_by_one(state_case):
    observations = state_case.draw(np.random.default_rng(1), (20,))
    one_by_one = [state_case.psi(observation) for observation in observations]
    np.testing.assert_allclose(state_case.psi(observations), one_by_one, rtol=0, atol=1e-14)


def test_all_actions_are_the_actions_one_by_one(case):
    rng = np.random.default_rng(2)
    states = case.draw(rng, (20,))
    every = case.phi.all_actions(states)
    for action in range(case.phi.n_actions):
        alone = [case.phi(state, action) for state in states]
        np.testing.assert_allclose(every[:, action], alone, rtol=0, atol=1e-14)


def test_states_and_actions_broadcast(case):
    rng = np.random.default_rng(3)
    states, actions = case.draw(rng, (3,)), rng.integers(case.phi.n_actions, size=3)
    np.testing.assert_array_equal(case.phi(states, 1), case.phi(states, [1, 1, 1]))
    repeated = case.phi(states[[0, 0, 0]], actions)
    np.testing.assert_allclose(case.phi(states[0], actions), repeated, rtol=0, atol=1e-14)


def test_batches_that_do_not_match_are_refused(case):
    states = case.draw(np.random.default_rng(4), (3,))
    with pytest.raises(ValueError, match=r"batch \(3,\) of states .* batch \(2,\) of actions"):
        case.phi(states, [0, 1])


@pytest.mark.parametrize("action", [-1, 3])
def test_actions_out_of_range_are_refused(case, action):
    states = case.draw(np.random.default_rng(4), (2,))
    with pytest.raises(ValueError, match=rf"action\[1\] = {action} is outside"):
        case.phi(states, [0, action])


def test_fractional_actions_are_refused(case):
    with pytest.raises(TypeError, match="action holds float64, not whole numbers"):
        case.phi(case.draw(np.random.default_rng(4), ()), 1.0)


@given(seed=st.integers(0, 2**32 - 1))
def test_state_norms_are_within_the_bound(state_case, seed):
    observations = state_case.draw(np.random.default_rng(seed), (20,))
    norms = np.linalg.norm(state_case.psi(observations), axis=-1)
    assert norms.max() <= state_case.psi.bound + ROUNDING
    if state_case.constant_norm:
        np.testing.assert_allclose(norms, state_case.psi.bound, rtol=0, atol=ROUNDING)


@given(seed=st.integers(0, 2**32 - 1))
def test_norms_are_within_the_bound(case, seed):
    states = case.draw(np.random.default_rng(seed), (20,))
    norms = np.linalg.norm(case.phi.all_actions(states), axis=-1)
    assert norms.max() <= case.phi.bound + ROUNDING
    if case.constant_norm:
        np.testing.assert_allclose(norms, case.phi.bound, rtol=0, atol=ROUNDING)


@pytest.mark.parametrize("batch", [(), (4,)])
def test_writing_into_features_does_not_reach_the_map(case, batch):
    rng = np.random.default_rng(5)
    states, actions = case.draw(rng, batch), rng.integers(case.phi.n_actions, size=batch)
    for compute in (lambda: case.phi(states, actions), lambda: case.phi.all_actions(states)):
        before = compute()
        scribbled = compute()
        scribbled[...] = 99.0
        np.testing.assert_array_equal(compute(), before)


def test_observations_are_left_as_they_are(state_case):
    observations = state_case.draw(np.random.default_rng(6), (4,))
    copy = observations.copy()
    state_case.psi(observations)
    np.testing.assert_array_equal(observations, copy)
