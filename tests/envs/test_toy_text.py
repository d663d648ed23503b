import gymnasium
import numpy as np
import pytest

from optimist.envs import ToyText
from optimist.mdp import FiniteMDP

ENVIRONMENTS = ["FrozenLake-v1", "FrozenLake8x8-v1", "CliffWalking-v1", "Taxi-v4"]


@pytest.fixture(params=ENVIRONMENTS)
def name(request):
    return request.param


def original(name, gamma, **options):
    return FiniteMDP.from_gymnasium(gymnasium.make(name, **options), gamma)


def test_rewards_are_mapped_onto_the_unit_interval(name):
    assert ToyText(name).mdp.reward_range == (0, 1)


def test_the_end_pays_what_nothing_is_mapped_to(name):
    mdp = ToyText(name).mdp
    stays = mdp.kernel[-mdp.n_actions :] @ np.eye(mdp.n_states)[-1]
    np.testing.assert_array_equal(stays, 1)
    np.testing.assert_allclose(mdp.r[-1], mdp.reward_map(0.0), rtol=0, atol=1e-15)


@pytest.mark.parametrize("gamma", [0.9, 0.99])
def test_what_is_best_is_best_in_the_environments_own_rewards(name, gamma):
    mdp, own = ToyText(name, gamma=gamma).mdp, original(name, gamma)
    best = own.optimal()
    assert own.suboptimality(mdp.optimal().policy) == pytest.approx(0, abs=1e-8)
    mapped = mdp.reward_map.inverse_value(mdp.optimal().V, gamma)
    np.testing.assert_allclose(mapped, best.V, rtol=0, atol=1e-8)


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


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"name": "FrozenLak-v1"}, "name = 'FrozenLak-v1' is unknown to Gymnasium"),
        ({"name": "CartPole-v1"}, "name = 'CartPole-v1': CartPoleEnv exposes no transition table"),
        ({"options": "depth=3"}, "name = 'FrozenLake-v1' cannot be made with options = 'depth=3'"),
        ({"options": "slippery"}, "options = 'slippery': 'slippery' is not one more NAME=VALUE"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        ToyText(**parameters)


def test_a_name_is_text():
    with pytest.raises(TypeError, match="name = 3 is not text"):
        ToyText(3)


def test_it_is_made_by_gymnasium_too():
    env = gymnasium.make("optimist/ToyText-v0", name="CliffWalking-v1", gamma=0.9)
    assert env.unwrapped.world == ToyText("CliffWalking-v1", gamma=0.9)
