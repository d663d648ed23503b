"""The engine computes what the pseudocode says, episode by episode."""

import numpy as np
import pytest
from reference.algorithm_1 import followed
from reference.comparison import assert_close
from reference.mdps import random_mdp
from reference.variants import variant

from optimist import RmaxRaviUcb
from optimist.core import Sigmoid
from optimist.core.state import LARGE
from optimist.features import PerAction, StateFeatures, Table

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


class Rows(StateFeatures):
    """Random features of states."""

    def __init__(self, n_states, dim, rng):
        self.rows = rng.standard_normal((n_states, dim)) / np.sqrt(dim)
        bound = float(np.linalg.norm(self.rows, axis=1).max())
        super().__init__(dim=dim, bound=bound, blocks=1)

    def __call__(self, observations):
        return self.rows[observations]


def large(kind):
    """A world of few states with features of blocks that are `LARGE`: dense, or one an action."""
    mdp, rng = random_mdp(9, 2, gamma=0.8, seed=7), np.random.default_rng(7)
    if kind == "blocks":
        return mdp, PerAction(Rows(9, LARGE, rng), n_actions=2)
    return mdp, Table(rng.standard_normal((9, 2, LARGE + 5)) / 12)


@pytest.mark.parametrize("kind", ["dense", "blocks"])
def test_large_blocks_are_updated_together_and_agree_too(kind):
    config = variant(0.3, 1.0, Sigmoid(6.0, 3.0), ridge=0.5)
    agent, other = followed(*large(kind), config, 160, seed=2)
    assert 3 < other.e < 80
    assert len(other.D) > 2 * LARGE  # enough for blocks to be factorised anew
    now = agent.diagnostics
    assert_close(now.log_det, np.linalg.slogdet(other.Lambda)[1])
    np.testing.assert_allclose(now.inverse @ now.Lambda, np.tile(np.eye(now.Lambda.shape[1]),
                               (len(now.Lambda), 1, 1)), atol=1e-9)  # fmt: skip


def test_a_run_with_large_blocks_continues_bit_for_bit(tmp_path):
    mdp, phi = large("dense")
    whole = RmaxRaviUcb(mdp, phi, seed=1)
    wanted = whole.learn(90)
    first = RmaxRaviUcb(mdp, phi, seed=1)
    first.learn(41)
    first.save(tmp_path)
    again = RmaxRaviUcb.load(tmp_path, mdp, phi)
    again.learn(49)
    assert np.array_equal(again.diagnostics.V, whole.diagnostics.V)
    assert np.array_equal(again.history.steps, wanted.steps)
