"""How episodes end: as the environment ends them, and geometrically where nothing else would."""

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

import optimist as opt
from optimist.agents import Algorithm, PythonAgent

GAMMA = 0.9
PATIENCE = 100  # 10 H


class Walk(gymnasium.Env):
    """Two states; it cuts episodes off after some steps, or never does."""

    observation_space, action_space = spaces.Discrete(2), spaces.Discrete(2)

    def __init__(self, cuts_after=None):
        self.cuts_after = cuts_after

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.t = 0
        return 0, {}

    def step(self, action):
        self.t += 1
        return action, 1.0, False, self.t == self.cuts_after, {}


class Coin(Algorithm):
    """Plays at random."""

    def act(self, state, rng):
        return int(rng.integers(2))

    def observe(self, *given):
        pass

    def policy(self):
        return np.full((2, 2), 0.5)


def optimist(env, **told):
    return opt.Optimist(env, seed=1, **{"gamma": GAMMA, **told})


def python_agent(env, **told):
    return PythonAgent(env, Coin(), seed=1, **{"gamma": GAMMA, **told})


BOTH = pytest.mark.parametrize("make", [optimist, python_agent])


@BOTH
def test_an_environment_that_cuts_off_by_itself_is_left_to_it(make):
    for after in (3, PATIENCE - 1):
        history = make(Walk(after)).learn(50, show_progress=False)
        assert (history.steps == after).all()
    noticed = Walk(after)
    noticed.max_steps = 5 * PATIENCE  # it tells, as MiniGrid does
    noticed.cuts_after = 5 * PATIENCE
    assert (make(noticed).learn(3, show_progress=False).steps == 5 * PATIENCE).all()


@BOTH
def test_one_that_would_never_end_is_broken_off_once_and_then_geometrically(make):
    steps = make(Walk()).learn(2000, show_progress=False).steps
    assert steps[0] == PATIENCE
    assert abs(steps[1:].mean() * (1 - GAMMA) - 1) < 0.1
    assert steps[1:].min() == 1


@BOTH
def test_a_declared_ending_is_kept(make):
    steps = make(Walk(), geometric=True).learn(2000, show_progress=False).steps
    assert abs(steps.mean() * (1 - GAMMA) - 1) < 0.1
    assert (make(Walk(150), geometric=False).learn(3, show_progress=False).steps == 150).all()


def test_a_world_that_is_known_never_to_end_needs_no_patience():
    world = opt.envs.RiverSwim(6, gamma=GAMMA)
    agent = optimist(world.make())
    assert agent.environment.geometric
    assert agent.learn(1000, show_progress=False).steps.mean() < 12


def test_once_cut_off_an_environment_may_take_its_time():
    env = Walk(3)
    agent = optimist(env)
    agent.learn(1, show_progress=False)
    env.cuts_after = 5 * PATIENCE
    assert agent.learn(1, show_progress=False).steps[0] == 5 * PATIENCE


def test_what_was_noticed_is_saved(tmp_path):
    agent = optimist(Walk())
    agent.learn(1, show_progress=False)
    agent.save(tmp_path / "ours")
    again = opt.Optimist.load(tmp_path / "ours", Walk(), gamma=GAMMA)
    mine = python_agent(Walk())
    mine.learn(1, show_progress=False)
    mine.save(tmp_path / "mine")
    loaded = PythonAgent.load(tmp_path / "mine", Walk(), Coin(), gamma=GAMMA)
    for one, other in ((agent, again), (mine, loaded)):
        steps = one.learn(30, show_progress=False).steps
        np.testing.assert_array_equal(other.learn(30, show_progress=False).steps, steps)
        assert steps.max() < PATIENCE
