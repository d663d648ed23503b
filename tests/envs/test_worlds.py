"""What holds of every shipped world."""

import pickle
from dataclasses import FrozenInstanceError, asdict, fields, replace

import numpy as np
import pytest

from optimist import envs
from optimist.envs import WORLDS, World
from optimist.envs.drawing import COLOURS
from optimist.features import OneHot, Table
from optimist.mdp import LinearMDP


def test_every_world_of_the_room_is_in_the_table():
    exported = {name: getattr(envs, name) for name in envs.__all__}
    worlds = {
        name: value
        for name, value in exported.items()
        if isinstance(value, type) and issubclass(value, World) and value is not World
    }
    assert worlds == WORLDS


def test_rewards_lie_between_zero_and_one_and_some_are_paid(world):
    assert world.mdp.r.min() >= 0
    assert 0 < world.mdp.r.max() <= 1


def test_the_rows_of_the_kernel_are_distributions(world):
    kernel = np.asarray(world.mdp.kernel)
    assert kernel.min() >= 0
    np.testing.assert_allclose(kernel.sum(axis=1), 1, rtol=0, atol=1e-12)
    np.testing.assert_allclose(world.mdp.nu0.sum(), 1, rtol=0, atol=1e-12)


def test_the_mdp_has_the_discount_of_the_world(world):
    assert world.mdp.gamma == world.gamma
    assert replace(world, gamma=0.75).mdp.gamma == 0.75


def test_kernel_and_rewards_are_linear_in_the_features(world):
    mdp = world.mdp
    Phi = world.features.all_actions(np.arange(mdp.n_states)).reshape(-1, world.features.dim)
    for target in (np.asarray(mdp.kernel), mdp.r.reshape(-1, 1)):
        weights = np.linalg.lstsq(Phi, target, rcond=None)[0]
        np.testing.assert_allclose(Phi @ weights, target, rtol=0, atol=1e-10)


def test_the_features_are_a_linear_mdps_own_and_otherwise_one_hot(world):
    assert world.features.n_actions == world.mdp.n_actions
    if isinstance(world.mdp, LinearMDP):
        assert isinstance(world.features, Table)
        np.testing.assert_array_equal(world.features.array, world.mdp.Phi)
    else:
        assert isinstance(world.features, OneHot)
        assert world.features.n_states == world.mdp.n_states


def test_mdp_and_features_are_made_once(world):
    assert world.mdp is world.mdp
    assert world.features is world.features


@pytest.mark.parametrize("name", ["gamma", "mdp", "features", "colour"])
def test_nothing_about_a_world_can_be_changed(world, name):
    with pytest.raises(FrozenInstanceError):
        setattr(world, name, 0.5)


def test_the_parameters_make_the_same_world(world):
    other = type(world)(**asdict(world))
    assert other is not world
    assert other == world
    assert hash(other) == hash(world)
    np.testing.assert_array_equal(np.asarray(other.mdp.kernel), np.asarray(world.mdp.kernel))
    assert list(asdict(world)) == [field.name for field in fields(world)]


def test_another_parameter_makes_another_world(world):
    assert replace(world, gamma=0.75) != world
    assert asdict(replace(world, gamma=0.75)) == {**asdict(world), "gamma": 0.75}


def test_worlds_of_different_kinds_differ_whatever_their_parameters():
    assert envs.FourRooms(slip=0.1, gamma=0.9) != envs.Maze(slip=0.1, gamma=0.9)


def test_the_repr_is_how_to_make_it(world):
    assert eval(repr(world), dict(WORLDS)) == world


def test_worlds_survive_pickling(world):
    other = pickle.loads(pickle.dumps(world))
    assert other == world
    np.testing.assert_array_equal(other.mdp.r, world.mdp.r)


@pytest.mark.parametrize("gamma", [1, 1.0, -0.1, float("nan")])
def test_what_is_no_discount_is_refused_at_once(world, gamma):
    with pytest.raises(ValueError, match="gamma"):
        replace(world, gamma=gamma)


def test_every_state_has_a_cell_of_its_own(world):
    positions = [world.position(state) for state in range(world.mdp.n_states)]
    assert len(set(positions)) == world.mdp.n_states
    for row, column in positions:
        assert 0 <= row < len(world.board)
        assert 0 <= column < len(world.board[row])
        assert world.board[row][column] not in "# "


def test_cells_without_a_state_are_walls_or_ground_or_nothing(world):
    taken = {world.position(state) for state in range(world.mdp.n_states)}
    for row, line in enumerate(world.board):
        for column, symbol in enumerate(line):
            assert (row, column) in taken or symbol in "#= "


def test_the_boards_symbols_have_colours(world):
    assert set("".join(world.board)) <= set(COLOURS)


def test_starts_are_marked_where_episodes_start(world):
    marked = {
        state
        for state in range(world.mdp.n_states)
        if world.board[world.position(state)[0]][world.position(state)[1]] == "s"
    }
    assert not marked or marked == set(np.flatnonzero(world.mdp.nu0).tolist())


def test_the_large_reward_is_paid_where_the_board_says(world):
    marked = {
        state
        for state in range(world.mdp.n_states)
        if world.board[world.position(state)[0]][world.position(state)[1]] == "$"
    }
    best = np.flatnonzero(world.mdp.r.max(axis=1) == world.mdp.r.max())
    assert not marked or marked == set(best.tolist())
