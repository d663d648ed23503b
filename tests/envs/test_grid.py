"""Grid worlds: how maps are read, and how one moves on them."""

import re

import numpy as np
import pytest

from optimist.envs import GridWorld

UP, RIGHT, DOWN, LEFT = range(4)


def successors(world, state, action):
    row = world.mdp.P[state, action]
    return {int(x): float(row[x]) for x in np.flatnonzero(row)}


def test_the_states_are_the_free_cells_in_reading_order():
    world = GridWorld("S#.\n.OG")
    positions = [world.position(x) for x in range(world.mdp.n_states)]
    assert positions == [(0, 0), (0, 2), (1, 0), (1, 1), (1, 2)]
    assert all(type(i) is int for i in world.position(1))


def test_the_four_moves():
    world = GridWorld("S..\n...\n..G", slip=0)
    middle = 4
    assert successors(world, middle, UP) == {1: 1.0}
    assert successors(world, middle, RIGHT) == {5: 1.0}
    assert successors(world, middle, DOWN) == {7: 1.0}
    assert successors(world, middle, LEFT) == {3: 1.0}


def test_walls_and_edges_stop_a_move():
    world = GridWorld("S#G\n...", slip=0)
    assert successors(world, 0, RIGHT) == {0: 1.0}  # a wall
    assert successors(world, 0, UP) == {0: 1.0}  # the upper edge
    assert successors(world, 0, LEFT) == {0: 1.0}  # the left one: no way round to the right
    assert successors(world, 2, DOWN) == {2: 1.0}
    assert successors(world, 4, RIGHT) == {4: 1.0}


def test_a_slip_goes_to_either_side_and_never_back():
    world = GridWorld("S..\n...\n..G", slip=0.2)
    assert successors(world, 4, UP) == pytest.approx({1: 0.8, 3: 0.1, 5: 0.1}, abs=1e-15)
    assert successors(world, 4, LEFT) == pytest.approx({3: 0.8, 1: 0.1, 7: 0.1}, abs=1e-15)


def test_a_slip_into_a_wall_stays():
    world = GridWorld("S.G", slip=0.2)
    assert successors(world, 0, RIGHT) == pytest.approx({0: 0.2, 1: 0.8}, abs=1e-15)
    assert successors(world, 0, UP) == pytest.approx({0: 0.9, 1: 0.1}, abs=1e-15)


def test_a_certain_slip_never_goes_ahead():
    world = GridWorld("S..\n...\n..G", slip=1)
    assert successors(world, 4, UP) == {3: 0.5, 5: 0.5}


def test_goals_and_pits_are_never_left_and_only_goals_pay():
    world = GridWorld("SOG.\n....", slip=0.3)
    for state in (1, 2):
        for action in range(4):
            assert successors(world, state, action) == pytest.approx({state: 1.0}, abs=1e-15)
    expected = np.zeros((8, 4))
    expected[2] = 1
    np.testing.assert_array_equal(world.mdp.r, expected)


def test_several_goals_all_pay():
    np.testing.assert_array_equal(GridWorld("GS.G").mdp.r[:, 0], [1, 0, 0, 1])


def test_episodes_start_on_every_start_alike():
    np.testing.assert_allclose(
        GridWorld("S.S\nSG#").mdp.nu0, [1 / 3, 0, 1 / 3, 1 / 3, 0], rtol=0, atol=1e-15
    )


def test_a_slippery_walk_past_a_pit_by_hand():
    """From the start: 0.8 to the goal, 0.1 into the pit, 0.1 against the edge."""
    world = GridWorld("SG\nO#", slip=0.2, gamma=0.9)
    # V = 0.9 (0.8 * 10 + 0.1 V), and every other action is worse.
    np.testing.assert_allclose(world.mdp.optimal().value, 7.2 / 0.91, rtol=1e-10)
    assert world.mdp.optimal().policy[0, RIGHT] == 1


def test_indentation_and_blank_lines_around_a_map_do_not_matter():
    indented = GridWorld("""
        S.#
        ..G
    """)
    plain = GridWorld("S.#\n..G")
    np.testing.assert_array_equal(indented.mdp.P, plain.mdp.P)
    assert indented.board == plain.board == ("s.#", "..$")


def test_the_board_shows_pits():
    assert GridWorld("SO#.G").board == ("sx#.$",)


def test_by_default_it_is_an_open_room():
    world = GridWorld()
    assert world.mdp.n_states == 25
    assert world.board[0] == "s...."
    assert world.board[-1] == "....$"


@pytest.mark.parametrize(
    ("layout", "message"),
    [
        ("", "the map is empty"),
        (" \n \n", "the map is empty"),
        ("S..\n..\n..G", "line 2 of the map has 2 cells, the first has 3"),
        ("S..\n\n..G", "line 2 of the map has 0 cells, the first has 3"),
        ("S..\n.?G", "line 2, column 2 of the map is '?'; a cell is one of . S G O #"),
        ("S. G", "line 1, column 3 of the map is ' '"),
        ("s.G", "line 1, column 1 of the map is 's'"),
        ("..G", "the map needs at least one start S and one goal G"),
        ("S..", "the map needs at least one start S and one goal G"),
        ("###", "the map needs at least one start S and one goal G"),
    ],
)
def test_a_bad_map_is_refused_with_the_place(layout, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        GridWorld(layout)


@pytest.mark.parametrize("slip", [-0.1, 1.1, float("nan")])
def test_a_slip_that_is_no_probability_is_refused(slip):
    with pytest.raises(ValueError, match="slip"):
        GridWorld(slip=slip)
