"""What the worlds look like: text, pixels, and the environment's render modes."""

import numpy as np
import pytest

from optimist.envs import DeepSea, FourRooms, GridWorld, RandomLinear, RiverSwim
from optimist.envs.drawing import AGENT_COLOUR, CELL, COLOURS, image, text


def test_the_text_is_the_board_with_one_agent_at_its_place(world):
    for state in range(world.mdp.n_states):
        lines = text(world, state).split("\n")
        assert "".join(lines).count("@") == 1
        row, column = world.position(state)
        assert lines[row][column] == "@"
        lines[row] = lines[row][:column] + world.board[row][column] + lines[row][column + 1 :]
        assert lines == list(world.board)


def test_the_image_has_a_square_for_every_cell(world):
    pixels = image(world, 0)
    assert pixels.dtype == np.uint8
    width = max(len(line) for line in world.board)
    assert pixels.shape == (CELL * len(world.board), CELL * width, 3)


def test_the_agent_is_drawn_in_its_cell_and_nowhere_else(world):
    for state in range(world.mdp.n_states):
        agent = (image(world, state) == AGENT_COLOUR).all(axis=-1)
        row, column = world.position(state)
        cell = agent[row * CELL : (row + 1) * CELL, column * CELL : (column + 1) * CELL]
        assert cell[CELL // 2, CELL // 2]
        assert agent.sum() == cell.sum()
        assert 0 < cell.sum() < CELL**2  # what is under the agent can still be seen


def test_moving_the_agent_changes_its_two_cells_alone():
    world = GridWorld("S.#\n.OG")
    changed = (image(world, 0) != image(world, 4)).any(axis=-1)
    cells = changed.reshape(2, CELL, 3, CELL).any(axis=(1, 3))
    np.testing.assert_array_equal(cells, [[True, False, False], [False, False, True]])


def test_cells_have_the_colours_of_their_symbols():
    world = GridWorld("S.#\n.OG")
    corners = image(world, 0)[1::CELL, 1::CELL]  # just inside the lines between the cells
    expected = [[COLOURS[symbol] for symbol in line] for line in world.board]
    np.testing.assert_array_equal(corners, expected)


def test_short_lines_are_filled_with_nothing():
    world = RandomLinear(2, 25, 2)
    corners = image(world, 0)[1::CELL, 1::CELL]
    np.testing.assert_array_equal(corners[1, 4], COLOURS["."])
    np.testing.assert_array_equal(corners[1, 5], COLOURS[" "])


def test_no_two_things_look_alike():
    assert len({*COLOURS.values(), AGENT_COLOUR}) == len(COLOURS) + 1


def test_the_modes_of_an_environment_draw_its_state(world):
    ansi, rgb = world.make("ansi"), world.make("rgb_array")
    state, _ = ansi.reset(seed=5)
    rgb.reset(seed=5)
    for t in range(20):
        assert ansi.render() == text(world, state)
        np.testing.assert_array_equal(rgb.render(), image(world, state))
        action = t % world.mdp.n_actions
        state, *_ = ansi.step(action)
        assert rgb.step(action)[0] == state


def test_a_deep_sea_in_text():
    env = DeepSea(3).make("ansi")
    env.reset(seed=0)
    env.step(1)
    assert env.render() == "s  \n.@ \n..$\n==="
    env.step(0)
    env.step(0)
    assert env.render() == "s  \n.. \n..$\n@=="


def test_rooms_in_text():
    env = FourRooms().make("ansi")
    env.reset(seed=0)
    assert env.render().splitlines()[1] == "#@....#.....#"


def test_render_needs_a_mode_and_a_reset():
    env = RiverSwim().make()
    env.reset(seed=0)
    with pytest.raises(RuntimeError, match="choose a render_mode"):
        env.render()
    with pytest.raises(RuntimeError, match=r"render\(\) was called before reset\(\)"):
        RiverSwim().make("ansi").render()


@pytest.mark.parametrize("render_mode", ["human", "", "ANSI"])
def test_unknown_modes_are_refused(render_mode):
    message = rf"render_mode = '{render_mode}' must be None or one of \['ansi', 'rgb_array'\]"
    with pytest.raises(ValueError, match=message):
        RiverSwim().make(render_mode)
