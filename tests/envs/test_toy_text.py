"""Toy-text environments are worlds: their MDPs with rewards mapped onto [0, 1]."""

import gymnasium
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from reference.solves import as_table

from optimist.envs import ToyText
from optimist.mdp import FiniteMDP


@pytest.mark.parametrize(
    ("name", "options", "given"),
    [
        ("FrozenLake-v1", "", {}),
        ("FrozenLake-v1", "is_slippery=false", {"is_slippery": False}),
        ("FrozenLake-v1", "map_name=8x8", {"map_name": "8x8"}),
        ("FrozenLake8x8-v1", "", {}),
        ("CliffWalking-v1", "", {}),
        ("Taxi-v4", "", {}),
    ],
)
def test_it_is_the_mapped_mdp_of_the_environment(name, options, given):
    mdp = ToyText(name, options, gamma=0.95).mdp
    own = FiniteMDP.from_gymnasium(gymnasium.make(name, **given), 0.95)
    assert_array_equal(as_table(mdp.kernel, mdp), as_table(own.kernel, own))
    assert_array_equal(mdp.nu0, own.nu0)
    assert mdp.reward_range == (0, 1)
    assert_allclose(mdp.reward_map.inverse(mdp.r), own.r, rtol=0, atol=1e-12)
    assert_allclose(mdp.r[-1], mdp.reward_map(0.0), rtol=0, atol=1e-15)  # what the end pays
    assert own.suboptimality(mdp.optimal().policy) == pytest.approx(0, abs=1e-8)


def test_cliff_walking_pays_for_getting_there_and_punishes_the_cliff():
    mdp = ToyText("CliffWalking-v1").mdp
    assert np.unique(mdp.r.round(12)).tolist() == [0, 0.99, 1]
    assert mdp.optimal().V[-1] == pytest.approx(100)


def test_large_ones_can_be_played():
    env = ToyText("Taxi-v4").make(render_mode="ansi")
    env.reset(seed=0)
    _, reward, terminated, truncated, _ = env.step(0)
    assert reward == pytest.approx(0.3)  # -1 of -10, ..., 20
    assert (terminated, truncated) == (False, False)
