"""Long runs and large dimensions: what is kept up to date stays true."""

from dataclasses import replace

import numpy as np
import pytest
from reference.variants import variant

from optimist.agents import VariantAgent
from optimist.core import Sigmoid
from optimist.features import OneHot, Table
from optimist.mdp import FiniteMDP

CONFIG = variant(1.0, 0.5, Sigmoid(8.0, 4.0))


def random_world(n_states, n_actions, gamma, successors=5):
    rng = np.random.default_rng(0)
    P = np.zeros((n_states, n_actions, n_states))
    for row in P.reshape(-1, n_states):
        row[rng.choice(n_states, successors, replace=False)] = 1 / successors
    r = rng.random((n_states, n_actions))
    return FiniteMDP(P, r, np.full(n_states, 1 / n_states), gamma)


def gaussian(n_states, n_actions, dim, size):
    features = np.random.default_rng(1).normal(size=(n_states, n_actions, dim))
    return Table(size * features / np.linalg.norm(features, axis=-1, keepdims=True))


def learner(world, features):
    return VariantAgent(world, features, config=CONFIG, stride=0)


def assert_inverse_is_right(agent, tolerance):
    now = agent.diagnostics
    inverse, (_, log_det) = np.linalg.inv(now.Lambda[0]), np.linalg.slogdet(now.Lambda[0])
    assert np.abs(now.inverse[0] - inverse).max() < tolerance * np.abs(inverse).max()
    assert abs(now.log_det - log_det) < 1e-8


def test_the_inverse_is_right_after_a_million_rank_one_updates():
    """An episode of 100 steps meets most of the 40 pairs, each of them one update.

    After 20,000 episodes hardly an epoch begins: then it is kept by rank-one updates alone.
    """
    agent = learner(random_world(20, 2, gamma=0.99), gaussian(20, 2, 20, 1.0))
    epochs = agent.learn(20_000).epoch
    while agent.learn(1).epoch[0] == epochs[-1] and agent.episodes < 21_000:
        assert_inverse_is_right(agent, 1e-10)
    assert agent.episodes > 20_100
    agent.learn(15_000)
    pairs_met = (40 * (1 - (39 / 40) ** agent.history.steps)).sum()  # roughly: visits are even
    assert pairs_met > 1e6
    assert_inverse_is_right(agent, 1e-8)


@pytest.mark.parametrize(
    ("size", "features", "episodes", "least", "rtol"),
    [
        ((500, 2), OneHot(500, 2), 200, 710, 1e-12),
        ((100, 5), gaussian(100, 5, 300, 20.0), 12, 710, 1e-10),
        ((500, 2), Table(np.full((500, 2, 1), 1e150)), 3, 690, 1e-12),  # nearly so in one step
    ],
    ids=["a thousand one-hot", "a dense block of 300", "one huge feature"],
)
def test_determinants_beyond_the_floats(size, features, episodes, least, rtol):
    """E^710 leaves the floats."""
    agent = learner(random_world(*size, gamma=0.99), features)
    agent.learn(episodes)
    now = agent.diagnostics
    expected = np.linalg.slogdet(now.Lambda)[1].sum()
    assert expected > least
    np.testing.assert_allclose(now.log_det, expected, rtol=rtol)


def test_the_data_are_all_counted():
    agent = learner(random_world(20, 2, gamma=0.9), gaussian(20, 2, 6, 2.0))
    steps = agent.learn(5000).steps
    seen = (steps - 1).sum()  # the last pair of an episode is not
    np.testing.assert_allclose(np.trace(agent.diagnostics.Lambda[0]), 6 + 4 * seen, rtol=1e-10)


def test_the_statistics_start_from_the_ridge():
    world, config = random_world(20, 2, gamma=0.9), replace(CONFIG, ridge=0.25)
    for features in (OneHot(20, 2), gaussian(20, 2, 6, 1.0)):
        now = VariantAgent(world, features, config=config).diagnostics
        size = now.Lambda.shape[1]
        assert (now.Lambda == 0.25 * np.eye(size)).all()
        assert (now.inverse == 4 * np.eye(size)).all()
        np.testing.assert_allclose(now.log_det, features.dim * np.log(0.25), rtol=1e-14)
