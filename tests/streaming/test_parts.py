"""A large memory is gone through in parts, with the same bytes on any number of threads."""

import gymnasium
import numpy as np
import pytest
from reference.variants import variant
from threadpoolctl import threadpool_limits

import optimist.core.norms
import optimist.core.parts
from optimist.agents import Optimist, VariantAgent

CONFIG = variant(2.0, ridge=0.5, updates=3)
CASES = {
    "shared": ("rbf:4", CONFIG, 1000),
    "cells": ("tiles:9", CONFIG, 16),
    "settles": ("tiles:9", Optimist.Config().variant(), 16),
}


def learn(threads, features, config):
    env = gymnasium.make("MountainCar-v0", max_episode_steps=60)
    agent = VariantAgent(env, features, config=config, seed=1, gamma=0.9)
    with threadpool_limits(threads, user_api="blas"):
        agent.learn(6)
    return agent


@pytest.mark.bits
@pytest.mark.parametrize("case", CASES)
def test_parts_give_the_same_bytes_on_any_number_of_threads(monkeypatch, case):
    features, config, size = CASES[case]
    whole = learn(2, features, config)  # too small for parts
    monkeypatch.setattr(optimist.core.parts, "PART_BYTES", size)
    monkeypatch.setattr(optimist.core.norms, "ROWS_AT_ONCE", 50)
    on_threads, counts = optimist.core.parts.ThreadPoolExecutor, []

    def counted(n):
        counts.append(n)
        return on_threads(n)

    monkeypatch.setattr(optimist.core.parts, "ThreadPoolExecutor", counted)
    one = learn(1, features, config)
    assert not counts
    for threads in (2, 3):
        agent = learn(threads, features, config)
        assert max(counts) == threads
        for name in ("V", "pi", "CB", "p", "b"):
            now, other = (getattr(a.diagnostics, name) for a in (agent, one))
            assert now.tobytes() == other.tobytes(), name
        assert agent.policy.Theta.tobytes() == one.policy.Theta.tobytes()
    assert one.history.steps.tolist() == whole.history.steps.tolist()
    np.testing.assert_allclose(one.diagnostics.V, whole.diagnostics.V, rtol=1e-9)
