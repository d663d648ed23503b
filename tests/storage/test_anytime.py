"""K unknown in advance: a doubling guess of it. And a ridge that goes with the features."""

import math
from dataclasses import replace

import numpy as np
import pytest

from optimist import Configuration, RmaxRaviUcb, load_policy
from optimist.agents import interruption
from optimist.core import Sigmoid, Threshold
from optimist.features import Table

ANYTIME = Configuration(eta=0.5, beta=0.3, ascension=Sigmoid(4.0, 2.0), anytime=True)
STAGES = [0, 8, 16, 32, 64, 128, 256]


def test_the_guess_doubles():
    guesses = np.array([ANYTIME.stage(k) for k in range(2000)])
    assert (guesses > np.arange(2000)).all()
    assert set(np.diff(guesses)) <= {0, *guesses}
    np.testing.assert_array_equal(np.unique(guesses), [2**i for i in range(3, 12)])
    assert (guesses[8:] <= 2 * np.arange(8, 2000)).all()
    assert [replace(ANYTIME, anytime=False).stage(k) for k in (0, 9, 1000)] == [0, 0, 0]


def test_each_stage_begins_an_epoch(setting, make):
    history = make(setting, ANYTIME).learn(300)
    for first in STAGES[1:]:
        assert history.epoch[first] == history.epoch[first - 1] + 1
    fixed = make(setting, replace(ANYTIME, anytime=False)).learn(300)
    rises = [f for f in STAGES[1:] if fixed.epoch[f] > fixed.epoch[f - 1]]
    assert rises != STAGES[1:]


def test_omega_and_alpha_follow_the_guess(setting, make):
    agent = make(setting, ANYTIME)
    for k in range(70):
        agent.learn(1)
        K = max(8, 2 ** math.ceil(math.log2(k + 1 if k & (k - 1) or k == 0 else 2 * k)))
        ascension = agent.policy.ascension
        assert ascension.omega == pytest.approx(math.log(K), rel=1e-14)
        assert ascension.alpha == pytest.approx(2 * math.log(K), rel=1e-14)
        now = agent.diagnostics
        np.testing.assert_allclose(now.p, ascension(now.CB), atol=1e-14)


def test_the_policy_is_that_of_its_stage(setting, make, tmp_path):
    mdp, features = setting
    agent = make(setting, ANYTIME, stride=1)
    for _ in range(70):
        coming = agent.policy
        played = agent.learn(1).policies[0]
        found = coming.probabilities(np.arange(mdp.n_states))
        np.testing.assert_allclose(found, played, rtol=0, atol=1e-9)
    agent.output.save(tmp_path / "p")
    assert load_policy(tmp_path / "p", features).ascension == agent.output.ascension


def test_the_drawn_policy_is_one_that_was_played(setting, make):
    mdp, _ = setting
    agent = make(setting, ANYTIME, stride=1)
    for _ in range(25):
        agent.learn(3)
        found = agent.output.probabilities(np.arange(mdp.n_states))
        apart = np.abs(agent.history.policies - found).max(axis=(1, 2))
        assert apart.min() < 1e-9


@pytest.mark.parametrize("parts", [[1] * 100, [7, 1, 8, 16, 68], [8, 8, 84], [50, 50]])
def test_a_run_does_not_depend_on_how_it_is_cut(setting, make, same, parts):
    agent = make(setting, ANYTIME)
    for episodes in parts:
        agent.learn(episodes)
    same.check(agent, make(setting, ANYTIME, episodes=100))


def test_nor_on_the_length_of_calls(setting, make, same, monkeypatch):
    usual = make(setting, ANYTIME, episodes=100)
    monkeypatch.setattr(interruption, "CALL_SECONDS", 0.0)
    same.check(usual, make(setting, ANYTIME, episodes=100))


def test_only_a_sigmoid_has_such_numbers():
    with pytest.raises(ValueError, match="anytime chooses the numbers of a Sigmoid"):
        Configuration(eta=1.0, beta=1.0, ascension=Threshold(0.5), anytime=True)


def scaled(settings, factor):
    mdp, features = settings["dense"]()
    return mdp, Table(factor * features.array)


def run(setting, ridge, episodes=300):
    config = Configuration(eta=0.5, beta=0.5, ascension=Sigmoid(4.0, 2.0), ridge=ridge)
    agent = RmaxRaviUcb(*setting, config, seed=1, stride=1)
    return agent.learn(episodes), agent.policy


@pytest.mark.parametrize("factor", [7.0, 1e-3, 1e4])
def test_the_scale_of_the_features_changes_nothing(settings, factor):
    (one, policy), (other, again) = (run(scaled(settings, f), ridge=None) for f in (1.0, factor))
    for name in ("steps", "reward", "epoch"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    for name in ("policies", "optimistic_value", "bonus", "ascension", "sup_q"):
        np.testing.assert_allclose(
            getattr(one, name), getattr(other, name), rtol=1e-6, atol=1e-6, err_msg=name
        )
    states = np.arange(12)
    np.testing.assert_allclose(
        policy.probabilities(states), again.probabilities(states), rtol=0, atol=1e-6
    )


def test_with_a_ridge_of_its_own_it_does(settings):
    one, other = (run(scaled(settings, f), ridge=1.0)[0] for f in (1.0, 7.0))
    assert np.abs(one.bonus - other.bonus).max() > 0.01


def test_the_ridge_is_the_square_of_the_bound(settings):
    mdp, features = scaled(settings, 7.0)
    config = Configuration(eta=0.5, beta=0.5, ascension=Sigmoid(4.0, 2.0), ridge=None)
    Lambda = RmaxRaviUcb(mdp, features, config).policy.Lambda
    np.testing.assert_allclose(Lambda, features.bound**2 * np.eye(5)[None], rtol=1e-14)
