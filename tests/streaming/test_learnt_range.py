"""The range of rewards is learnt: widened without losing what was paid before."""

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

import optimist as opt
from optimist.envs.reward_scale import RewardScale

TERMS = {"gamma": 0.9, "geometric": False}


class Payer(gymnasium.Env):
    """Five states in a ring; each step pays what a table says, and the last state may end it."""

    observation_space, action_space = spaces.Discrete(5), spaces.Discrete(2)

    def __init__(self, pays, ends=False):
        self.pays, self.ends, self.paid, self.k = np.asarray(pays, float), ends, [], -1

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.x, self.t, self.k = 0, 0, self.k + 1
        return 0, {}

    def step(self, action):
        before, self.x = self.x, (self.x + 1 + action) % 5
        self.t += 1
        reward = float(self.pays[min(self.k, len(self.pays) - 1), before, action])
        end = self.ends and self.x == 4
        self.paid.append((before, action, reward, end))
        return self.x, reward, end, self.t == 30, {}


def table(seed, scale):
    return np.random.default_rng(seed).uniform(-1, 1, (1, 5, 2)) * scale


def test_the_ends_are_powers_of_two_or_zero():
    for rewards, wanted in {
        (): (0.0, 1.0),
        (0.0,): (0.0, 1.0),
        (1.0,): (0.0, 1.0),
        (-1.0,): (-1.0, 0.0),
        (0.3, 0.26): (0.0, 0.5),
        (-0.71, 100.0): (-1.0, 128.0),
        (-100.0, -3.0, 20.0): (-128.0, 32.0),
        (1e-9,): (0.0, 2.0**-29),
        (1.0000001,): (0.0, 2.0),
    }.items():
        scale = RewardScale(None, 1.0, 0.9, learns=True)
        for reward in rewards:
            scale.notice(reward)
        assert (scale.low, scale.high) == wanted
        for reward in rewards:
            assert 0 <= scale(reward) <= 1
    assert not RewardScale((0.0, 1.0), 1.0, 0.9, learns=True).notice(5.0)


@pytest.mark.parametrize("ends", [False, True])
@pytest.mark.parametrize("features", ["onehot", "distinct"])
def test_a_range_seen_in_the_first_episode_is_as_if_declared(ends, features):
    pays = table(1, 7.0)
    pays[0, 0], pays[0, 1:3] = -7.0, 7.0  # the first two steps
    agent = opt.Optimist(Payer(pays, ends), features, seed=2, **TERMS)
    told = opt.Optimist(Payer(pays, ends), features, seed=2, low=-8.0, high=8.0, **TERMS)
    first, second = (a.learn(40, show_progress=False) for a in (agent, told))
    assert (agent.environment.low, agent.environment.high) == (-8.0, 8.0)
    np.testing.assert_array_equal(first.steps, second.steps)
    np.testing.assert_array_equal(first.reward, second.reward)
    np.testing.assert_allclose(first.optimistic_value, second.optimistic_value, 1e-9)


@pytest.mark.parametrize("ends", [False, True])
def test_widening_loses_nothing(ends):
    pays = np.concatenate([table(k, 3.0**k) for k in range(6)])  # episode k pays up to 3^k
    env = Payer(pays, ends)
    agent = opt.Optimist(env, seed=2, **TERMS)
    low, high, epochs = 0.0, 1.0, 0
    for k in range(8):
        history = agent.learn(1, show_progress=False)
        x, a, paid, _ = (np.array(column) for column in zip(*env.paid, strict=True))
        now = agent.environment
        assert now.low <= paid.min() <= paid.max() <= now.high
        if (now.low, now.high) != (low, high):
            assert history.epoch[0] > epochs  # an epoch begins
        low, high, epochs = now.low, now.high, history.epoch[0]
        mapped = (paid - low) / (high - low)
        data = agent.transitions
        np.testing.assert_allclose(data.paid.sum(), mapped.sum(), 1e-12)
        pairs = np.bincount(2 * x + a, mapped, 10)
        block = data.block[data.source, data.action]  # 2 x + a, in whatever order states were met
        found = np.bincount(block, data.paid, 10)
        np.testing.assert_allclose(found, pairs, 1e-12, 1e-12)
        # The regression is of r + gamma V, with an end worth H times what 0 is mapped to.
        V = agent.diagnostics.V
        end = -low / (high - low) * 10
        value = np.where(data.after < 0, end, V[data.after]) * data.weight
        b = np.bincount(block, data.paid + 0.9 * value, 10)
        np.testing.assert_allclose(agent.diagnostics.b, b, 1e-9, 1e-9)
        assert k == 0 or V.max() <= 10 + 1e-9


def test_values_stay_those_of_the_environment_when_the_range_widens():
    quiet, loud = table(0, 1.0), table(0, 1.0)
    loud[0, :, 1] = 1000.0
    agent = opt.Optimist(Payer(np.concatenate([*[quiet] * 30, loud])), seed=0, **TERMS)
    agent.learn(30, show_progress=False)
    before, scale = agent.diagnostics.V, agent.environment
    raw = scale.low * 10 + before * (scale.high - scale.low)
    agent.learn(1, show_progress=False)
    assert agent.environment.high == 1024.0
    agent.learn(200, show_progress=False)
    after, scale = agent.diagnostics.V, agent.environment
    assert (scale.low * 10 + after * (scale.high - scale.low)).min() > raw.max()  # 1000 was found


def test_a_range_is_not_learnt_with_a_known_reward_or_value_bound():
    for told in ({"value_bound": 1.0}, {"reward": lambda x: np.zeros((len(x), 2))}):
        agent = opt.Optimist(Payer(table(0, 5.0)), seed=0, **TERMS, **told)
        with pytest.raises(opt.errors.BadEnvironment, match="is the range assumed"):
            agent.learn(5, show_progress=False)


def test_it_is_saved(tmp_path):
    pays = np.concatenate([table(k, 3.0**k) for k in range(6)])
    agent = opt.Optimist(Payer(pays), seed=2, **TERMS)
    agent.learn(4, show_progress=False)
    agent.save(tmp_path)
    env = Payer(pays)
    env.k = 3
    again = opt.Optimist.load(tmp_path, env, **TERMS)
    assert again.environment.low == agent.environment.low < 0
    for name, column in agent.learn(5, show_progress=False).columns.items():
        if name == "reward":
            env.k = 3
            np.testing.assert_array_equal(again.learn(5, show_progress=False).reward, column)
