"""When values and policy are updated, when an epoch begins, and what heaven is worth."""

import math
from dataclasses import replace

import numpy as np
import pytest
from reference.comparison import assert_close
from reference.environments import Episodic
from reference.variants import variant

from optimist import FiniteMDP
from optimist.agents import VariantAgent
from optimist.core import FixedBonus, Never, Threshold, Truncation


class Walk(Episodic):
    """A walk on a ring of states; each episode begins at the next state."""

    def __init__(self, n_states=8, steps=6):
        self.n_states, self.steps = n_states, steps

    def start(self):
        return self.episode % self.n_states

    def move(self, action):
        self.x = (self.x + 2 * action - 1) % self.n_states
        return float(self.x == 0), False, self.t >= self.steps


def learner(config, env=None, features=None, **told):
    told = {"gamma": 0.9, "geometric": False, **({"low": 0, "high": 1} | told)}
    if "reward_map" in told:
        del told["low"], told["high"]
    return VariantAgent(env or Walk(), features, config=config, seed=3, **told)


PLAIN = variant(2.0)
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
    config = variant(2.0, 0.0, Never(), updates=3)
    nothing = FiniteMDP(np.ones((1, 2, 1)), [[0.0, 0.0]], [1.0], gamma=0.9)
    unpaid = learner(config, reward_map=lambda reward: 0.0)
    for agent in (VariantAgent(nothing, config=config), unpaid):
        agent.learn(1)
        assert agent.policy.updates == 3


# Anytime.


def test_a_state_met_when_the_guess_has_doubled_is_one_of_its_epoch():
    """Met between two epochs it is believed what is believed of those met before it."""
    for episodes in (7, 8, 9, 15, 16, 17):
        env = Walk(200, steps=1)
        agent = learner(replace(PLAIN, anytime=True), env)
        agent.learn(episodes)
        seen = agent.believe([100])
        assert_close(seen.policy[0], agent.policy.probabilities(100), atol=1e-12)
        env.episode = 99  # the next begins at 100
        history = agent.learn(1)
        action = (env.x - 99) // 2
        assert_close(history.optimistic_value, seen.value, atol=1e-12)
        assert_close(history.ascension, seen.ascension[0, action], atol=1e-12)
        assert_close(history.bonus, seen.bonus[0, action], atol=1e-12)


# Heaven.


@pytest.mark.parametrize(("v_max", "worth"), [(None, 10.0), (3.0, 3.0)])
def test_where_nothing_is_known_heaven_is_hoped_for(v_max, worth):
    config = variant(math.inf, 0.0, Threshold.after(1), v_max=v_max)
    agent = learner(config, Walk(200, steps=1))
    agent.learn(3)
    assert agent.policy.heaven == pytest.approx(worth)
    np.testing.assert_allclose(agent.believe([100]).value, worth)


@pytest.mark.parametrize("name", ["softmax", "truncated", "threshold"])
def test_values_stay_below_v_max(name):
    """If v_max bounds what the environment pays, as R_max H does, nothing exceeds it."""
    config = replace(CONFIGURATIONS[name], updates=20, v_max=6.0, bonus=FixedBonus(0.0))
    agent = learner(config)
    history = agent.learn(60)
    assert history.sup_q.max() <= 6.0 + 1e-9
    assert history.optimistic_value.max() <= 6.0 + 1e-9
    if name == "threshold":
        assert history.sup_q[0] == 6.0  # it is what is hoped for
    assert_close(agent.policy.probabilities(np.arange(8)), agent.believe(np.arange(8)).policy)
    with pytest.raises(ValueError, match=r"v_max must be at most R_max H = 10; got 11"):
        learner(replace(PLAIN, v_max=11.0)).learn(1)
