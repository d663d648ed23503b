"""A policy is the d + d^2 numbers of Section 3.3, wherever there is such a form."""

import numpy as np
import pytest
from reference.comparison import assert_close
from reference.settings import SETTINGS
from reference.variants import VARIANTS, softmax_policy, variant

from optimist.agents import VariantAgent
from optimist.core import Sigmoid, SoftmaxPolicy, TablePolicy, Truncation
from optimist.features import OneHot


@pytest.mark.parametrize("name", [n for n in VARIANTS if n != "truncation"])
def test_the_numbers_reproduce_every_policy_that_was_played(setting, name):
    mdp, features = setting
    agent = VariantAgent(mdp, features, config=VARIANTS[name], seed=2, stride=1)
    states = np.arange(mdp.n_states)
    for _ in range(80):
        coming = agent.policy
        assert isinstance(coming, SoftmaxPolicy)
        played = agent.learn(1).policies[0]
        np.testing.assert_allclose(coming.probabilities(states), played, rtol=0, atol=1e-9)


def test_the_numbers_are_few():
    """A sum of rewards is among them only where rewards are not linear in the features."""
    for name, make in SETTINGS.items():
        mdp, features = make()
        agent = VariantAgent(mdp, features, config=VARIANTS["sigmoid"])
        agent.learn(20)
        policy, size = agent.policy, features.dim // features.blocks
        assert policy.Theta.shape == (features.dim,)
        assert policy.Lambda.shape == (features.blocks, size, size)
        assert (policy.rewards is not None) == (name in ("blocks", "aggregated")), name


def test_one_state_and_batches_of_states(setting):
    """Also before any update, when all actions are alike."""
    mdp, features = setting
    agent, batch = VariantAgent(mdp, features, config=VARIANTS["sigmoid"]), [[0, 1, 0], [1, 1, 0]]
    assert agent.policy.updates == 0
    states = np.arange(mdp.n_states)
    np.testing.assert_array_equal(agent.policy.probabilities(states), mdp.uniform_policy)
    agent.learn(40)
    for policy in (agent.policy, agent.output):
        everywhere = policy.probabilities(states)
        assert everywhere.shape == mdp.r.shape
        assert_close(everywhere.sum(axis=1), 1, atol=1e-12)
        assert_close(policy.probabilities(1), everywhere[1], atol=1e-12)
        assert_close(policy.probabilities(np.array(batch)), everywhere[batch], atol=1e-12)


@pytest.mark.parametrize("name", ["sigmoid", "truncation"])
def test_policies_are_photographs(setting, name):
    """Learning on does not change a policy that was taken before."""
    agent = VariantAgent(*setting, config=VARIANTS[name])
    agent.learn(10)
    taken, states = [agent.policy, agent.output], np.arange(agent.mdp.n_states)
    before = [policy.probabilities(states) for policy in taken]
    agent.learn(100)
    np.testing.assert_array_equal(before, [policy.probabilities(states) for policy in taken])


def test_truncated_values_need_a_table(setting):
    agent = VariantAgent(*setting, config=variant(0.5, 3.0, Truncation()), stride=1)
    agent.learn(30)
    policy = agent.policy
    assert isinstance(policy, TablePolicy)
    np.testing.assert_array_equal(policy.table, agent.learn(1).policies[0])
    np.testing.assert_array_equal(policy.probabilities([[1, 0]]), policy.table[[[1, 0]]])
    assert policy.predict(1) == policy.table[1].argmax()


def test_the_closed_form_by_hand():
    """One state, two actions: S = (1 - p)(Theta + n CB) + n p heaven."""
    Lambda, config = np.array([[[4.0]], [[1.0]]]), variant(0.5, 2.0, Sigmoid(1.0, 1.0))
    policy = softmax_policy(np.array([1.0, 2.0]), Lambda, OneHot(1, 2), config, updates=3)
    p = 1 / (1 + np.exp([0.0, -1.0]))  # CB = 1 and 2, alpha CB - omega = 0 and 1
    S = (1 - p) * (np.array([1.0, 2.0]) + 3 * np.array([1.0, 2.0])) + 3 * p * 10
    odds = np.exp(0.5 * (S[1] - S[0]))
    expected = [1 / (1 + odds), odds / (1 + odds)]
    np.testing.assert_allclose(policy.probabilities(0), expected, rtol=1e-13)
    assert policy.predict(0) == 1


