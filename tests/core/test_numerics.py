"""Long runs and large dimensions: what is kept up to date stays true."""

import numpy as np

from optimist.agents import VariantAgent
from optimist.core import FixedBonus, Sigmoid, Variant
from optimist.features import OneHot, Table
from optimist.mdp import FiniteMDP

CONFIG = Variant(eta=1.0, bonus=FixedBonus(0.5), ascension=Sigmoid(8.0, 4.0))


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


def relative_error(actual, expected):
    return np.abs(actual - expected).max() / np.abs(expected).max()


def test_the_inverse_is_right_after_a_million_rank_one_updates():
    """An episode of 100 steps meets most of the 40 pairs, each of them one update."""
    agent = VariantAgent(
        random_world(20, 2, gamma=0.99), gaussian(20, 2, 20, 1.0), config=CONFIG, stride=0
    )
    episodes = 35_000
    steps = agent.learn(episodes).steps
    pairs_met = (40 * (1 - (39 / 40) ** steps)).sum()  # roughly, visits being spread evenly
    assert pairs_met > 1e6
    stats = agent.diagnostics
    assert relative_error(stats.inverse[0], np.linalg.inv(stats.Lambda[0])) < 1e-8
    assert abs(stats.log_det - np.linalg.slogdet(stats.Lambda[0])[1]) < 1e-8


def test_the_inverse_is_right_while_no_epoch_begins():
    """So that it is kept by rank-one updates alone for as long as possible."""
    agent = VariantAgent(
        random_world(20, 2, gamma=0.99), gaussian(20, 2, 20, 1.0), config=CONFIG, stride=0
    )
    epochs = agent.learn(20_000).epoch
    while agent.learn(1).epoch[0] == epochs[-1] and agent.episodes < 21_000:
        stats = agent.diagnostics
        inverse = np.linalg.inv(stats.Lambda[0])
        assert relative_error(stats.inverse[0], inverse) < 1e-10
    assert agent.episodes > 20_100


def test_the_data_are_all_counted():
    world, features = random_world(20, 2, gamma=0.9), gaussian(20, 2, 6, 2.0)
    agent = VariantAgent(world, features, config=CONFIG, stride=0)
    steps = agent.learn(5000).steps
    seen = (steps - 1).sum()  # the last pair of an episode is not
    np.testing.assert_allclose(np.trace(agent.diagnostics.Lambda[0]), 6 + 4 * seen, rtol=1e-10)


def test_the_determinant_of_a_thousand_one_hot_features():
    agent = VariantAgent(random_world(500, 2, gamma=0.99), OneHot(500, 2), config=CONFIG, stride=0)
    agent.learn(200)
    Lambda = agent.diagnostics.Lambda.ravel()
    assert Lambda.size == 1000
    with np.errstate(over="ignore"):
        assert np.isinf(np.prod(Lambda))  # the determinant itself leaves the floats
    np.testing.assert_allclose(agent.diagnostics.log_det, np.log(Lambda).sum(), rtol=1e-12)


def test_the_determinant_of_a_dense_block_of_three_hundred():
    world, features = random_world(100, 5, gamma=0.99), gaussian(100, 5, 300, 20.0)
    agent = VariantAgent(world, features, config=CONFIG, stride=0)
    agent.learn(12)
    sign, log_det = np.linalg.slogdet(agent.diagnostics.Lambda[0])
    assert sign == 1
    assert log_det > 710  # beyond the floats
    np.testing.assert_allclose(agent.diagnostics.log_det, log_det, rtol=1e-10)


def test_one_step_can_multiply_the_determinant_by_any_amount():
    """A determinant that grows by 10^12 a step would overflow as a product within an episode."""
    world = random_world(500, 2, gamma=0.99)
    features = Table(np.full((500, 2, 1), 1e150))
    agent = VariantAgent(world, features, config=CONFIG, stride=0)
    agent.learn(3)
    expected = np.log(agent.diagnostics.Lambda[0, 0, 0])
    np.testing.assert_allclose(agent.diagnostics.log_det, expected, rtol=1e-12)


def test_the_statistics_start_from_the_ridge():
    config = Variant(eta=1.0, bonus=FixedBonus(0.5), ascension=Sigmoid(8.0, 4.0), ridge=0.25)
    for features in (OneHot(20, 2), gaussian(20, 2, 6, 1.0)):
        stats = VariantAgent(random_world(20, 2, gamma=0.9), features, config=config).diagnostics
        size = stats.Lambda.shape[1]
        assert (stats.Lambda == 0.25 * np.eye(size)).all()
        assert (stats.inverse == 4 * np.eye(size)).all()
        np.testing.assert_allclose(stats.log_det, features.dim * np.log(0.25), rtol=1e-14)
