"""A run is the same bytes however it is cut into pieces and however closely it is watched."""

import numpy as np
import pytest
from reference.variants import VARIANTS

from optimist import envs
from optimist.agents import VariantAgent, interruption

WORLDS = {
    "one-hot": envs.RiverSwim(6, gamma=0.95),
    "dense": envs.RandomLinear(5, 15, 3, gamma=0.9),
}


@pytest.fixture(params=WORLDS)
def world(request):
    return WORLDS[request.param]


@pytest.fixture(params=["sigmoid", "adaptive", "truncation", "greedy", "anytime"])
def config(request):
    return VARIANTS[request.param]


def learner(world, config, seed=3, stride=10):
    return VariantAgent(world, config=config, seed=seed, stride=stride)


def columns(history):
    return {**history.table(), "evaluated": history.evaluated, "policies": history.policies}


def test_learning_twice_is_learning_for_longer(world, config, same):
    once, twice = learner(world, config), learner(world, config)
    whole = once.learn(2000)
    halves = [twice.learn(1000) for _ in range(2)]
    same(once, twice)
    assert [len(history.steps) for history in (whole, *halves)] == [2000, 1000, 1000]
    for name, column in columns(whole).items():
        parts = [columns(half)[name] for half in halves]
        np.testing.assert_array_equal(np.concatenate(parts), column, err_msg=name)
        np.testing.assert_array_equal(columns(once.history)[name], column, err_msg=name)


@pytest.mark.parametrize(("call", "slow"), [(0.0, 1e9), (1e-3, 1e9), (1e9, 0.0), (1e-3, 0.0)])
def test_neither_the_length_of_calls_nor_threads_matter(
    world, config, call, slow, monkeypatch, same
):
    usual, chopped = learner(world, config, stride=7), learner(world, config, stride=7)
    usual.learn(400)
    monkeypatch.setattr(interruption, "CALL_SECONDS", call)
    monkeypatch.setattr(interruption, "SLOW_SECONDS", slow)
    chopped.learn(400)
    same(usual, chopped)


def test_the_stride_only_watches(world, config, same):
    runs = [learner(world, config, stride=stride) for stride in (0, 1, 7)]
    none, every, some = (agent.learn(500) for agent in runs)
    for history, stride in ((every, 1), (some, 7)):
        for name, column in none.table().items():
            np.testing.assert_array_equal(history.table()[name], column, err_msg=name)
        np.testing.assert_array_equal(history.evaluated, np.arange(0, 500, stride))
        assert len(history.policies) == len(history.evaluated)
    np.testing.assert_array_equal(every.policies[::7], some.policies)
    assert none.evaluated.size == len(none.policies) == 0
    same(*runs, history=False)


def test_looking_at_the_policy_changes_nothing(world, config, same):
    watched, left_alone = learner(world, config), learner(world, config)
    for _ in range(50):
        watched.learn(1)
        watched.policy.probabilities(0)
        watched.output.predict(1)
        watched.history.regrets()
    left_alone.learn(50)
    same(watched, left_alone)


def test_other_seeds_give_other_runs(world, config):
    runs = [learner(world, config, seed=seed).learn(50).steps.tobytes() for seed in range(10)]
    assert len(set(runs)) == 10
