"""The output pi_I is one of the policies that were played, each with the same probability."""

import numpy as np
import pytest
from reference.variants import variant

from optimist import envs
from optimist.agents import Optimist, VariantAgent
from optimist.core import Sigmoid, Truncation

K, RUNS = 5, 600
CHI_SQUARE = 18.47  # exceeded with probability 1/1000 at K - 1 = 4 degrees of freedom

WORLDS = {
    "one-hot": envs.RiverSwim(4, gamma=0.9),
    "dense": envs.RandomLinear(3, 6, 2, gamma=0.8),
}


CONFIG = variant(0.5, 0.5, Sigmoid(8.0, 4.0))


def learnt(world, seed, config=CONFIG, episodes=K):
    agent = VariantAgent(world, config=config, seed=seed, stride=1)
    agent.learn(episodes)
    return agent


def drawn_index(agent):
    """Which of the policies played, all kept, is the output; it must be exactly one."""
    output = agent.output.probabilities(np.arange(agent.mdp.n_states))
    distances = np.abs(agent.history.policies - output).max(axis=(1, 2))
    [match] = np.flatnonzero(distances <= 1e-9)
    return match


@pytest.mark.parametrize("ascension", [Sigmoid(8.0, 4.0), Truncation()])
@pytest.mark.parametrize("name", WORLDS)
def test_every_episode_is_drawn_alike(name, ascension):
    config = variant(0.5, 0.5, ascension)
    drawn = [drawn_index(learnt(WORLDS[name], seed, config)) for seed in range(RUNS)]
    counts = np.bincount(drawn, minlength=K)
    assert ((counts - RUNS / K) ** 2 / (RUNS / K)).sum() < CHI_SQUARE


def test_the_draw_does_not_depend_on_the_run_itself():
    """Were it made with the run's own generator, asking for it would change the run."""
    one, other = ([drawn_index(learnt(w, seed)) for seed in range(20)] for w in WORLDS.values())
    assert one == other
    assert len(set(one)) > 2


def test_the_output_stays_until_another_is_drawn():
    agent = VariantAgent(WORLDS["one-hot"], config=CONFIG, seed=2, stride=1)
    changes, before = 0, -1
    for k in range(200):
        agent.learn(1)
        now = drawn_index(agent)
        assert now in (before, k)  # the old one, or the one just played
        changes += now != before
        before = now
    assert 2 <= changes <= 15  # 1 + 1/2 + ... + 1/200 = 5.9 on average


def test_the_first_output_is_uniform():
    agent = Optimist(WORLDS["one-hot"])
    agent.learn(1)
    np.testing.assert_array_equal(agent.output.probabilities([0, 3]), np.full((2, 2), 0.5))
