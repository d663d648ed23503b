"""When values and policy are updated, when an epoch begins, and what heaven is worth."""

import math

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from scipy.special import softmax

from optimist import Configuration, FiniteMDP, RmaxRaviUcb
from optimist.core import Never, Sigmoid, Threshold, Truncation

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


def learner(config, env=None, features=None, gamma=0.9, **terms):
    given = {"gamma": gamma, "geometric": False, "reward_range": (0, 1), **terms}
    return RmaxRaviUcb(env or Walk(), features, config, seed=3, **given)


CONFIGURATIONS = {
    "softmax": {"eta": 2.0, "ascension": SIGMOID},
    "greedy": {"eta": math.inf, "ascension": SIGMOID},
    "truncated": {"eta": 2.0, "ascension": Truncation()},
    "threshold": {"eta": 2.0, "ascension": Threshold.after(3)},
}


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_lazy_updates_wait_for_an_epoch(name):
    agent = learner(Configuration(beta=0.3, lazy=True, updates=4, **CONFIGURATIONS[name]))
    history = agent.learn(80)
    begins = np.diff(history.epoch, prepend=0) > 0
    np.testing.assert_array_equal(history.sup_q > 0, begins)
    assert 4 < begins.sum() < 40
    assert agent.policy.updates == (1 if name == "greedy" else 4)


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_otherwise_they_follow_every_episode(name):
    agent = learner(Configuration(beta=0.3, updates=2, **CONFIGURATIONS[name]))
    history = agent.learn(80)
    assert (history.sup_q > 0).all()
    in_epoch = int((history.epoch == history.epoch[-1]).sum())
    assert agent.policy.updates == (1 if name == "greedy" else 2 * in_epoch)


def test_without_a_tolerance_every_update_is_made():
    """Also where nothing is paid, so that no value ever changes."""
    config = Configuration(2.0, 0.0, Never(), updates=3)
    nothing = FiniteMDP(np.ones((1, 2, 1)), [[0.0, 0.0]], [1.0], gamma=0.9)
    unpaid = learner(config, reward_range=None, reward_map=lambda reward: 0.0)
    for agent in (RmaxRaviUcb(nothing, config=config), unpaid):
        agent.learn(1)
        assert agent.policy.updates == 3


def test_a_policy_stays_between_lazy_updates():
    agent = learner(Configuration(2.0, 0.3, SIGMOID, lazy=True, updates=4))
    x, epoch, policy = np.arange(8), 0, None
    for _ in range(60):
        agent.learn(1)
        now = agent.policy.probabilities(x)
        if agent.history.epoch[-1] == epoch:
            np.testing.assert_array_equal(now, policy)
        epoch, policy = agent.history.epoch[-1], now


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("features", [None, "rbf"])
def test_an_epoch_begins_when_the_determinant_has_doubled(lazy, features):
    class Spread(gymnasium.ObservationWrapper):
        observation_space = spaces.Box(0.0, 1.0, (1,), np.float64)

        def observation(self, x):
            return np.array([x / 8 + 1e-3 * self.env.t])

    env = Walk() if features is None else Spread(Walk())
    config = Configuration(2.0, 0.3, SIGMOID, lazy=lazy)
    agent = learner(config, env, None if features is None else "rbf:4")
    epoch, start = 0, -math.inf
    for k in range(60):
        agent.learn(1)
        m = agent.diagnostics
        log_det = np.linalg.slogdet(m.Lambda)[1].sum()
        if log_det >= start + math.log(2) - 1e-9:
            epoch, start = epoch + 1, log_det
            np.testing.assert_allclose(agent.policy.Lambda, m.Lambda)  # bonuses are of now
        assert agent.history.epoch[-1] == epoch, k
        assert m.log_det == pytest.approx(log_det)
    assert epoch > 4


def test_bonuses_are_those_of_the_start_of_the_epoch():
    agent = learner(Configuration(2.0, 0.3, SIGMOID))
    agent.learn(30)
    while agent.learn(1).epoch[0] != agent.history.epoch[-2]:
        pass  # until one has ended within an epoch
    Lambda = agent.policy.Lambda[:, 0, 0].reshape(8, 2)
    np.testing.assert_allclose(agent.believe(np.arange(8)).bonus, 0.3 / np.sqrt(Lambda))
    assert (agent.diagnostics.Lambda[:, 0, 0].reshape(8, 2) > Lambda).any()


