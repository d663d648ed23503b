"""On the same episodes of the same world the streaming learner computes what the compiled one does.

The environment draws its states from the learner's generator in the order of the compiled loop, so
that both play the same episodes as long as their policies agree.
"""

import math
from dataclasses import replace

import numpy as np
import pytest

from optimist import Configuration, RmaxRaviUcb
from optimist.core import Never, Sigmoid, Threshold, Truncation, VarianceBonus
from optimist.core.streaming import update_all

CONFIGURATIONS = {
    "plain": Configuration(eta=1.0, beta=0.3, ascension=Sigmoid(4.0, 2.0)),
    "busy": Configuration(eta=3.0, beta=0.5, ascension=Sigmoid(8.0, 4.0), ridge=0.1, updates=3),
    "cautious": Configuration(0.01, 1.0, Sigmoid(1.0, 3.0), r_max=2.0, observe_last=True),
    "greedy": Configuration(math.inf, 0.5, Sigmoid(4.0, 2.0), updates=2),
    "truncated": Configuration(0.5, 2.0, Truncation(), updates=2, observe_last=True),
    "threshold": Configuration(math.inf, 0.0, Threshold.after(3), updates=20),
    "plain bonuses": Configuration(0.5, 0.2, Never()),
    "anytime": Configuration(2.0, 0.5, Sigmoid(8.0, 4.0), anytime=True),
    "lazy": Configuration(2.0, 0.5, Sigmoid(8.0, 4.0), lazy=True, updates=5),
    # Where updates end at a tolerance, states that were never met count in the one alone.
    "adaptive": replace(Configuration.adaptive(), updates=20, tolerance=0.0),
    "adaptive to the last": replace(
        Configuration.adaptive(), updates=3, tolerance=0.0, observe_last=True
    ),
    "variance": Configuration(2.0, 0.0, Sigmoid(8.0, 4.0), bonus=VarianceBonus(0.5), updates=2),
    "bounded": Configuration(2.0, 0.5, Sigmoid(8.0, 4.0), v_max=3.0, updates=2),
}


def start(mdp, features, config, lend, **terms):
    """The two learners, whose generators give the same numbers."""
    env = lend(mdp, config.observe_last)
    stream = RmaxRaviUcb(
        env, features, config, seed=4, gamma=mdp.gamma, geometric=True,
        reward_range=(0.0, config.r_max), **terms,
    )  # fmt: skip
    env.generator = stream._driver.rng
    return RmaxRaviUcb(mdp, features, config, seed=4, stride=0), stream


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_known_rewards(setting, name, lend):
    mdp, features = setting
    config = CONFIGURATIONS[name]
    compiled, stream = start(mdp, features, config, lend, reward=lambda x: mdp.r[x])
    driver = stream._driver
    compiled._driver.knows_rewards = False  # nor does the stream, of states that it never met
    driver.begin = lambda: None  # the compiled loop goes on from the state that it has drawn
    states = np.arange(mdp.n_states)
    for k in range(150):
        one, other = compiled.learn(1), stream.learn(1)
        assert one.steps[0] == other.steps[0], k
        assert one.epoch[0] == other.epoch[0], k
        for column in ("reward", "bonus", "ascension"):
            np.testing.assert_allclose(
                getattr(one, column), getattr(other, column), rtol=0, atol=1e-9, err_msg=f"{k}"
            )
        it = compiled._driver.iterate
        seen = driver.believe(states)
        np.testing.assert_allclose(seen.value, it.V, rtol=0, atol=1e-9, err_msg=f"V, {k}")
        np.testing.assert_allclose(seen.policy, np.exp(it.log_pi), rtol=0, atol=1e-9)
        np.testing.assert_allclose(seen.bonus, it.CB, rtol=0, atol=1e-9)
        np.testing.assert_allclose(seen.ascension, it.p, rtol=0, atol=1e-9)
    assert 3 < one.epoch[0] < 150
    one, other = compiled.policy.probabilities(states), stream.policy.probabilities(states)
    np.testing.assert_allclose(one, other, rtol=0, atol=1e-9)
    assert driver.memory.n_states <= mdp.n_states  # each state once, however often it was met


def test_the_state_kept_is_the_state_believed(setting, lend):
    """What is carried along for the states met is what the closed form gives for any."""
    mdp, features = setting
    for name in ("busy", "truncated", "greedy", "adaptive", "variance"):
        config = CONFIGURATIONS[name]
        _, stream = start(mdp, features, config, lend)
        stream.learn(60)
        driver = stream._driver
        states = np.arange(mdp.n_states)
        found, known = driver.memory.find(states, None)
        assert 1 <= known <= mdp.n_states
        found = np.array(found)
        states, found = states[found < known], found[found < known]
        seen = driver.believe(states)
        s = driver.memory.states
        np.testing.assert_allclose(s.V[found], seen.value, rtol=0, atol=1e-9)
        np.testing.assert_allclose(np.exp(s.log_pi[found]), seen.policy, rtol=0, atol=1e-9)


def test_estimated_rewards_are_a_regression(setting, lend):
    """theta = Lambda^{-1} sum phi (r + gamma V(x')), from the data as they were seen."""
    mdp, features = setting
    config = Configuration(1.0, 0.3, Sigmoid(4.0, 2.0), ridge=0.5, observe_last=True)
    _, stream = start(mdp, features, config, lend)
    data, env = [], stream._driver.players.env
    step = env.step

    def watched(action):
        x = env.x
        after, reward, *rest = step(action)
        data.append((x, action, reward, after))
        return after, reward, *rest

    env.step = watched
    stream.learn(40)
    driver = stream._driver
    V = driver.believe(np.arange(mdp.n_states)).value
    x, a, r, after = (np.array(column) for column in zip(*data, strict=True))
    phi = features(x, a)
    Lambda = 0.5 * np.eye(features.dim) + phi.T @ phi
    blocks, s, _ = driver.memory.moments.Lambda.shape
    for b in range(blocks):
        part = slice(b * s, (b + 1) * s)
        np.testing.assert_allclose(driver.memory.moments.Lambda[b], Lambda[part, part], atol=1e-9)
    m = driver.memory.moments
    np.testing.assert_allclose(m.paid, phi.T @ r, rtol=0, atol=1e-9)
    np.testing.assert_allclose(m.values, phi.T @ V[after], rtol=0, atol=1e-9)
    # The next update, by hand.
    theta = np.linalg.solve(Lambda, phi.T @ (r + mdp.gamma * V[after]))
    memory, none = driver.memory, np.zeros((0, features.dim))
    state = (memory.states, memory.links, m, driver.epoch)
    update_all(driver.rule(0), *state, mdp.gamma, np.zeros(features.dim), none, memory.n_states)
    np.testing.assert_allclose(driver.epoch.theta, theta, rtol=0, atol=1e-9)
