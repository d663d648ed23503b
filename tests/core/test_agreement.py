"""The engine computes what the pseudocode says, episode by episode."""

import numpy as np
import pytest
from reference.algorithm_1 import followed
from reference.comparison import assert_close
from reference.variants import variant

from optimist.core import Sigmoid

EPISODES = 200

CONFIGURATIONS = {
    "plain": variant(1.0),
    "cautious": variant(0.01, 1.0, Sigmoid(1.0, 3.0), observe_last=True),
    "busy": variant(3.0, 0.5, Sigmoid(8.0, 4.0), r_max=2.0, ridge=0.1, updates=3),
    "bold": variant(300.0, 0.1, Sigmoid(18.0, 9.0), ridge=0.1, observe_last=True),
}


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_the_engine_agrees_with_the_pseudocode(setting, name):
    """In episodes, values and policies, and in the sums over all data."""
    config = CONFIGURATIONS[name]
    agent, other = followed(*setting, config, EPISODES, seed=4, logarithms=name == "bold")
    assert 3 < other.e < EPISODES / 2  # both cases of the test for a new epoch occurred
    assert len(other.D) > EPISODES
    now = agent.diagnostics
    blocks, size, _ = now.Lambda.shape
    whole = np.einsum("bij,bc->bicj", now.Lambda, np.eye(blocks)).reshape((blocks * size,) * 2)
    assert_close(whole, other.Lambda)
    assert_close(now.log_det, np.linalg.slogdet(other.Lambda)[1])
    x, a, after = np.array(other.D).T
    b = agent.mdp.gamma * now.V[after] @ other.Phi[x, a]
    np.testing.assert_allclose(now.b, b, rtol=1e-11, atol=1e-9)
    assert agent.steps == agent.history.steps.sum()


def test_rewards_may_change_after_every_episode(setting):
    rewards = np.random.default_rng(2).random((80, *setting[0].r.shape))
    followed(*setting, CONFIGURATIONS["plain"], 80, seed=3, rewards=rewards)
