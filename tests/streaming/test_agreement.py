"""On the same episodes of the same world the streaming learner computes what the compiled one does.

The environment draws its states from the learner's generator in the order of the compiled loop, so
that both play the same episodes as long as their policies agree.
"""

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from reference.comparison import assert_close
from reference.environments import SameDraws
from reference.variants import variant

from optimist.agents import Optimist, VariantAgent
from optimist.core import Contraction, Never, Sigmoid, Threshold, Truncation, VarianceBonus

PLAIN = variant(2.0, 0.5, Sigmoid(8.0, 4.0))
ADAPTIVE = replace(Optimist.Config().variant(), tolerance=0.0)
CONFIGURATIONS = {
    "plain": PLAIN,
    "busy": replace(PLAIN, ridge=0.1, updates=3),
    "cautious": variant(0.01, 1.0, Sigmoid(1.0, 3.0), r_max=2.0, observe_last=True),
    "greedy": replace(PLAIN, eta=math.inf, updates=2),
    "truncated": variant(0.5, 2.0, Truncation(), updates=2, observe_last=True),
    "threshold": variant(math.inf, 0.0, Threshold.after(3), updates=20),
    "plain bonuses": variant(0.5, 0.2, Never()),
    "anytime": replace(PLAIN, anytime=True),
    "lazy": replace(PLAIN, updates=5, lazy=True),
    # Where updates end at a tolerance, states that were never met count in the one alone.
    "adaptive": replace(ADAPTIVE, updates=20),
    "adaptive to the last": replace(ADAPTIVE, updates=3, observe_last=True),
    "variance": replace(PLAIN, bonus=VarianceBonus(0.05), updates=2),
    "bounded": replace(PLAIN, updates=2, v_max=3.0),
    "contraction": replace(PLAIN, updates=5, ascension=Contraction(8.0, 4.0)),
}


def start(mdp, features, config, **told):
    """The two learners, whose generators give the same numbers."""
    env = SameDraws(mdp, config.observe_last)
    told = {"gamma": mdp.gamma, "geometric": True, "low": 0.0, "high": config.r_max, **told}
    stream = VariantAgent(env, features, config=config, seed=4, **told)
    env.generator = stream.rng
    # What heaven is worth is not learnt if it is said: the stream knows no rewards of unmet states.
    config = replace(config, v_max=config.heaven(mdp.gamma))
    return VariantAgent(mdp, features, config=config, seed=4, stride=0), stream


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_known_rewards(settings, name):
    for world, make in settings.items():
        mdp, features = make()
        reward = partial(np.take, mdp.r, axis=0)
        compiled, stream = start(mdp, features, CONFIGURATIONS[name], reward=reward)
        states = np.arange(mdp.n_states)
        for k in range(150):
            one, other, where = compiled.learn(1), stream.learn(1), f"{world}, episode {k}"
            assert one.steps[0] == other.steps[0], where
            assert one.epoch[0] == other.epoch[0], where
            for column in ("reward", "bonus", "ascension"):
                assert_close(getattr(one, column), getattr(other, column), f"{column}, {where}")
            it, seen = compiled.diagnostics, stream.believe(states)
            assert_close(seen.value, it.V, f"V, {where}")
            assert_close(seen.policy, it.pi, f"pi, {where}")
            assert_close(seen.bonus, it.CB, f"CB, {where}")
            assert_close(seen.ascension, it.p, f"p, {where}")
        assert 3 < one.epoch[0] < 150, world
        assert_close(compiled.policy.probabilities(states), stream.policy.probabilities(states))
        assert len(stream.diagnostics.V) <= mdp.n_states  # each state once, however often met


@pytest.mark.parametrize("evaluates", [False, True])
def test_estimated_rewards_are_a_regression(setting, evaluates):
    """theta = Lambda^{-1} sum phi (r + gamma V(x')), from the data as they were seen.

    Where a policy is evaluated, of r + gamma V - H: the ridge shrinks to heaven.
    """
    mdp, features = setting
    config = replace(PLAIN, ridge=0.5, observe_last=True)
    if evaluates:
        config = replace(config, ascension=Contraction(8.0, 4.0))
    _, stream = start(mdp, features, config)
    data, env = [], stream.environment.id
    step = env.step

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
        Lambda = 0.5 * np.eye(features.dim) + phi.T @ phi
        return Lambda, phi.T @ (r + mdp.gamma * V[after]), phi.sum(axis=0)

    now, (Lambda, b, _) = stream.diagnostics, regression()
    blocks, s, _ = now.Lambda.shape
    for i in range(blocks):
        part = slice(i * s, (i + 1) * s)
        np.testing.assert_allclose(now.Lambda[i], Lambda[part, part], atol=1e-9)
    assert_close(now.b, b)
    # The next update, by hand: Theta sums the epoch's.
    before = stream.policy.Theta
    stream.learn(1)
    Lambda, b, whole = regression()
    theta = np.linalg.solve(Lambda, b - evaluates * mdp.horizon * whole)
    if stream.diagnostics.epoch == now.epoch:
        theta += before
    assert_close(stream.policy.Theta, theta)
