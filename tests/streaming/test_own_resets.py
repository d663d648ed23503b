"""Environments with geometric resets of their own, such as registered worlds: one coin decides."""

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from reference.own import EpsilonGreedy

from optimist import PythonAgent, envs
from optimist.agents import Optimist
from optimist.envs import Gym
from optimist.envs.players import ENDLESS, Players

WORLD = "optimist/RiverSwim-v0"
EPISODES = 1_500


def mean_length(gamma):
    """The mean of geometric lengths, up to 5 standard errors."""
    horizon = 1 / (1 - gamma)
    return pytest.approx(horizon, abs=5 * np.sqrt(gamma / EPISODES) * horizon)


def vector(gamma):
    mode = {"autoreset_mode": AutoresetMode.DISABLED}
    return gymnasium.make_vec(WORLD, num_envs=3, gamma=gamma, vector_kwargs=mode)


AGENTS = {
    "one": lambda env, **told: Optimist(gymnasium.make(WORLD, gamma=env), seed=0, **told),
    "a vector": lambda env, **told: Optimist(vector(env), seed=0, **told),
    "by id": lambda env, **told: Optimist(Gym(WORLD, options=f"gamma={env}", **told), seed=0),
    "in Python": lambda env, **told: PythonAgent(
        gymnasium.make(WORLD, gamma=env), EpsilonGreedy(), seed=0, **told
    ),
}
"""Agents in a world of that gamma."""


@pytest.mark.parametrize("make", AGENTS.values(), ids=AGENTS)
@pytest.mark.parametrize("own", [0.8, 0.5])
def test_an_episode_is_broken_off_by_one_coin(make, own):
    """By default it is the environment's, whatever the agent's gamma; else it is the agent's."""
    assert make(0.8, gamma=own).learn(EPISODES).steps.mean() == mean_length(0.8)
    assert make(0.5, gamma=own, geometric=True).learn(EPISODES).steps.mean() == mean_length(own)


def test_an_endless_world_is_broken_off_by_the_agent():
    env = gymnasium.make(WORLD, endless=True)
    agent = PythonAgent(env, EpsilonGreedy(), gamma=0.5, seed=0)
    assert agent.learn(EPISODES).steps.mean() == mean_length(0.5)


def test_vectors_that_reset_themselves_end_their_worlds_episodes():
    agent = Optimist(gymnasium.make_vec(WORLD, num_envs=3, gamma=0.8), gamma=0.9, seed=0)
    steps = agent.learn(EPISODES).steps
    assert not agent.environment.geometric
    assert steps.mean() == mean_length(0.8)


def test_an_own_end_is_a_truncation():
    """The value of what comes after it is kept: it depends on the agent's gamma alone."""
    world = envs.RiverSwim(4, gamma=0.9)
    agent = Optimist(gymnasium.make(WORLD, n=4, gamma=0.7), gamma=0.9, seed=0)
    agent.learn(4_000)
    learnt = agent.policy.probabilities(np.arange(4))
    assert world.mdp.value(learnt) == pytest.approx(world.mdp.optimal().value)


def test_geometric_episodes_may_be_longer_than_those_that_count_as_endless():
    env = gymnasium.make(WORLD, gamma=1 - 1e-6)
    players = Players(env)
    players.begin(seed=0)
    for _ in range(ENDLESS + 10):
        assert not players.step([0]).truncated[0]