# Anytime.

ANYTIME = Configuration(2.0, 0.3, SIGMOID, anytime=True)


def test_a_doubled_guess_begins_an_epoch():
    agent = learner(ANYTIME, Walk(2, steps=1))
    agent.learn(140)
    begins = np.flatnonzero(np.diff(agent.history.epoch, prepend=0))
    assert {8, 16, 32, 64, 128} <= set(begins.tolist())


def test_the_ascension_follows_the_guess():
    agent = learner(ANYTIME)
    for k in range(1, 40):
        agent.learn(1)
        expected = ANYTIME.ascension_in(ANYTIME.stage(k - 1))  # of the episode that was learnt from
        assert agent.policy.ascension == expected, k
        x = np.arange(8)
        seen = agent.believe(x)
        np.testing.assert_allclose(seen.ascension, expected(seen.bonus), atol=1e-12)
        np.testing.assert_allclose(agent.policy.probabilities(x), seen.policy, atol=1e-9)


@pytest.mark.parametrize("episodes", [7, 8, 9, 15, 16, 17])
def test_a_state_met_when_the_guess_has_doubled_is_one_of_its_epoch(episodes):
    """Met between two epochs it is believed what is believed of those met before it."""
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
        config = Configuration(math.inf, 0.0, Threshold.after(1), v_max=v_max)
        agent = learner(config, Walk(200, steps=1))
        agent.learn(3)
        assert agent.policy.heaven == pytest.approx(worth)
        np.testing.assert_allclose(agent.believe([100]).value, worth)


@pytest.mark.parametrize("name", ["softmax", "truncated", "threshold"])
def test_values_stay_below_v_max(name):
    """If v_max bounds what the environment pays, as R_max H does, nothing exceeds it."""
    agent = learner(Configuration(beta=0.0, updates=20, v_max=6.0, **CONFIGURATIONS[name]))
    history = agent.learn(60)
    assert history.sup_q.max() <= 6.0 + 1e-9
    assert history.optimistic_value.max() <= 6.0 + 1e-9
    if name == "threshold":
        assert history.sup_q[0] == 6.0  # it is what is hoped for


def test_v_max_above_the_trivial_bound_is_refused():
    with pytest.raises(ValueError, match=r"v_max = 11 is above R_max H = 10, which is a bound"):
        learner(Configuration(1.0, 0.3, SIGMOID, v_max=11.0)).learn(1)


def test_v_max_is_of_the_policy_too():
    agent = learner(Configuration(2.0, 0.3, SIGMOID, v_max=4.0, updates=3))
    agent.learn(25)
    x = np.arange(8)
    np.testing.assert_allclose(
        agent.policy.probabilities(x), agent.believe(x).policy, rtol=0, atol=1e-9
    )


@pytest.mark.parametrize("updates", [1, 5])
def test_several_updates_are_made_one_after_the_other(updates):
    """From the same data, each from the V of the one before: of an epoch's only one, by hand."""
    eta, gamma = 2.0, 0.9
    agent = learner(Configuration(eta, 0.3, Never(), updates=updates))
    agent.learn(1)
    now, data = agent.diagnostics, agent.transitions
    Lambda, pair = now.Lambda[:, 0, 0], data.block[data.source, data.action]
    V, S = np.zeros(len(now.V)), np.zeros(now.pi.shape)
    for _ in range(updates):
        theta = np.bincount(pair, data.paid + gamma * data.weight * V[data.after], minlength=16)
        Q = (theta / Lambda + 0.3 / np.sqrt(Lambda))[data.block]
        pi = softmax(eta * S, axis=1)
        V, S = np.log((pi * np.exp(eta * Q)).sum(axis=1)) / eta, S + Q
    np.testing.assert_allclose(now.V, V, rtol=0, atol=1e-12)
    np.testing.assert_allclose(now.pi, softmax(eta * S, axis=1), rtol=0, atol=1e-12)
