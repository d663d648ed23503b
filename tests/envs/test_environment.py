"""A world played one step at a time: what its steps return, and what they refuse."""

from types import SimpleNamespace

import numpy as np
import pytest
from reference.refusals import assert_refuses

from optimist.envs import DeepSea, RandomLinear, RiverSwim


def trajectory(world, seed, steps=200):
    env = world.make()
    rng = np.random.default_rng(0)
    states = [env.reset(seed=seed)[0]]
    states += [env.step(int(rng.integers(world.mdp.n_actions)))[0] for _ in range(steps)]
    return states


def test_different_seeds_make_different_trajectories():
    trajectories = [trajectory(RandomLinear(), seed) for seed in range(5)]
    assert len({tuple(states) for states in trajectories}) == 5


def test_a_reset_without_a_seed_goes_on_with_the_stream():
    env = RandomLinear().make()
    first = [env.reset(seed=1)[0], *(env.reset()[0] for _ in range(20))]
    assert len(set(first)) > 1
    assert first == [env.reset(seed=1)[0], *(env.reset()[0] for _ in range(20))]


def test_steps_repeat_with_the_seed_return_plain_numbers_and_never_end(world):
    assert trajectory(world, seed=3) == trajectory(world, seed=3)
    env = world.make()
    state, info = env.reset(seed=0)
    assert info == {}
    for t in range(100):
        after, reward, terminated, truncated, info = env.step(t % world.mdp.n_actions)
        assert (type(state), type(after), type(reward)) == (int, int, float)
        assert (terminated, truncated, info) == (False, False, {})


def test_actions_may_be_any_whole_number():
    for action in (1, np.int64(1), np.int8(1), np.array(1), True):
        env = DeepSea(4).make()
        env.reset(seed=0)
        assert env.action_space.contains(action)
        assert env.step(action) == (2, 0.0, False, False, {})


def test_bad_actions_are_refused_and_do_not_move():
    env, other = RandomLinear().make(), RandomLinear().make()
    assert env.reset(seed=0) == other.reset(seed=0)
    bad = [-1, 5, 1.0, "1", None, np.array([1]), np.float64(0)]
    assert_refuses(
        env.step, *((action, ValueError, "action must be in 0, ..., 4; got ") for action in bad)
    )
    assert env.step(0) == other.step(0)
    with pytest.raises(RuntimeError, match=r"step\(\) was called before reset\(\)"):
        RiverSwim().make().step(0)


def test_even_the_extreme_draws_are_possible_ones(world):
    """Entries of probability zero before and after the others are never drawn."""
    for number in (0.0, 0.5, 1 - 2**-53):
        env = world.make()
        env.np_random = SimpleNamespace(random=lambda number=number: number)
        state, _ = env.reset()
        assert world.mdp.nu0[state] > 0
        for t in range(50):
            action = t % world.mdp.n_actions
            after, *_ = env.step(action)
            assert np.asarray(world.mdp.kernel)[state * world.mdp.n_actions + action, after] > 0
            state = after
