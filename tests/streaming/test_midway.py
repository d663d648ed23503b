"""Long episodes are learnt from before they end, as in UCRL2, unless they are geometric."""

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

import optimist as opt
from optimist.agents import VariantAgent

TERMS = {"gamma": 0.95, "geometric": False}
ACTIONS = 50


class Levers(gymnasium.Env):
    """One state and fifty levers, one of which pays; an episode is two hundred pulls."""

    observation_space, action_space = spaces.Discrete(1), spaces.Discrete(ACTIONS)

    def __init__(self):
        self.pulled = []

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.t = 0
        return 0, {}

    def step(self, action):
        self.pulled.append(action)
        self.t += 1
        return 0, float(action == 17), False, self.t == 200, {}


def test_all_levers_are_tried_within_one_episode():
    env = Levers()
    history = opt.Optimist(env, seed=0, **TERMS).learn(1, show_progress=False)
    first = len(set(env.pulled[: ACTIONS + 25]))
    assert first == ACTIONS  # at random it would be 39 of them
    assert set(env.pulled[100:]) == {17}
    assert history.epoch[0] > 1
    assert history.steps[0] == 200


def test_a_pair_is_not_played_after_it_was_tried_as_often_as_before():
    env = Levers()
    agent = opt.Optimist(env, seed=0, **TERMS)
    agent.learn(3, show_progress=False)
    data = agent.transitions
    visits = np.bincount(data.action, data.weight, ACTIONS)
    np.testing.assert_array_equal(visits, np.bincount(env.pulled, minlength=ACTIONS))
    assert agent.steps == len(env.pulled) == 600
    # Between two updates no visits more than double: 50 first ones, then about log2 of the pulls.
    assert agent.history.epoch[-1] < ACTIONS + 2 * np.log2(600)


def test_geometric_episodes_and_other_agents_learn_at_the_end():
    env = Levers()
    agent = opt.Optimist(env, seed=0, gamma=0.95, geometric=True)
    history = agent.learn(20, show_progress=False)
    assert (np.diff(history.epoch) <= 1).all()
    other = opt.RmaxRaviUcb(Levers(), seed=0, **TERMS).learn(20, show_progress=False)
    assert (np.diff(other.epoch) <= 1).all()


def test_it_changes_no_episode_that_visits_no_pair_twice():
    config = opt.Optimist.Config().variant()
    plain = config.__class__(**{**vars(config), "midway": False})
    world = gymnasium.make("FrozenLake-v1", is_slippery=False, max_episode_steps=4)
    histories = [
        VariantAgent(world, config=c, seed=1, gamma=0.9).learn(1, show_progress=False)
        for c in (config, plain)
    ]
    np.testing.assert_array_equal(*(h.steps for h in histories))


class WalkThenStay(gymnasium.Env):
    """The first episode meets all states, and the second stays in one of them."""

    action_space = spaces.Discrete(2)

    def __init__(self, n):
        self.n, self.observation_space = n, spaces.Discrete(n)
        self.episode, self.epochs = 0, []

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.episode, self.t = self.episode + 1, 0
        return 0, {}

    def step(self, action):
        self.t += 1
        if self.episode == 2:
            self.epochs.append(self.agent.diagnostics.epoch)
            return 0, 0.0, False, self.t == 100, {}
        return self.t, 0.0, False, self.t == self.n - 1, {}


@pytest.mark.parametrize(("states", "apart"), [(100, 1), (101, 2), (1000, 10), (1001, 11)])
def test_updates_midway_are_a_hundredth_of_the_states_met_apart(states, apart):
    """An update computes values of all of them; each action has been tried as often long before."""
    env = WalkThenStay(states)
    env.agent = opt.Optimist(env, seed=1, **TERMS)
    env.agent.learn(2, show_progress=False)
    updated = np.flatnonzero(np.diff(env.epochs)) + 1  # steps of the episode before each update
    assert len(updated) > 2
    assert np.diff(updated, prepend=0).min() == apart
