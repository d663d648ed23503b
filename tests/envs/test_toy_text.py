import gymnasium
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from optimist.envs import ToyText
from optimist.mdp import FiniteMDP

ENVIRONMENTS = ["FrozenLake-v1", "FrozenLake8x8-v1", "CliffWalking-v1", "Taxi-v4"]


@pytest.fixture(params=ENVIRONMENTS)
def name(request):
    return request.param


def test_rewards_are_mapped_and_the_end_pays_what_zero_is_mapped_to(name):
    mdp = ToyText(name).mdp
    assert mdp.reward_range == (0, 1)
    stays = mdp.kernel[-mdp.n_actions :] @ np.eye(mdp.n_states)[-1]
    assert_array_equal(stays, 1)
    assert_allclose(mdp.r[-1], mdp.reward_map(0.0), rtol=0, atol=1e-15)


def test_an_optimal_policy_is_optimal_in_the_environments_own_rewards(name):
    for gamma in (0.9, 0.99):
        mdp = ToyText(name, gamma=gamma).mdp
        own = FiniteMDP.from_gymnasium(gymnasium.make(name), gamma)
        assert own.suboptimality(mdp.optimal().policy) == pytest.approx(0, abs=1e-8)
        mapped = mdp.reward_map.inverse_value(mdp.optimal().V, gamma)
        assert_allclose(mapped, own.optimal().V, rtol=0, atol=1e-8)


def test_cliff_walking_pays_for_getting_there_and_punishes_the_cliff():
    mdp = ToyText("CliffWalking-v1").mdp
    assert sorted({float(x) for x in mdp.r.round(12).ravel()}) == [0, 0.99, 1]
    assert mdp.optimal().V[-1] == pytest.approx(100)


def test_options_are_passed_on():
    lake = ToyText("FrozenLake-v1", "is_slippery=false", gamma=0.9).mdp
    assert lake.optimal().value == pytest.approx(0.9**5)
    assert ToyText("FrozenLake-v1", "map_name=8x8").mdp.n_states == 65


def test_large_ones_can_be_played():
    env = ToyText("Taxi-v4").make(render_mode="ansi")
    env.reset(seed=0)
    _, reward, terminated, truncated, _ = env.step(0)
    assert reward == pytest.approx(0.3)  # -1 of -10, ..., 20
    assert not terminated
    assert not truncated
