"""Gymnasium environments of a few lines."""

from functools import cached_property

import gymnasium
import numpy as np
from gymnasium import spaces

from optimist.mdp import FiniteMDP


class Episodic(gymnasium.Env):
    """An environment whose episodes begin with `start` and go on with `move`.

    ``x`` is its state, ``t`` the number of steps of the episode, and ``episode`` that of the resets
    before it. What is seen is the state, or in a box (x + 1/2) / n.
    """

    n_states, n_actions, box = 2, 2, False
    episode = -1

    @cached_property
    def observation_space(self):
        return (
            spaces.Box(0.0, 1.0, (1,), np.float64) if self.box else spaces.Discrete(self.n_states)
        )

    @cached_property
    def action_space(self):
        return spaces.Discrete(self.n_actions)

    def start(self):
        return 0

    def move(self, action):
        """Change the state; the reward, and whether the episode terminates or is truncated."""
        raise NotImplementedError

    def seen(self):
        return np.array([(self.x + 0.5) / self.n_states]) if self.box else self.x

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.episode, self.t = self.episode + 1, 0
        self.x = self.start()
        return self.seen(), {}

    def step(self, action):
        self.t += 1
        reward, terminated, truncated = self.move(int(action))
        return self.seen(), reward, terminated, truncated, {}


def draw(cumulative, u):
    """The first index whose cumulative probability exceeds u."""
    return min(int(np.searchsorted(cumulative, u, side="right")), len(cumulative) - 1)


class SameDraws(Episodic):
    """An MDP that draws as the compiled loop does, from the generator of a learner.

    The loop does not draw a next state for the last pair of an episode, unless it is learnt from;
    an environment has to be stepped. So it can take its last draw back.
    """

    def __init__(self, mdp: FiniteMDP, observe_last: bool):
        self.mdp, self.takes_back = mdp, not observe_last
        self.n_states, self.n_actions = mdp.r.shape
        self.P, self.nu0 = np.cumsum(np.asarray(mdp.P), axis=2), np.cumsum(mdp.nu0)
        self.generator, self.before = None, None

    def start(self):
        if self.takes_back and self.before is not None:
            self.generator.bit_generator.state = self.before
        self.before = None
        return draw(self.nu0, self.generator.random())

    def move(self, action):
        reward = self.mdp.r[self.x, action]
        self.before = self.generator.bit_generator.state
        self.x = draw(self.P[self.x, action], self.generator.random())
        return reward, False, False
