"""When values and policy are updated, when an epoch begins, and what heaven is worth."""

import math
from dataclasses import replace

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from optimist import FiniteMDP
from optimist.agents import VariantAgent
from optimist.core import FixedBonus, Never, Sigmoid, Threshold, Truncation, Variant

SIGMOID = Sigmoid(4.0, 2.0)


class Walk(gymnasium.Env):
    """A walk on a ring of eight states; each episode begins at the next state of a longer list."""

    action_space = spaces.Discrete(2)

    def __init__(self, n_states=8, steps=6):
        self.observation_space, self.n, self.steps = spaces.Discrete(n_states), n_states, steps
        self.episode = -1

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.episode, self.t = self.episode + 1, 0
        self.x = self.episode % self.n
        return self.x, {}

    def step(self, action):
        self.t += 1
        self.x = (self.x + 2 * int(action) - 1) % self.n
        return self.x, float(self.x == 0), False, self.t >= self.steps, {}


def learner(config, env=None, features=None, **told):
    told = {"gamma": 0.9, "geometric": False, **({"low": 0, "high": 1} | told)}
    if "reward_map" in told:
        del told["low"], told["high"]
    return VariantAgent(env or Walk(), features, config=config, seed=3, **told)


PLAIN = Variant(eta=2.0, bonus=FixedBonus(0.3), ascension=SIGMOID)
CONFIGURATIONS = {
    "softmax": PLAIN,
    "greedy": replace(PLAIN, eta=math.inf),
    "truncated": replace(PLAIN, ascension=Truncation()),
    "threshold": replace(PLAIN, ascension=Threshold.after(3)),
}


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_updates_follow_every_episode_or_wait_for_an_epoch(name):
    agent = learner(replace(CONFIGURATIONS[name], updates=2))
    history = agent.learn(80)
    assert (history.sup_q > 0).all()
    in_epoch = int((history.epoch == history.epoch[-1]).sum())
    assert agent.policy.updates == (1 if name == "greedy" else 2 * in_epoch)
    agent = learner(replace(CONFIGURATIONS[name], updates=4, lazy=True))
    x, epoch, policy = np.arange(8), 0, None
    for _ in range(80):
        history, now = agent.learn(1), agent.policy.probabilities(x)
        begins = history.epoch[0] > epoch
        assert (history.sup_q[0] > 0) == begins
        assert begins or np.array_equal(now, policy)  # a policy stays between lazy updates
        epoch, policy = history.epoch[0], now
    assert 4 < epoch < 40
    assert agent.policy.updates == (1 if name == "greedy" else 4)


def test_without_a_tolerance_every_update_is_made():
    """Also where nothing is paid, so that no value ever changes."""
    config = replace(PLAIN, bonus=FixedBonus(0.0), ascension=Never(), updates=3)
    nothing = FiniteMDP(np.ones((1, 2, 1)), [[0.0, 0.0]], [1.0], gamma=0.9)
    unpaid = learner(config, reward_map=lambda reward: 0.0)
    for agent in (VariantAgent(nothing, config=config), unpaid):
        agent.learn(1)
        assert agent.policy.updates == 3


# Anytime.

ANYTIME = replace(PLAIN, anytime=True)


def test_a_state_met_when_the_guess_has_doubled_is_one_of_its_epoch():
    """Met between two epochs it is believed what is believed of those met before it."""
    for episodes in (7, 8, 9, 15, 16, 17):
        env = Walk(200, steps=1)
        agent = learner(ANYTIME, env)
        agent.learn(episodes)
        seen, pi = agent.believe([100]), agent.policy.probabilities(100)
        np.testing.assert_allclose(seen.policy[0], pi, atol=1e-12)
        env.episode = 99  # the next begins at 100
        history = agent.learn(1)
        action = (env.x - 99) // 2
        np.testing.assert_allclose(history.optimistic_value, seen.value, atol=1e-12)
        np.testing.assert_allclose(history.ascension, seen.ascension[0, action], atol=1e-12)
        np.testing.assert_allclose(history.bonus, seen.bonus[0, action], atol=1e-12)


# Heaven.


def test_where_nothing_is_known_heaven_is_hoped_for():
    for v_max, worth in ((None, 10.0), (3.0, 3.0)):
        config = Variant(
            eta=math.inf, bonus=FixedBonus(0.0), ascension=Threshold.after(1), v_max=v_max
        )
        agent = learner(config, Walk(200, steps=1))
        agent.learn(3)
        assert agent.policy.heaven == pytest.approx(worth)
        np.testing.assert_allclose(agent.believe([100]).value, worth)


def test_values_stay_below_v_max():
    """If v_max bounds what the environment pays, as R_max H does, nothing exceeds it."""
    for name in ("softmax", "truncated", "threshold"):
        config = replace(CONFIGURATIONS[name], updates=20, v_max=6.0, bonus=FixedBonus(0.0))
        agent = learner(config)
        history = agent.learn(60)
        assert history.sup_q.max() <= 6.0 + 1e-9
        assert history.optimistic_value.max() <= 6.0 + 1e-9
        if name == "threshold":
            assert history.sup_q[0] == 6.0  # it is what is hoped for
        policy, seen = agent.policy.probabilities(np.arange(8)), agent.believe(np.arange(8))
        np.testing.assert_allclose(policy, seen.policy, rtol=0, atol=1e-9)
    with pytest.raises(ValueError, match=r"v_max must be at most R_max H = 10; got 11"):
        learner(replace(PLAIN, v_max=11.0)).learn(1)
