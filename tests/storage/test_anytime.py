"""K unknown in advance: a doubling guess of it. And a ridge that goes with the features."""

import math
from dataclasses import replace

import numpy as np
import pytest
from reference.comparison import assert_close
from reference.variants import variant
from scipy.special import expit

from optimist.features import Table

ANYTIME = variant(anytime=True)
STAGES = [8, 16, 32, 64, 128, 256]


def test_the_guess_doubles():
    guesses = np.array([ANYTIME.stage(k) for k in range(2000)])
    assert (guesses > np.arange(2000)).all()
    np.testing.assert_array_equal(np.unique(guesses), [2**i for i in range(3, 12)])
    assert (guesses[8:] <= 2 * np.arange(8, 2000)).all()
    assert [replace(ANYTIME, anytime=False).stage(k) for k in (0, 9, 1000)] == [0, 0, 0]


def test_each_stage_begins_an_epoch(setting, make):
    history = make(setting, ANYTIME).learn(300)
    assert all(history.epoch[k] == history.epoch[k - 1] + 1 for k in STAGES)
    fixed = make(setting, replace(ANYTIME, anytime=False)).learn(300)
    assert not all(fixed.epoch[k] > fixed.epoch[k - 1] for k in STAGES)


def test_the_policy_is_that_of_its_stage(setting, make):
    """Its omega and alpha, and the output, which is one of those played."""
    states, agent = np.arange(setting[0].n_states), make(setting, ANYTIME, stride=1)
    for k in range(70):
        agent.learn(1)
        K = max(8, 2 ** math.ceil(math.log2(k + 1 if k & (k - 1) or k == 0 else 2 * k)))
        ascension, now = agent.policy.ascension, agent.diagnostics
        assert ascension.omega == pytest.approx(math.log(K), rel=1e-14)
        assert ascension.alpha == pytest.approx(2 * math.log(K), rel=1e-14)
        assert_close(now.p, expit(ascension.alpha * now.CB - ascension.omega), atol=1e-13)
        found = agent.output.probabilities(states)
        assert np.abs(agent.history.policies - found).max(axis=(1, 2)).min() < 1e-9


def test_with_the_squared_bound_as_ridge_the_scale_of_the_features_changes_nothing(settings, make):
    def run(factor, ridge=None):
        mdp, features = settings["dense"]()
        scaled = Table(factor * features.array)
        agent = make((mdp, scaled), variant(0.5, 0.5, ridge=ridge), seed=1, stride=1)
        if ridge is None:
            Lambda = 1e-3 * scaled.bound**2 * np.eye(features.dim)[None]
            np.testing.assert_allclose(agent.policy.Lambda, Lambda, rtol=1e-14)
        return agent.learn(300), agent.policy.probabilities(np.arange(mdp.n_states))

    one, policy = run(1.0)
    for factor in (7.0, 1e-3, 1e4):
        other, again = run(factor)
        for name in ("steps", "reward", "epoch"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
        for name in ("policies", "optimistic_value", "bonus", "ascension", "sup_q"):
            a, b = getattr(one, name), getattr(other, name)
            np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-6, err_msg=name)
        assert_close(policy, again, atol=1e-6)
    one, other = (run(factor, ridge=1.0)[0] for factor in (1.0, 7.0))  # but with one of its own
    assert np.abs(one.bonus - other.bonus).max() > 0.01
