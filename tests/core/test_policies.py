"""A policy is the d + d^2 numbers of Section 3.3, wherever there is such a form."""

import numpy as np
import pytest

from optimist.agents import Optimist, VariantAgent
from optimist.core import (
    FixedBonus,
    Never,
    Novelty,
    Sigmoid,
    SoftmaxPolicy,
    TablePolicy,
    Threshold,
    Truncation,
    VarianceBonus,
    Variant,
)
from optimist.features import OneHot

INFINITY = float("inf")

STORABLE = {
    "sigmoid": Variant(eta=0.5, bonus=FixedBonus(0.3), ascension=Sigmoid(4.0, 2.0), updates=2),
    "step": Variant(eta=0.5, bonus=FixedBonus(0.3), ascension=Sigmoid(INFINITY, 2.0)),
    "threshold": Variant(eta=0.5, bonus=FixedBonus(0.3), ascension=Threshold(0.5), ridge=0.3),
    "never": Variant(eta=0.5, bonus=FixedBonus(0.1), ascension=Never()),
    "adaptive": Optimist.Config().variant(),
    "novelty": Variant(eta=0.5, bonus=FixedBonus(0.1), ascension=Novelty(), ridge=0.3),
    "variance": Variant(eta=0.5, bonus=VarianceBonus(1), ascension=Threshold(0.5)),
    "greedy": Variant(eta=INFINITY, bonus=FixedBonus(0.3), ascension=Sigmoid(4.0, 2.0), updates=3),
    "greedy novelty": Variant(eta=INFINITY, bonus=FixedBonus(0.0), ascension=Novelty(), updates=9),
    "greedy truncation": Variant(eta=INFINITY, bonus=FixedBonus(3.0), ascension=Truncation()),
}


@pytest.mark.parametrize("name", STORABLE)
def test_the_numbers_reproduce_every_policy_that_was_played(setting, name):
    mdp, features = setting
    agent = VariantAgent(mdp, features, config=STORABLE[name], seed=2, stride=1)
    states = np.arange(mdp.n_states)
    for _ in range(80):
        coming = agent.policy
        assert isinstance(coming, SoftmaxPolicy)
        played = agent.learn(1).policies[0]
        np.testing.assert_allclose(coming.probabilities(states), played, rtol=0, atol=1e-9)


def test_the_numbers_are_few(setting):
    mdp, features = setting
    agent = VariantAgent(mdp, features, config=STORABLE["sigmoid"])
    agent.learn(20)
    policy, size = agent.policy, features.dim // features.blocks
    assert policy.Theta.shape == (features.dim,)
    assert policy.Lambda.shape == (features.blocks, size, size)


def test_a_sum_of_rewards_is_kept_only_where_they_are_not_linear(settings_by_name):
    for name, make in settings_by_name.items():
        agent = VariantAgent(*make(), config=STORABLE["sigmoid"])
        agent.learn(5)
        assert (agent.policy.rewards is not None) == (name in ("blocks", "aggregated")), name


def test_one_state_and_batches_of_states(setting):
    mdp, features = setting
    agent = VariantAgent(mdp, features, config=STORABLE["sigmoid"])
    agent.learn(40)
    for policy in (agent.policy, agent.output):
        everywhere = policy.probabilities(np.arange(mdp.n_states))
        assert everywhere.shape == mdp.r.shape
        np.testing.assert_allclose(everywhere.sum(axis=1), 1, rtol=0, atol=1e-12)
        np.testing.assert_allclose(policy.probabilities(1), everywhere[1], rtol=0, atol=1e-12)
        batch = np.array([[0, 1, 0], [1, 1, 0]])
        found = policy.probabilities(batch)
        np.testing.assert_allclose(found, everywhere[batch], rtol=0, atol=1e-12)


def test_a_policy_is_uniform_before_any_update(setting):
    mdp, features = setting
    policy = VariantAgent(mdp, features, config=STORABLE["sigmoid"]).policy
    assert policy.updates == 0
    states = np.arange(mdp.n_states)
    np.testing.assert_array_equal(policy.probabilities(states), mdp.uniform_policy)


def test_policies_are_photographs(setting):
    """Learning on does not change a policy that was taken before."""
    mdp, features = setting
    for ascension in (Sigmoid(4.0, 2.0), Truncation()):
        config = Variant(eta=0.5, bonus=FixedBonus(0.3), ascension=ascension)
        agent = VariantAgent(mdp, features, config=config)
        agent.learn(10)
        taken = [agent.policy, agent.output]
        before = [policy.probabilities(np.arange(mdp.n_states)) for policy in taken]
        agent.learn(100)
        after = [policy.probabilities(np.arange(mdp.n_states)) for policy in taken]
        np.testing.assert_array_equal(before, after)


def test_truncated_values_need_a_table(setting):
    mdp, features = setting
    config = Variant(eta=0.5, bonus=FixedBonus(3.0), ascension=Truncation())
    agent = VariantAgent(mdp, features, config=config, stride=1)
    agent.learn(30)
    policy = agent.policy
    assert isinstance(policy, TablePolicy)
    np.testing.assert_array_equal(policy.table, agent.learn(1).policies[0])
    np.testing.assert_array_equal(policy.probabilities([[1, 0]]), policy.table[[[1, 0]]])
    assert policy.predict(1) == policy.table[1].argmax()


def test_the_closed_form_by_hand():
    """One state, two actions: S = (1 - p)(Theta + n CB) + n p heaven."""
    policy = SoftmaxPolicy(
        Theta=np.array([1.0, 2.0]),
        Lambda=np.array([[[4.0]], [[1.0]]]),
        updates=3,
        eta=0.5,
        bonus=FixedBonus(2.0),
        ascension=Sigmoid(1.0, 1.0),
        heaven=10.0,
        features=OneHot(1, 2),
    )
    p = 1 / (1 + np.exp([0.0, -1.0]))  # CB = 1 and 2, alpha CB - omega = 0 and 1
    S = (1 - p) * (np.array([1.0, 2.0]) + 3 * np.array([1.0, 2.0])) + 3 * p * 10
    odds = np.exp(0.5 * (S[1] - S[0]))
    expected = [1 / (1 + odds), odds / (1 + odds)]
    np.testing.assert_allclose(policy.probabilities(0), expected, rtol=1e-13)
    assert policy.predict(0) == 1


@pytest.mark.parametrize("kind", [SoftmaxPolicy, TablePolicy])
def test_actions_are_drawn_from_the_policy(kind, settings_by_name):
    ascension = Sigmoid(4.0, 2.0) if kind is SoftmaxPolicy else Truncation()
    config = Variant(eta=0.05, bonus=FixedBonus(0.3), ascension=ascension)
    agent = VariantAgent(*settings_by_name["random"](), config=config)
    agent.learn(20)
    assert isinstance(agent.policy, kind)
    pi, rng = agent.policy.probabilities(2), np.random.default_rng(0)
    counts = np.bincount([agent.predict(2, rng) for _ in range(3000)], minlength=3)
    assert ((counts - 3000 * pi) ** 2 / (3000 * pi)).sum() < 13.8  # once in 1,000 at 2 degrees
    assert agent.predict(2) == pi.argmax()
