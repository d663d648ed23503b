"""Finite worlds as environments whose random numbers are the learner's own."""

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from reference.features import DenseStateFeatures
from reference.mdps import random_mdp

from optimist import envs
from optimist.features import OneHot, PerAction, Table


class SameDraws(gymnasium.Env):
    """An MDP that draws as the compiled loop does, from the generator it is lent.

    The loop does not draw a next state for the last pair of an episode, unless it is learnt from;
    an environment has to be stepped. So it can take its last draw back.
    """

    def __init__(self, mdp, take_back):
        self.mdp, self.take_back = mdp, take_back
        self.observation_space = spaces.Discrete(mdp.n_states)
        self.action_space = spaces.Discrete(mdp.n_actions)
        self.P = np.cumsum(np.asarray(mdp.P), axis=2)
        self.nu0 = np.cumsum(mdp.nu0)
        self.generator, self.before = None, None

    def reset(self, *, seed=None, options=None):
        if self.take_back and self.before is not None:
            self.generator.bit_generator.state = self.before
        self.before = None
        self.x = self._draw(self.nu0)
        return self.x, {}

    def step(self, action):
        reward = self.mdp.r[self.x, action]
        self.before = self.generator.bit_generator.state
        self.x = self._draw(self.P[self.x, action])
        return self.x, reward, False, False, {}

    def _draw(self, cumulative):
        u = self.generator.random()
        return int(min(np.searchsorted(cumulative, u, side="right"), len(cumulative) - 1))


SETTINGS = {
    "river": lambda: (envs.RiverSwim(5, gamma=0.95).mdp, OneHot(5, 2)),
    "grid": lambda: (envs.GridWorld("S..\n.#.\n.OG", gamma=0.9).mdp, OneHot(8, 4)),
    "random": lambda: (random_mdp(), OneHot(6, 3)),
    "blocks": lambda: (random_mdp(), PerAction(DenseStateFeatures(6, dim=3), n_actions=3)),
    "dense": lambda: (
        random_mdp(),
        Table(np.random.default_rng(3).normal(size=(6, 3, 8)) / 3),
    ),
}
"""MDPs and their features, of every structure."""


@pytest.fixture(params=SETTINGS)
def setting(request):
    return SETTINGS[request.param]()


@pytest.fixture
def settings():
    return SETTINGS


@pytest.fixture
def numbers_of():
    """The numbers of observations among the states that an agent keeps, -1 where it keeps none."""

    def find(agent, observations):
        kept, numbers = agent.transitions, []
        known = {
            (p.tobytes(), b.tobytes()): x for x, (p, b) in enumerate(zip(*kept[:2], strict=True))
        }
        for x in np.asarray(observations):  # one by one, as they were met: batches round otherwise
            phi, block = agent.features.in_blocks(x[None])
            phi = np.broadcast_to(phi, (*block.shape, phi.shape[-1]))
            numbers.append(known.get((phi.tobytes(), block.tobytes()), -1))
        return np.array(numbers)

    return find


@pytest.fixture
def lend():
    """An environment of an MDP whose random numbers are an agent's."""

    def make(mdp, observe_last):
        return SameDraws(mdp, take_back=not observe_last)

    return make
