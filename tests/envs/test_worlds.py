"""What holds of every shipped world."""

import pickle
from dataclasses import FrozenInstanceError, asdict, fields, replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from reference.refusals import assert_refuses

from optimist import envs
from optimist.envs import WORLDS, FourRooms, Maze, World
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
    assert world.mdp.gamma == world.gamma
    assert replace(world, gamma=0.75).mdp.gamma == 0.75


def test_a_pickled_world_has_its_parameters_and_no_arrays(world):
    """Workers build the arrays again, which can be a thousand times as large."""
    _ = world.mdp, world.features, world.board
    assert set(world.__getstate__()) == {field.name for field in fields(world)}
    assert len(pickle.dumps(world)) < 2000


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
    assert FourRooms(slip=0.1, gamma=0.9) != Maze(slip=0.1, gamma=0.9)


def test_bad_parameters_are_refused():
    cannot = "name = 'FrozenLake-v1' cannot be made with options = 'depth=3'"
    no_table = "name = 'CartPole-v1': CartPoleEnv exposes no transition table"
    unknown = "name = 'FrozenLak-v1' is unknown to Gymnasium"
    not_option = "options = 'slippery' must be NAME=VALUE"
    assert_refuses(
        lambda given: WORLDS[given[0]](**given[1]),
        (("RiverSwim", {"n": 1}), ValueError, "n must be at least 2; got 1"),
        (("RiverSwim", {"n": 6.0}), TypeError, r"n must be a whole number; got 6\.0"),
        (("CombinationLock", {"n": 0}), ValueError, "n must be at least 1; got 0"),
        (("CombinationLock", {"n_actions": 1}), ValueError, "n_actions must be at least 2; got 1"),
        (("CombinationLock", {"seed": -1}), ValueError, "seed must be at least 0; got -1"),
        (("CombinationLock", {"seed": 0.5}), TypeError, r"seed must be a whole number; got 0\.5"),
        (("DeepSea", {"n": 1}), ValueError, "n must be at least 2; got 1"),
        (("DeepSea", {"slip": 1.5}), ValueError, r"slip must be in \[0, 1\]; got 1\.5"),
        (("DeepSea", {"slip": -0.1}), ValueError, r"slip must be in \[0, 1\]; got -0\.1"),
        *((("GridWorld", {"slip": slip}), ValueError, "slip") for slip in (-0.1, 1.1, np.nan)),
        (("RandomLinear", {"d": 0}), ValueError, "d must be at least 1; got 0"),
        (("RandomLinear", {"n_states": 0}), ValueError, "n_states must be at least 1; got 0"),
        (("RandomLinear", {"seed": -3}), ValueError, "seed must be at least 0; got -3"),
        (("RandomTabular", {"n_states": 0}), ValueError, "n_states must be at least 1; got 0"),
        (("RandomTabular", {"n_actions": 0}), ValueError, "n_actions must be at least 1; got 0"),
        (("RandomTabular", {"successors": 0}), ValueError, "successors must be at least 1; got 0"),
        (("RandomTabular", {"successors": 51}), ValueError, "successors must be at most n_"),
        (("RandomTabular", {"paying": 1.5}), ValueError, r"paying must be in \[0, 1\]; got 1\.5"),
        (("RandomTabular", {"seed": -3}), ValueError, "seed must be at least 0; got -3"),
        (("RandomMixture", {"d": 0}), ValueError, "d must be at least 1; got 0"),
        (("RandomMixture", {"successors": 51}), ValueError, "successors must be at most n_"),
        (("RandomMixture", {"paying": 1.5}), ValueError, r"paying must be in \[0, 1\]; got 1\.5"),
        (("ResetCliff", {"n": 1}), ValueError, "n must be at least 2; got 1"),
        (("ResetCliff", {"n_actions": 1}), ValueError, "n_actions must be at least 2; got 1"),
        (("ResetCliff", {"m": -1}), ValueError, "m must be at least 0; got -1"),
        (("ResetCliff", {"pairs": 1}), TypeError, "pairs must be True or False; got 1"),
        (("ResetCliff", {"seed": -1}), ValueError, "seed must be at least 0; got -1"),
        (("Inventory", {"capacity": 0}), ValueError, "capacity must be at least 1; got 0"),
        (("Inventory", {"demand": 0}), ValueError, "demand must be positive; got 0"),
        (("Inventory", {"holding": -1}), ValueError, "holding must not be negative; got -1"),
        (("Queue", {"capacity": 0}), ValueError, "capacity must be at least 1; got 0"),
        (("Queue", {"routine": 0.95}), ValueError, "1 - routine - urgent must be in .* got -0.05"),
        (("Queue", {"fast": 1.5}), ValueError, "fast must be in"),
        (("Warehouse", {"walkway": -1}), ValueError, "walkway must not be negative; got -1"),
        (("Warehouse", {"slip": 2}), ValueError, "slip must be in"),
        (("StandardImitation", {"n": 0}), ValueError, "n must be at least 1; got 0"),
        (
            ("StandardImitation", {"n_actions": 1}),
            ValueError,
            "n_actions must be at least 2; got 1",
        ),
        (("ToyText", {"name": "FrozenLak-v1"}), ValueError, unknown),
        (("ToyText", {"name": "CartPole-v1"}), ValueError, no_table),
        (("ToyText", {"options": "depth=3"}), ValueError, cannot),
        (("ToyText", {"options": "slippery"}), ValueError, not_option),
        (("ToyText", {"name": 3}), TypeError, "name must be text or an environment; got 3"),
    )


@pytest.mark.parametrize(
    ("name", "parameters", "board"),
    [
        ("RiverSwim", {"n": 6}, ["s....$"]),
        ("RiverSwim", {"n": 2}, ["s$"]),
        ("CombinationLock", {"n": 1}, ["$"]),
        ("CombinationLock", {"n": 2}, ["s$"]),
        ("CombinationLock", {"n": 6}, ["s....$"]),
        ("SixArms", {}, ["s.....$"]),
        ("DeepSea", {"n": 3}, ["s  ", ".. ", "..$", "==="]),
        ("GridWorld", {"layout": "SO#.G"}, ["sx#.$"]),
        ("GridWorld", {}, ["s....", ".....", ".....", ".....", "....$"]),
        ("LowerK", {}, ["$x"]),
        ("LowerTauE", {"member": 0}, ["$x"]),
        ("LowerTauE", {"member": 1}, ["x$"]),
        ("ResetCliff", {"n": 23}, ["$" * 20, "$$x"]),
        ("StandardImitation", {"n": 21}, ["$" * 20, "$"]),
        ("Inventory", {"capacity": 4}, ["s...."]),
        ("Queue", {"capacity": 3}, ["s...", "....", "...."]),
        ("RandomLinear", {"n_states": 45}, ["." * 20, "." * 20, "." * 5]),
    ],
)
def test_boards_and_the_positions_of_states_in_reading_order(name, parameters, board):
    world = WORLDS[name](**parameters)
    assert list(world.board) == board
    cells = [
        (row, column)
        for row, line in enumerate(board)
        for column, symbol in enumerate(line)
        if symbol not in "# ="
    ]
    assert [world.position(state) for state in range(len(cells))] == cells


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
