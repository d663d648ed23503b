"""The worlds under Gymnasium's own names."""

from dataclasses import asdict

import gymnasium
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env
from reference.refusals import assert_refuses

from optimist.envs import WORLDS, FiniteEnv, LowerTauE, environment_id
from optimist.ids import register_all


@pytest.mark.parametrize("name", WORLDS)
def test_every_world_is_made_by_its_name_and_passes_the_checks_of_gymnasium(name):
    assert environment_id(name) == f"optimist/{name}-v0"
    assert gymnasium.spec(environment_id(name)).max_episode_steps is None
    env = gymnasium.make(environment_id(name))
    assert isinstance(env.unwrapped, FiniteEnv)
    assert env.unwrapped.world == WORLDS[name]()
    mdp = env.unwrapped.world.mdp
    assert env.observation_space == gymnasium.spaces.Discrete(mdp.n_states)
    assert env.action_space == gymnasium.spaces.Discrete(mdp.n_actions)
    for render_mode in (None, "ansi", "rgb_array"):
        check_env(gymnasium.make(environment_id(name), render_mode=render_mode).unwrapped)
    env = gymnasium.make(environment_id(name), gamma=0.625)
    assert env.unwrapped.world == WORLDS[name](gamma=0.625)


def test_bad_parameters_are_refused():
    unexpected = "unexpected keyword argument '{}'"
    assert_refuses(
        lambda parameters: gymnasium.make("optimist/RiverSwim-v0", **parameters),
        ({"n": 1}, ValueError, "n = 1 must be at least 2"),
        ({"depth": 3}, TypeError, unexpected.format("depth")),
        ({"world": "DeepSea"}, TypeError, unexpected.format("world")),
    )


def test_the_package_is_imported_on_demand():
    env = gymnasium.make("optimist.envs:optimist/SixArms-v0")
    assert env.unwrapped.world == WORLDS["SixArms"]()


def test_a_spec_goes_through_json_and_makes_the_same_world():
    world = LowerTauE(1, 3, 2, 0.02, 0.5, 0.9)
    env = gymnasium.make("optimist/LowerTauE-v0", **asdict(world))
    again = gymnasium.make(EnvSpec.from_json(env.spec.to_json()))
    assert again.unwrapped.world == world


def test_registering_again_changes_nothing():
    before = dict(gymnasium.registry)
    register_all()  # Gymnasium would warn of an override, and warnings are errors here
    assert dict(gymnasium.registry) == before
