"""What holds of every shipped world."""

import pickle
from dataclasses import FrozenInstanceError, asdict, fields, replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from reference.refusals import assert_refuses

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
    assert worlds.pop("ArrayWorld") is envs.ArrayWorld  # which has no name: it is any world
    assert worlds == WORLDS


def test_the_mdp_has_the_worlds_discount_and_rewards_in_the_unit_interval(world):
    assert world.mdp.r.min() >= 0
    assert 0 < world.mdp.r.max() <= 1
    kernel = np.asarray(world.mdp.kernel)
    assert kernel.min() >= 0
    assert_allclose(kernel.sum(axis=1), 1, rtol=0, atol=1e-12)
    assert_allclose(world.mdp.nu0.sum(), 1, rtol=0, atol=1e-12)
    assert world.mdp.gamma == world.gamma
    assert replace(world, gamma=0.75).mdp.gamma == 0.75


def test_kernel_and_rewards_are_linear_in_the_features(world):
    """A linear MDP's own features, and one-hot features otherwise."""
    mdp, features = world.mdp, world.features
    Phi = features.all_actions(np.arange(mdp.n_states)).reshape(-1, features.dim)
    assert features.n_actions == mdp.n_actions
    if isinstance(mdp, LinearMDP):
        assert isinstance(features, Table)
        assert_array_equal(features.array, mdp.Phi)
        for target in (np.asarray(mdp.kernel), mdp.r.reshape(-1, 1)):
            weights = np.linalg.lstsq(Phi, target, rcond=None)[0]
            assert_allclose(Phi @ weights, target, rtol=0, atol=1e-10)
    else:  # in which everything is linear
        assert isinstance(features, OneHot)
        assert_array_equal(Phi, np.eye(mdp.r.size))


def test_a_world_is_an_immutable_value_of_its_parameters(world):
    assert world.mdp is world.mdp
    assert world.features is world.features
    for name in ("gamma", "mdp", "features", "colour"):
        with pytest.raises(FrozenInstanceError):
            setattr(world, name, 0.5)
    assert list(asdict(world)) == [field.name for field in fields(world)]
    again = type(world)(**asdict(world)), eval(repr(world), dict(WORLDS))
    for other in (*again, pickle.loads(pickle.dumps(world))):
        assert other is not world
        assert other == world
        assert hash(other) == hash(world)
        assert_array_equal(np.asarray(other.mdp.kernel), np.asarray(world.mdp.kernel))
        assert_array_equal(other.mdp.r, world.mdp.r)
    assert replace(world, gamma=0.75) != world
    assert asdict(replace(world, gamma=0.75)) == {**asdict(world), "gamma": 0.75}
    assert_refuses(
        lambda gamma: replace(world, gamma=gamma),
        *((gamma, ValueError, "gamma") for gamma in (1, 1.0, -0.1, float("nan"))),
    )


def test_worlds_of_different_kinds_differ_whatever_their_parameters():
    assert envs.FourRooms(slip=0.1, gamma=0.9) != envs.Maze(slip=0.1, gamma=0.9)


def test_the_board_has_a_cell_for_every_state_and_marks_starts_and_the_large_reward(world):
    board, cells = world.board, [world.position(state) for state in range(world.mdp.n_states)]
    assert len(set(cells)) == world.mdp.n_states
    assert min(min(cell) for cell in cells) >= 0
    symbols = np.array([board[row][column] for row, column in cells])
    assert not set(symbols) & set("# ")
    assert set("".join(board)) <= set(COLOURS)
    for row, line in enumerate(board):
        for column, symbol in enumerate(line):
            assert (row, column) in cells or symbol in "#= "
    best = world.mdp.r.max(axis=1) == world.mdp.r.max()
    for symbol, right in (("s", world.mdp.nu0 > 0), ("$", best)):
        if symbol in symbols:
            assert_array_equal(symbols == symbol, right)
