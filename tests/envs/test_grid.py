"""Grid worlds, against the plainest code that moves on text; how maps are read."""

import re

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from reference.refusals import assert_refuses

from optimist.envs import FourRooms, GridWorld, Maze

STEPS = [(-1, 0), (0, 1), (1, 0), (0, -1)]  # up, right, down, left


@st.composite
def maps(draw):
    rows, columns = draw(st.integers(1, 6)), draw(st.integers(2, 7))
    size = rows * columns
    cells = draw(st.lists(st.sampled_from("....##OSG"), min_size=size, max_size=size))
    places = st.integers(0, size - 1)
    start, goal = draw(st.lists(places, min_size=2, max_size=2, unique=True))
    cells[start], cells[goal] = "S", "G"
    return ["".join(cells[i * columns : (i + 1) * columns]) for i in range(rows)]


def cells_of(lines):
    return {
        (i, j): symbol
        for i, line in enumerate(lines)
        for j, symbol in enumerate(line)
        if symbol != "#"
    }


def moved(cells, cell, step):
    there = cell[0] + step[0], cell[1] + step[1]
    return cell if cells[cell] in "GO" or there not in cells else there


@settings(max_examples=60)
@given(maps(), st.floats(0, 1))
@example(["S..", "...", "..G"], 1.0)
@example(["SOG.", "G#.S"], 0.3)
def test_every_row_is_that_of_moving_on_the_text(lines, slip):
    cells = cells_of(lines)
    number = {cell: x for x, cell in enumerate(cells)}
    expected = np.zeros((len(cells), 4, len(cells)))
    for cell, x in number.items():
        for a in range(4):
            for direction, probability in ((a, 1 - slip), (a - 1, slip / 2), (a + 1, slip / 2)):
                after = number[moved(cells, cell, STEPS[direction % 4])]
                expected[x, a, after] += probability
    world = GridWorld("\n".join(lines), slip=slip)
    assert_allclose(world.mdp.P, expected, rtol=0, atol=1e-14)
    assert [world.position(x) for x in range(len(cells))] == list(cells)
    symbols = np.array(list(cells.values()))
    assert_array_equal(world.mdp.r, np.repeat(symbols[:, None] == "G", 4, axis=1))
    starts = symbols == "S"
    assert_allclose(world.mdp.nu0, starts / starts.sum(), rtol=0, atol=1e-15)


def test_a_large_slippery_room_is_stored_sparse_and_solved():
    layout = "\n".join(["S" + "." * 99, *["." * 100] * 98, "." * 99 + "G"])
    mdp = GridWorld(layout, slip=0.1, gamma=0.99).mdp
    assert not isinstance(mdp.kernel, np.ndarray)
    assert mdp.n_states == 10_000
    best = mdp.optimal()
    assert best.residual < 1e-11
    # A move goes one step, so nothing beats the 198 steps of the shortest path.
    assert 0 < best.value < 0.99**198 / 0.01


def test_indentation_and_blank_lines_around_a_map_do_not_matter():
    indented = GridWorld("""
        S.#
        ..G
    """)
    plain = GridWorld("S.#\n..G")
    assert_array_equal(indented.mdp.P, plain.mdp.P)
    assert indented.board == plain.board == ("s.#", "..$")


def test_a_bad_map_is_refused_with_the_place():
    no_start_or_goal = "the map needs at least one start S and one goal G"
    cases = [
        ("", "the map is empty"),
        (" \n \n", "the map is empty"),
        ("S..\n..\n..G", "line 2 of the map has 2 cells, the first has 3"),
        ("S..\n\n..G", "line 2 of the map has 0 cells, the first has 3"),
        ("S..\n.?G", "line 2, column 2 of the map is '?'; a cell is one of . S G O #"),
        ("S. G", "line 1, column 3 of the map is ' '"),
        ("s.G", "line 1, column 1 of the map is 's'"),
        *((layout, no_start_or_goal) for layout in ("..G", "S..", "###")),
    ]
    assert_refuses(GridWorld, *((layout, ValueError, re.escape(m)) for layout, m in cases))


def test_four_rooms_has_104_cells_and_four_doors():
    world = FourRooms()
    assert world.mdp.n_states == 104
    doors = [(3, 6), (6, 2), (7, 9), (10, 6)]
    assert [world.board[row][column] for row, column in doors] == ["."] * 4
    # The first two are the ways out of the start's room, the others the ways into the goal's.
    for pair in (doors[:2], doors[2:]):
        assert not reaches(world, without=pair)
    for door in doors:
        assert reaches(world, without=[door])
    # 20 steps from corner to corner and no fewer, as the doors lie on the way.
    assert_allclose(FourRooms(slip=0, gamma=0.97).mdp.optimal().value, 0.97**20 / 0.03, rtol=1e-10)


def reaches(world, without):
    lines = [line.replace("s", "S").replace("$", "G") for line in world.board]
    for row, column in without:
        lines[row] = lines[row][:column] + "#" + lines[row][column + 1 :]
    return GridWorld("\n".join(lines), slip=0).mdp.optimal().value > 0


def test_both_maps_lead_from_corner_to_corner():
    for world in (FourRooms(slip=0), Maze(slip=0)):
        height, width = len(world.board), len(world.board[0])
        start = int(np.flatnonzero(world.mdp.nu0)[0])
        goal = int(np.flatnonzero(world.mdp.r[:, 0])[0])
        assert world.position(start) == (1, 1)
        assert world.position(goal) == (height - 2, width - 2)
        assert world.mdp.optimal().value > 0
        assert set(world.board[0] + world.board[-1]) == {"#"}
        assert {line[0] + line[-1] for line in world.board} == {"##"}


def test_the_maze_has_one_way_through():
    """97 cells joined by 96 passages: a tree, in which there is one way from any to any other."""
    world = Maze(slip=0)
    cells = cells_of(world.board)
    assert len(cells) == world.mdp.n_states == 97
    passages = sum((i + di, j + dj) in cells for i, j in cells for di, dj in STEPS) // 2
    assert passages == 96
    assert (world.mdp.optimal().V > 0).all()
