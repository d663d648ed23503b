"""In environments that pay, terminate and are cut off, the default computes what its formulas say.

The transcription is told what the environment showed, and nothing that the learner computed but
theta, which two ways of computing find to different digits.
"""

from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from reference.comparison import assert_close, assert_same_episode
from reference.environments import Episodic
from reference.features import DenseStateFeatures
from reference.optimist import AdaptiveInEnvironment, parameters_of, units_of

from optimist.agents import Optimist, VariantAgent
from optimist.features import OneHot, PerAction, Table

X, A, GAMMA = 6, 3, 0.9
LOW, HIGH = -1.0, 2.0  # 0, which termination pays for ever, becomes a third of R_max
EPISODES = 60


class Walk(Episodic):
    """A random walk that ends by chance, pays by chance, and is cut off; it notes what it shows."""

    n_states, n_actions, limit = X, A, 7

    def __init__(self):
        rng = np.random.default_rng(5)
        self.P = np.cumsum(rng.dirichlet(np.full(X + 1, 0.4), size=(X, A)), axis=2)
        self.r = rng.uniform(LOW + 0.3, HIGH - 0.3, size=(X, A))

    def start(self):
        self.first, self.steps = int(self.np_random.integers(2)), []
        return self.first

    def move(self, action):
        x, reward = self.x, self.r[self.x, action] + 0.3 * self.np_random.choice([-1, 1])
        after = int(np.searchsorted(self.P[x, action], self.np_random.random(), side="right"))
        terminated, self.x = after == X, min(after, X - 1)
        mapped = (reward - LOW) / (HIGH - LOW)
        self.steps.append((x, action, mapped, self.x, terminated))
        return float(reward), terminated, self.t == self.limit


FEATURES = {
    "one-hot": lambda: OneHot(X, A),
    "blocks": lambda: PerAction(DenseStateFeatures(X, 4), A),
    "dense": lambda: Table(np.random.default_rng(3).normal(size=(X, A, 8)) / 3),
}


@pytest.mark.parametrize("geometric", [False, True])
@pytest.mark.parametrize("name", FEATURES)
def test_the_streaming_learner_agrees_with_the_formulas(name, geometric):
    features, states, env = FEATURES[name](), np.arange(X), Walk()
    config = replace(Optimist.Config().variant(), observe_last=True, midway=False)
    told = {"gamma": GAMMA, "geometric": geometric, "low": LOW, "high": HIGH}
    agent = VariantAgent(env, features, config=config, seed=2, **told)
    other = AdaptiveInEnvironment(
        features.all_actions(states),
        GAMMA,
        terminal=-LOW / (HIGH - LOW) / (1 - GAMMA),
        **parameters_of(agent, GAMMA),
    )
    units, terminated, truncated = units_of(agent, GAMMA), 0, 0
    for _ in range(EPISODES):
        history = agent.learn(1)
        steps, ended = env.steps, env.steps[-1][-1]
        other.episode(env.first, steps)
        terminated += ended
        truncated += len(steps) == env.limit and not ended
        now, seen = agent.diagnostics, agent.believe(states)
        believed = {"V": seen.value, "p": seen.ascension, "CB": seen.bonus, "pi": seen.policy}
        found = SimpleNamespace(s=now.s, v=now.v, heaven=now.heaven, **believed)
        assert_same_episode(history, found, other, units=units)
        assert history.terminated[0] == ended
        assert history.states[0] == other.met.sum()
        assert_close(history.reward[0], sum(LOW + (HIGH - LOW) * step[2] for step in steps))
        assert_close(agent.policy.probabilities(states), other.pi, "stored policy")
    assert terminated > 5
    assert truncated > 5
    assert 3 < other.e < EPISODES
    assert other.CB.max() > 1e-3 * config.heaven(GAMMA)
    assert min(other.swept) < config.updates  # updates ended at the tolerance


def test_parts_of_an_episode_are_learnt_from_as_in_ucrl2():
    """Before a pair is tried again that was tried as often since the last update as before."""
    features, states, env = OneHot(X, A), np.arange(X), Walk()
    env.limit = 40
    config = Optimist.Config().variant()
    told = {"gamma": GAMMA, "geometric": False, "low": LOW, "high": HIGH}
    agent = VariantAgent(env, features, config=config, seed=2, **told)
    terminal = -LOW / (HIGH - LOW) / (1 - GAMMA)
    given = parameters_of(agent, GAMMA)
    other = AdaptiveInEnvironment(features.all_actions(states), GAMMA, terminal=terminal, **given)
    units, done, parts = units_of(agent, GAMMA), [0], []

    def compare(part, whole):
        other.episode(part[0][0], part, whole)
        done[0] += len(part)
        now, seen = agent.diagnostics, agent.believe(states)
        found = {"V": seen.value, "p": seen.ascension, "CB": seen.bonus, "pi": seen.policy}
        for name, wanted in other.state.items():
            mine, unit = found.get(name, getattr(now, name, None)), units.get(name, 1.0)
            assert_close(mine / unit, wanted / unit, name)

    move = env.move

    def noticed(action):
        """Before each step: the transitions that were learnt from meanwhile are a part."""
        begin = parts[-1] if parts else 0
        tried = Counter(step[:2] for step in env.steps[begin:])
        visits = Counter((x, a) for x, a, _ in other.D)
        outdated = {a for a in range(A) if tried[env.x, a] >= max(visits[env.x, a], 1)}
        if agent.steps > done[0]:
            assert outdated  # one of them was to be played
            compare(env.steps[begin:], whole=False)
            parts.append(len(env.steps))
        else:
            assert action not in outdated
        return move(action)

    env.move = noticed
    count = 0
    for _ in range(30):
        parts.clear()
        agent.learn(1)
        count += len(parts)
        compare(env.steps[parts[-1] if parts else 0 :], whole=True)
        assert agent.steps == done[0]
    assert count > 5
