"""Linear cloning: a linear classifier of largest margin, and what it refuses."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from reference.refusals import assert_refuses
from transcriptions.linear_cloning import linear_cloning

from optimist import load_policy
from optimist.envs import RiverSwim
from optimist.features import Fourier, OneHot, PerAction, StateOnly, Table
from optimist.features import OneHotState as States
from optimist.imitation import FeatureDataset, TrajectoryDataset
from optimist.imitation.linear_cloning import LinearCloning


def linear_expert(seed, scale=1.0, n_states=40, n_actions=3, d=4, n=30):
    """Features, and pairs of an expert that is greedy in them."""
    rng = np.random.default_rng(seed)
    Phi = scale * rng.standard_normal((n_states, n_actions, d))
    states = rng.integers(n_states, size=n)
    return Phi, states, (Phi[states] @ rng.uniform(-1, 1, d)).argmax(axis=1)


def smallest_margin(Phi, states, actions, theta):
    Q = Phi[states] @ theta
    own = Q[np.arange(len(states)), actions]
    Q[np.arange(len(states)), actions] = -np.inf
    return (own - Q.max(axis=1)).min()


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_the_margin_is_that_of_the_transcription_at_every_scale(scale):
    for seed in range(10):
        Phi, states, actions = linear_expert(seed)
        clone = LinearCloning(states, actions, Table(scale * Phi))
        _, margin, _ = linear_cloning(Phi, states, actions)
        assert clone.margin == pytest.approx(scale * margin, rel=1e-7)
        assert np.abs(clone.theta).max() <= 1
        found = smallest_margin(scale * Phi, states, actions, clone.theta)
        assert found == pytest.approx(clone.margin, rel=1e-12)


def test_the_policy_is_greedy_everywhere_and_ties_are_uniform():
    Phi, states, actions = linear_expert(0)
    Phi[39, 2] = Phi[39, 0]
    Phi[38] = 0.0
    seen = states < 38
    clone = LinearCloning(states[seen], actions[seen], Table(Phi))
    Q = Phi @ clone.theta
    best = Q.max(axis=1, keepdims=True) == Q
    pi = clone.policy.probabilities(np.arange(40))
    assert_allclose(pi, best / best.sum(axis=1, keepdims=True), rtol=0, atol=1e-15)
    assert_array_equal(pi[38], 1 / 3)


def test_one_hot_features_give_the_table_of_the_expert():
    clone = LinearCloning([2, 0, 2], [1, 0, 1], OneHot(4, 3))
    third = 1 / 3
    expected = [[1, 0, 0], [third] * 3, [0, 1, 0], [third] * 3]
    assert_allclose(clone.policy.probabilities(np.arange(4)), expected, rtol=0, atol=1e-15)
    assert repr(clone) == "LinearCloning(size=3, policy=SoftmaxPolicy)"


def test_repeated_pairs_change_nothing():
    Phi, states, actions = linear_expert(3)
    once = LinearCloning(states, actions, Table(Phi))
    often = LinearCloning(np.tile(states, 5), np.tile(actions, 5), Table(Phi))
    assert_array_equal(once.theta, often.theta)
    assert (once.size, often.size) == (30, 150)


def test_trajectories_and_observations():
    world = RiverSwim(4, gamma=0.9)
    expert = np.eye(2)[[1, 1, 1, 0]]
    data = TrajectoryDataset.from_rollouts(world, expert, 20, np.random.default_rng(0))
    clone = LinearCloning(data, features=world.features)
    assert_array_equal(clone.policy.probabilities(np.unique(data.states)), expert)
    there = LinearCloning(world, data)
    assert_array_equal(there.learn().policies[0], expert)
    assert (there.margin, there.size) == (clone.margin, clone.size)
    rng = np.random.default_rng(1)
    phi = PerAction(Fourier(([-1, -1], [1, 1]), pairs=20, rng=rng), n_actions=2)
    seen, fresh = rng.uniform(-1, 1, size=(2, 400, 2))
    theta = rng.standard_normal(phi.dim)
    chosen, right = ((phi.all_actions(x) @ theta).argmax(axis=1) for x in (seen, fresh))
    found = LinearCloning(seen, chosen, phi).policy.probabilities(fresh).argmax(axis=1)
    assert (found == right).mean() > 1 - (phi.dim + 1) / 401


def test_the_policy_can_be_stored(tmp_path):
    Phi, states, actions = linear_expert(1)
    policy = LinearCloning(states, actions, Table(Phi)).policy
    policy.save(tmp_path / "clone.safetensors")
    loaded = load_policy(tmp_path / "clone.safetensors", Table(Phi))
    x = np.arange(40)
    assert_array_equal(loaded.probabilities(x), policy.probabilities(x))


def test_wrong_input_is_refused():
    one = OneHot(3, 2)
    data = TrajectoryDataset([[0, 1]], [[0, 1]])
    cases = [
        ((FeatureDataset([[1.0]]),), TypeError, "LinearCloning cannot even start from a Feature"),
        ((data, [0, 1], one), TypeError, "actions must be None"),
        ((data, None, None), TypeError, "features must be a FeatureMap"),
        ((TrajectoryDataset([[0, 1]]), None, one), TypeError, "actions must be given"),
        ((data.take([]), None, one), ValueError, "must hold at least one trajectory"),
        (([0], [0], OneHot(3, 1)), ValueError, "at least 2 actions"),
        (([0, 1, 3], [0, 1, 1], one), ValueError, r"states?\[2\] must be in {0, ..., 2}; got 3"),
        (([2, 0, 2], [0, 1, 1], one), ValueError, r"got actions 0 and 1 in .* pairs 0 and 2"),
        (([0], [0], StateOnly(States(3), 2)), ValueError, "the largest margin is 0. Other"),
        (([0], [0], Table(np.zeros((3, 2, 1)))), ValueError, "the largest margin is 0. Other"),
    ]
    assert_refuses(lambda given: LinearCloning(*given), *cases)
