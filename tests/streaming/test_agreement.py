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
    env.generator = stream.rng
    # What heaven is worth is not learnt if it is said: the stream knows no rewards of unmet states.
    config = replace(config, v_max=config.heaven(mdp.gamma))
    return RmaxRaviUcb(mdp, features, config, seed=4, stride=0), stream


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_known_rewards(setting, name, lend):
    mdp, features = setting
    config = CONFIGURATIONS[name]
    compiled, stream = start(mdp, features, config, lend, reward=lambda x: mdp.r[x])
    states = np.arange(mdp.n_states)
    for k in range(150):
        one, other = compiled.learn(1), stream.learn(1)
        assert one.steps[0] == other.steps[0], k
        assert one.epoch[0] == other.epoch[0], k
        for column in ("reward", "bonus", "ascension"):
            np.testing.assert_allclose(
                getattr(one, column), getattr(other, column), rtol=0, atol=1e-9, err_msg=f"{k}"
            )
        it, seen = compiled.diagnostics, stream.believe(states)
        np.testing.assert_allclose(seen.value, it.V, rtol=0, atol=1e-9, err_msg=f"V, {k}")
        np.testing.assert_allclose(seen.policy, it.pi, rtol=0, atol=1e-9)
        np.testing.assert_allclose(seen.bonus, it.CB, rtol=0, atol=1e-9)
        np.testing.assert_allclose(seen.ascension, it.p, rtol=0, atol=1e-9)
    assert 3 < one.epoch[0] < 150
    one, other = compiled.policy.probabilities(states), stream.policy.probabilities(states)
    np.testing.assert_allclose(one, other, rtol=0, atol=1e-9)
    assert len(stream.diagnostics.V) <= mdp.n_states  # each state once, however often it was met


def test_the_state_kept_is_the_state_believed(setting, lend, numbers_of):
    """What is carried along for the states met is what the closed form gives for any."""
    mdp, features = setting
    for name in ("busy", "truncated", "greedy", "adaptive", "variance"):
        config = CONFIGURATIONS[name]
        _, stream = start(mdp, features, config, lend)
        stream.learn(60)
        kept, states = stream.diagnostics, np.arange(mdp.n_states)
        found = numbers_of(stream, states)
        states, found = states[found >= 0], found[found >= 0]
        assert sorted(found) == list(range(len(kept.V)))
        assert len(found) >= 1
        seen = stream.believe(states)
        np.testing.assert_allclose(kept.V[found], seen.value, rtol=0, atol=1e-9)
        np.testing.assert_allclose(kept.pi[found], seen.policy, rtol=0, atol=1e-9)


def test_estimated_rewards_are_a_regression(setting, lend):
    """theta = Lambda^{-1} sum phi (r + gamma V(x')), from the data as they were seen."""
    mdp, features = setting
    config = Configuration(1.0, 0.3, Sigmoid(4.0, 2.0), ridge=0.5, observe_last=True)
    data, env = [], lend(mdp, config.observe_last)
    terms = {"gamma": mdp.gamma, "geometric": True, "reward_range": (0.0, 1.0)}
    stream = RmaxRaviUcb(env, features, config, seed=4, **terms)
    env.generator, step = stream.rng, env.step

    def watched(action):
        x = env.x
        after, reward, *rest = step(action)
        data.append((x, action, reward, after))
        return after, reward, *rest

    env.step = watched
    stream.learn(40)
    V = stream.believe(np.arange(mdp.n_states)).value

    def regression():
        x, a, r, after = (np.array(column) for column in zip(*data, strict=True))
        phi = features(x, a)
        return 0.5 * np.eye(features.dim) + phi.T @ phi, phi.T @ (r + mdp.gamma * V[after])

    now, (Lambda, b) = stream.diagnostics, regression()
    blocks, s, _ = now.Lambda.shape
    for i in range(blocks):
        part = slice(i * s, (i + 1) * s)
        np.testing.assert_allclose(now.Lambda[i], Lambda[part, part], atol=1e-9)
    np.testing.assert_allclose(now.b, b, rtol=0, atol=1e-9)
    # The next update, by hand: Theta sums the epoch's.
    before = stream.policy.Theta
    stream.learn(1)
    theta = np.linalg.solve(*regression())
    if stream.diagnostics.epoch == now.epoch:
        theta += before
    np.testing.assert_allclose(stream.policy.Theta, theta, rtol=0, atol=1e-9)
