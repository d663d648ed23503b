"""A run is the same bytes however it is cut into pieces and however closely it is watched."""

import numpy as np
import pytest

from optimist import envs
from optimist.agents import Optimist, VariantAgent, interruption
from optimist.core import FixedBonus, Sigmoid, Truncation, Variant

COLUMNS = ("steps", "reward", "epoch", "optimistic_value", "sup_q", "bonus", "ascension")

WORLDS = {
    "one-hot": envs.RiverSwim(6, gamma=0.95),
    "dense": envs.RandomLinear(5, 15, 3, gamma=0.9),
}
CONFIGURATIONS = {
    "sigmoid": Variant(eta=1.0, bonus=FixedBonus(0.5), ascension=Sigmoid(8.0, 4.0), updates=2),
    "adaptive": Optimist.Config().variant(),
    "truncation": Variant(eta=1.0, bonus=FixedBonus(0.5), ascension=Truncation()),
    "greedy": Variant(eta=float("inf"), bonus=FixedBonus(0.5), ascension=Sigmoid(8.0, 4.0)),
}


@pytest.fixture(params=WORLDS)
def world(request):
    return WORLDS[request.param]


@pytest.fixture(params=CONFIGURATIONS)
def config(request):
    return CONFIGURATIONS[request.param]


def learner(world, config=CONFIGURATIONS["sigmoid"], seed=3, stride=10):
    return VariantAgent(world, config=config, seed=seed, stride=stride)


@pytest.fixture
def assert_same_state(state_of):
    def check(*agents):
        first, *others = map(state_of, agents)
        for other in others:
            assert first.keys() == other.keys()
            for name in first:
                assert first[name] == other[name], name

    return check


def assert_same_history(one, other, names=(*COLUMNS, "evaluated", "policies")):
    for name in names:
        first, second = getattr(one, name), getattr(other, name)
        assert first.tobytes() == second.tobytes(), name


def test_learning_twice_is_learning_for_longer(world, config, assert_same_state):
    once, twice = learner(world, config), learner(world, config)
    whole = once.learn(2000)
    halves = [twice.learn(1000) for _ in range(2)]
    assert whole.steps.size == 2000
    assert [half.steps.size for half in halves] == [1000, 1000]
    assert_same_history(once.history, whole)
    assert_same_history(twice.history, whole)
    for name in (*COLUMNS, "evaluated", "policies"):
        joined = np.concatenate([getattr(half, name) for half in halves])
        np.testing.assert_array_equal(joined, getattr(whole, name))
    assert_same_state(once, twice)


@pytest.mark.parametrize(("call", "slow"), [(0.0, 1e9), (1e-3, 1e9), (1e9, 0.0), (1e-3, 0.0)])
def test_neither_the_length_of_calls_nor_threads_matter(
    world, config, call, slow, monkeypatch, assert_same_state
):
    usual, chopped = learner(world, config, stride=7), learner(world, config, stride=7)
    usual.learn(400)
    monkeypatch.setattr(interruption, "CALL_SECONDS", call)
    monkeypatch.setattr(interruption, "SLOW_SECONDS", slow)
    chopped.learn(400)
    assert_same_history(usual.history, chopped.history)
    assert_same_state(usual, chopped)


def test_the_stride_only_watches(world, config, assert_same_state):
    runs = [learner(world, config, stride=stride) for stride in (0, 1, 7)]
    for agent in runs:
        agent.learn(500)
    for agent in runs[1:]:
        assert_same_history(runs[0].history, agent.history, COLUMNS)
        np.testing.assert_array_equal(agent.history.evaluated, np.arange(0, 500, agent.stride))
        assert len(agent.history.policies) == len(agent.history.evaluated)
    np.testing.assert_array_equal(runs[1].history.policies[::7], runs[2].history.policies)
    assert runs[0].history.evaluated.size == len(runs[0].history.policies) == 0
    assert_same_state(*runs)


def test_looking_at_the_policy_changes_nothing(world, config, assert_same_state):
    watched, left_alone = learner(world, config), learner(world, config)
    for _ in range(50):
        watched.learn(1)
        watched.policy.probabilities(0)
        watched.output.predict(1)
        watched.history.regrets()
    left_alone.learn(50)
    assert_same_state(watched, left_alone)


def test_the_same_seed_gives_the_same_bytes(world, config, assert_same_state):
    one, other = learner(world, config), learner(world, config)
    assert_same_history(one.learn(300), other.learn(300))
    assert_same_state(one, other)


def test_other_seeds_give_other_runs(world, config):
    runs = [learner(world, config, seed=seed).learn(50).steps.tobytes() for seed in range(10)]
    assert len(set(runs)) == 10
