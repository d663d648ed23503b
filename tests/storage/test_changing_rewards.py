"""Regret under rewards that change is against the best fixed policy in hindsight."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from optimist import RmaxRaviUcb, envs
from optimist.agents import VariantAgent
from optimist.core import Adversary, FixedBonus, Sigmoid, Switching, Variant
from optimist.mdp import regret

K = 60


def test_the_rewards_of_each_episode_are_those_of_the_chooser(settings, make, chooser):
    for name in settings:
        setting = settings[name]()
        mdp, _ = setting
        history = make(setting, rewards=chooser(mdp), stride=1).learn(K)
        again, asked_at = chooser(mdp), 0
        for k in range(K):
            if k == asked_at:
                r, hold = again.choose(k, history.policies[k])
                asked_at = k + hold
            np.testing.assert_array_equal(history.rewards[history.chosen[k]], r)
        assert history.chosen[0] == 0
        assert set(np.diff(history.chosen)) <= {0, 1}
        assert history.chosen[-1] == len(history.rewards) - 1 > 1


def test_regret_is_against_the_best_fixed_policy_for_all_episodes(settings, make, chooser):
    setting = settings["blocks"]()
    mdp, _ = setting
    agent = make(setting, rewards=chooser(mdp), stride=1)
    history = agent.learn(K)
    r = history.rewards[history.chosen]
    assert r.shape == (K, *mdp.r.shape)
    np.testing.assert_allclose(history.regrets(), regret(mdp, history.policies, r), atol=1e-9)
    earned = [mdp.with_rewards(r[k]).value(history.policies[k]) for k in range(K)]
    np.testing.assert_allclose(history.values(), earned, rtol=0, atol=1e-9)
    best = mdp.with_rewards(r.mean(axis=0)).optimal().value
    assert history.regrets().mean() == pytest.approx(best - np.mean(earned), abs=1e-9)
    assert history.suboptimality() == pytest.approx(1 - np.mean(earned) / best, abs=1e-9)
    # A stride leaves the comparator as it is.
    some = make(setting, rewards=chooser(mdp), stride=7).learn(K)
    np.testing.assert_array_equal(some.evaluated, np.arange(0, K, 7))
    np.testing.assert_allclose(some.regrets(), history.regrets()[::7], rtol=0, atol=1e-9)
    np.testing.assert_allclose(some.values(), history.values()[::7], rtol=0, atol=1e-9)
    # A later part is compared with the best policy for its own episodes.
    agent = make(setting, rewards=chooser(mdp), stride=1, episodes=25)
    part = agent.learn(K - 25)
    r = part.rewards[part.chosen]
    assert len(r) == K - 25
    np.testing.assert_allclose(part.regrets(), regret(mdp, part.policies, r), rtol=0, atol=1e-9)


def test_a_run_does_not_depend_on_how_it_is_cut_and_stored(settings, make, same, chooser, tmp_path):
    """The chooser is given again when a learner is loaded, and goes on where it was."""
    fixed = Variant(eta=0.3, bonus=FixedBonus(0.3), ascension=Sigmoid(4.0, 2.0))
    for name, config in itertools.product(settings, (fixed, replace(fixed, anytime=True))):
        setting = settings[name]()
        whole, parts = (make(setting, config, rewards=chooser(setting[0]), stride=4) for _ in "ab")
        whole.learn(K)
        for i, episodes in enumerate((1, 10, 3, 9, 30, 7)):
            parts.learn(episodes)
            if i % 2:
                parts.save(tmp_path)
                parts = VariantAgent.load(tmp_path, *setting, rewards=chooser(setting[0]))
        same(whole, parts)
        np.testing.assert_array_equal(whole.history.regrets(), parts.history.regrets())


@pytest.mark.parametrize("name", ["adversary", "switching"])
def test_the_regret_per_episode_falls(name):
    mdp = envs.GridWorld().mdp
    goals = np.zeros((2, 25, 4))
    goals[0, 4] = goals[1, 20] = 1
    rewards = Adversary(mdp, goals) if name == "adversary" else Switching(goals, every=100)
    early, late = [], []
    for seed in range(3):
        agent = RmaxRaviUcb(mdp, beta=0.3, updates=1, eta=0.1, rewards=rewards, seed=seed)
        regrets = agent.learn(8000).regrets()
        early.append(regrets[: len(regrets) // 4].mean())
        late.append(regrets[-len(regrets) // 4 :].mean())
    assert np.mean(late) < 0.8 * np.mean(early)
