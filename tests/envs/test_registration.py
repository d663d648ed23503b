"""The worlds under Gymnasium's own names."""

import pickle
from copy import deepcopy
from dataclasses import asdict

import gymnasium
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env
from numpy.testing import assert_array_equal
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
        env = gymnasium.make(environment_id(name), render_mode=render_mode)
        check_env(env.unwrapped)
        with pytest.warns(UserWarning, match="different from the unwrapped version") as warned:
            check_env(env)
        assert len(warned) == 1  # it is said of every wrapped environment
    env = gymnasium.make(environment_id(name), gamma=0.625)
    assert env.unwrapped.world == WORLDS[name](gamma=0.625)


def episodes_of(env, most, seed):
    """Lengths and rewards of episodes under random actions."""
    actions = np.random.default_rng(seed)
    env.reset(seed=seed)
    lengths, rewards = [0], []
    while len(lengths) <= most:
        _, reward, terminated, truncated, _ = env.step(int(actions.integers(env.action_space.n)))
        lengths[-1] += 1
        rewards.append(reward)
        if terminated or truncated:
            lengths.append(0)
            env.reset()
    return lengths[:-1], rewards


@pytest.mark.parametrize("name", WORLDS)
def test_episodes_of_every_world_end_after_h_steps_on_average(name):
    n = 400
    env = gymnasium.make(environment_id(name))
    gamma = env.unwrapped.world.mdp.gamma
    found = episodes_of(env, n, seed=1)
    # Lengths are geometric, of standard deviation sqrt(gamma) H; 5 standard errors.
    assert np.mean(found[0]) == pytest.approx(1 / (1 - gamma), rel=5 * np.sqrt(gamma / n))
    assert found == episodes_of(gymnasium.make(environment_id(name)), n, seed=1)
    assert found != episodes_of(env, n, seed=2)


@pytest.mark.parametrize("name", WORLDS)
def test_the_mdp_is_that_of_the_endless_world(name):
    mdp = gymnasium.make(environment_id(name)).unwrapped.world.mdp
    expected = WORLDS[name]().mdp
    assert mdp.gamma == expected.gamma
    assert abs(mdp.kernel - expected.kernel).max() == 0
    assert_array_equal(mdp.r, expected.r)
    assert_array_equal(mdp.nu0, expected.nu0)


def test_endless_worlds_and_time_limits():
    forever = gymnasium.make("optimist/DeepSea-v0", gamma=0, endless=True)
    forever.reset(seed=0)
    assert not any(forever.step(1)[3] for _ in range(500))
    limited = gymnasium.make("optimist/DeepSea-v0", endless=True, max_episode_steps=7)
    assert set(episodes_of(limited, 20, seed=0)[0]) == {7}
    both = gymnasium.make("optimist/DeepSea-v0", max_episode_steps=7)
    assert max(episodes_of(both, 200, seed=0)[0]) == 7
    assert min(episodes_of(both, 200, seed=0)[0]) < 7


@pytest.mark.parametrize("name", WORLDS)
def test_a_vector_of_worlds_ends_episodes(name):
    env = gymnasium.make_vec(environment_id(name), num_envs=3, gamma=0.5)
    env.reset(seed=0)
    ends = sum(env.step(env.action_space.sample())[3].sum() for _ in range(50))
    assert ends > 10
    env.close()


def test_bad_parameters_are_refused():
    unexpected = "unexpected keyword argument '{}'"
    assert_refuses(
        lambda parameters: gymnasium.make("optimist/RiverSwim-v0", **parameters),
        ({"n": 1}, ValueError, "n must be at least 2; got 1"),
        ({"depth": 3}, TypeError, unexpected.format("depth")),
        ({"world": "DeepSea"}, TypeError, unexpected.format("world")),
    )


def test_the_package_is_imported_on_demand():
    env = gymnasium.make("optimist.envs:optimist/SixArms-v0")
    assert env.unwrapped.world == WORLDS["SixArms"]()


def test_a_spec_is_copied_in_any_way_and_makes_the_same_world():
    world = LowerTauE(1, 3, 2, 0.02, 0.5, 0.9)
    env = gymnasium.make("optimist/LowerTauE-v0", **asdict(world))
    of_json, of_pickle = EnvSpec.from_json(env.spec.to_json()), pickle.loads(pickle.dumps(env.spec))
    for spec in (env.spec, deepcopy(env.spec), of_json, of_pickle):
        again = gymnasium.make(spec)
        assert again.unwrapped.world == world
        assert again.spec == env.spec
        assert episodes_of(again, 20, seed=0) == episodes_of(env, 20, seed=0)


def test_registering_again_changes_nothing():
    before = dict(gymnasium.registry)
    register_all()  # Gymnasium would warn of an override, and warnings are errors here
    assert dict(gymnasium.registry) == before
