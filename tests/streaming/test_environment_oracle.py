"""In environments that pay, terminate and are cut off, the default computes what its formulas say.

The transcription is told what the environment showed, and nothing that the learner computed but
theta, which two ways of computing find to different digits.
"""

from dataclasses import replace

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from reference import optimist as optimist_transcription
from reference.features import DenseStateFeatures

from optimist.agents import Optimist, VariantAgent
from optimist.features import OneHot, PerAction, Table

X, A, GAMMA = 6, 3, 0.9
LOW, HIGH = -1.0, 2.0  # 0, which termination pays for ever, becomes a third of R_max
EPISODES = 60


class Walk(gymnasium.Env):
    """A random walk that ends by chance, pays by chance, and is cut off; it notes what it shows."""

    observation_space, action_space = spaces.Discrete(X), spaces.Discrete(A)

    def __init__(self, limit):
        rng = np.random.default_rng(5)
        self.P = np.cumsum(rng.dirichlet(np.full(X + 1, 0.4), size=(X, A)), axis=2)
        self.r = rng.uniform(LOW + 0.3, HIGH - 0.3, size=(X, A))
        self.limit, self.episodes = limit, []

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.x = int(self.np_random.integers(2))
        self.episodes.append((self.x, []))
        return self.x, {}

    def step(self, action):
        reward = self.r[self.x, action] + 0.3 * self.np_random.choice([-1, 1])
        after = int(np.searchsorted(self.P[self.x, action], self.np_random.random(), side="right"))
        terminated, seen = after == X, min(after, X - 1)
        steps = self.episodes[-1][1]
        mapped = (reward - LOW) / (HIGH - LOW)
        steps.append((self.x, int(action), mapped, seen, terminated))
        self.x = seen
        return seen, float(reward), terminated, len(steps) == self.limit, {}


FEATURES = {
    "one-hot": lambda: OneHot(X, A),
    "blocks": lambda: PerAction(DenseStateFeatures(X, 4), A),
    "dense": lambda: Table(np.random.default_rng(3).normal(size=(X, A, 8)) / 3),
}


@pytest.fixture(scope="module")
def plain():
    """The module of the transcription."""
    return optimist_transcription


@pytest.mark.parametrize("geometric", [False, True])
@pytest.mark.parametrize("name", FEATURES)
def test_the_streaming_learner_agrees_with_the_formulas(name, geometric, plain):
    features, states = FEATURES[name](), np.arange(X)
    env = Walk(limit=7)
    config = replace(Optimist.Config().variant(), observe_last=True)
    agent = VariantAgent(
        env, features, config=config, seed=2, gamma=GAMMA, geometric=geometric, low=LOW, high=HIGH
    )
    heaven, unit = config.heaven(GAMMA), config.ridge_for(features.bound)

    def same_theta(own):
        np.testing.assert_allclose(agent.diagnostics.ridge / unit, own, rtol=1e-5)
        return agent.diagnostics.ridge / unit

    other = plain.AdaptiveInEnvironment(
        features.all_actions(states), GAMMA, terminal=-LOW / (HIGH - LOW) / (1 - GAMMA),
        eta=config.eta, c=config.bonus.c, level=config.ascension.level, heaven=heaven, unit=unit,
        updates=config.updates, tolerance=config.tolerance, shared=name != "one-hot",
        theta_of=same_theta,
    )  # fmt: skip

    def close(actual, expected, what, unit=1.0):
        np.testing.assert_allclose(
            np.asarray(actual) / unit, np.asarray(expected) / unit, rtol=0, atol=1e-9,
            err_msg=f"{what}, episode {agent.episodes}",
        )  # fmt: skip

    terminated = truncated = 0
    for _ in range(EPISODES):
        history = agent.learn(1)
        start, steps = env.episodes[-1]
        other.episode(start, steps)
        terminated += steps[-1][-1]
        truncated += len(steps) == env.limit and not steps[-1][-1]
        now, seen = agent.diagnostics, agent.believe(states)
        assert history.steps[0] == other.steps
        assert history.epoch[0] == other.e
        assert history.terminated[0] == steps[-1][-1]
        assert history.states[0] == other.met.sum()
        close(history.reward[0], sum(LOW + (HIGH - LOW) * step[2] for step in steps), "reward")
        close(history.optimistic_value[0], other.value, "V of the start", heaven)
        close(history.ascension[0], other.ascension, "mean ascension")
        close(history.bonus[0], other.bonus, "mean bonus", heaven)
        close(history.sup_q[0], other.sup_q, "sup |Q|", heaven)
        close(now.s, other.s, "s")
        close(now.v, other.v, "v", heaven)
        close(seen.value, other.V, "V", heaven)
        close(seen.ascension, other.p, "p")
        close(seen.bonus, other.CB, "CB", heaven)
        close(seen.policy, other.pi, "pi")
        close(agent.policy.probabilities(states), other.pi, "stored policy")
    assert terminated > 5
    assert truncated > 5
    assert 3 < other.e < EPISODES
    assert other.CB.max() > 1e-3 * heaven
    assert min(other.swept) < config.updates  # updates ended at the tolerance