@pytest.mark.parametrize("kind", [SoftmaxPolicy, TablePolicy])
def test_actions_are_drawn_from_the_policy(kind):
    ascension = Sigmoid(4.0, 2.0) if kind is SoftmaxPolicy else Truncation()
    agent = VariantAgent(*SETTINGS["random"](), config=variant(0.05, 0.3, ascension))
    agent.learn(20)
    assert isinstance(agent.policy, kind)
    pi, rng = agent.policy.probabilities(2), np.random.default_rng(0)
    counts = np.bincount([agent.predict(2, rng) for _ in range(3000)], minlength=3)
    assert ((counts - 3000 * pi) ** 2 / (3000 * pi)).sum() < 13.8  # once in 1,000 at 2 degrees
    assert agent.predict(2) == pi.argmax()


def test_a_batch_is_predicted_as_its_observations_one_by_one():
    rng = np.random.default_rng(3)
    policy = TablePolicy(rng.dirichlet(np.ones(4), size=5))
    batch = rng.integers(5, size=(30, 2))
    likeliest, drawn = policy.predict(batch), policy.predict(batch, np.random.default_rng(1))
    assert likeliest.dtype == drawn.dtype == np.int64
    np.testing.assert_array_equal(likeliest, policy.table[batch].argmax(axis=-1))
    alone, choice = np.random.default_rng(1), np.random.default_rng(1)
    for x, a in zip(batch.ravel().tolist(), drawn.ravel().tolist(), strict=True):
        assert policy.predict(x, alone) == a == choice.choice(4, p=policy.table[x])
    assert type(policy.predict(0)) is type(policy.predict(0, alone)) is int
    assert policy.predict(batch[:0, 0], alone).shape == (0,)


def test_deterministic_is_that_of_stable_baselines():
    policy = TablePolicy(np.array([[0.4, 0.6]]))
    draws, rng = np.zeros(50, dtype=int), np.random.default_rng(0)
    assert policy.predict(draws, rng, deterministic=True).min() == 1
    assert policy.predict(draws, rng, deterministic=False).min() == 0
    assert policy.predict(0, deterministic=True) == 1
    with pytest.raises(ValueError, match="deterministic=False needs a generator to draw actions"):
        policy.predict(0, deterministic=False)
    with pytest.raises(TypeError, match=r"rng must be a Generator, .*; got 3"):
        policy.predict(0, 3)


def test_a_policy_as_a_model_of_stable_baselines():
    """Arrays whatever is asked, the state unchanged, and draws of its own seed."""
    policy = TablePolicy(np.array([[0.4, 0.6], [1.0, 0.0]]))
    x, starts = np.array([0, 1, 0]), np.ones(3, dtype=bool)
    actions, state = policy.as_sb3().predict(
        x, state=None, episode_start=starts, deterministic=True
    )
    assert (actions.tolist(), state) == ([1, 0, 1], None)
    alone, _ = policy.as_sb3().predict(np.int64(0), deterministic=True)
    assert isinstance(alone, np.ndarray)
    assert alone.shape == ()
    many = np.zeros(100, dtype=int)
    one, other = policy.as_sb3(seed=1), policy.as_sb3(seed=1)
    first, _ = one.predict(many)
    np.testing.assert_array_equal(first, other.predict(many)[0])
    assert (one.predict(many)[0] != first).any()  # the generator goes on
    assert (policy.as_sb3(seed=2).predict(many)[0] != first).any()
    with pytest.raises(ValueError, match="seed must be at least 0; got -1"):
        policy.as_sb3(seed=-1)
