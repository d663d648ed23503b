"""What the worlds look like: text, pixels, and the environment's render modes."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from reference.refusals import assert_refuses

from optimist.envs import DeepSea, FourRooms, GridWorld, RandomLinear, RiverSwim
from optimist.envs.drawing import AGENT_COLOUR, CELL, COLOURS, image, text


def test_text_and_image_show_the_board_and_the_agent_at_its_place(world):
    n, width = world.mdp.n_states, max(len(line) for line in world.board)
    for state in range(n):
        row, column = world.position(state)
        lines = text(world, state).split("\n")
        assert "".join(lines).count("@") == 1
        assert lines[row][column] == "@"
        lines[row] = lines[row][:column] + world.board[row][column] + lines[row][column + 1 :]
        assert lines == list(world.board)
        if state % max(1, n // 30) == 0:
            pixels = image(world, state)
            assert pixels.dtype == np.uint8
            assert pixels.shape == (CELL * len(world.board), CELL * width, 3)
            agent = (pixels == AGENT_COLOUR).all(axis=-1)
            cell = agent[row * CELL : (row + 1) * CELL, column * CELL : (column + 1) * CELL]
            assert cell[CELL // 2, CELL // 2]
            assert agent.sum() == cell.sum()
            assert 0 < cell.sum() < CELL**2  # the symbol under the agent can still be seen


def test_cells_have_the_colours_of_their_symbols():
    world = GridWorld("S.#\n.OG")
    corners = image(world, 0)[1::CELL, 1::CELL]  # just inside the lines between the cells
    assert_array_equal(corners, [[COLOURS[symbol] for symbol in line] for line in world.board])
    assert len({*COLOURS.values(), AGENT_COLOUR}) == len(COLOURS) + 1
    # Moving the agent changes its two cells alone.
    changed = (image(world, 0) != image(world, 4)).any(axis=-1)
    cells = changed.reshape(2, CELL, 3, CELL).any(axis=(1, 3))
    assert_array_equal(cells, [[True, False, False], [False, False, True]])


def test_short_lines_are_filled_with_nothing():
    corners = image(RandomLinear(2, 25, 2), 0)[1::CELL, 1::CELL]
    assert_array_equal(corners[1, 4], COLOURS["."])
    assert_array_equal(corners[1, 5], COLOURS[" "])


@pytest.mark.parametrize("world", [RandomLinear(), DeepSea(), FourRooms()], ids=repr)
def test_the_modes_of_an_environment_draw_its_state(world):
    ansi, rgb = world.make("ansi"), world.make("rgb_array")
    state, _ = ansi.reset(seed=5)
    rgb.reset(seed=5)
    for t in range(20):
        assert ansi.render() == text(world, state)
        assert_array_equal(rgb.render(), image(world, state))
        action = t % world.mdp.n_actions
        state, *_ = ansi.step(action)
        assert rgb.step(action)[0] == state


def test_render_needs_a_mode_and_a_reset():
    env = RiverSwim().make()
    env.reset(seed=0)
    with pytest.raises(RuntimeError, match="needs a render_mode"):
        env.render()
    with pytest.raises(RuntimeError, match=r"render\(\) was called before reset\(\)"):
        RiverSwim().make("ansi").render()
    message = r"render_mode must be None or one of \['ansi', 'rgb_array'\]; got '{}'"
    bad = ("human", "", "ANSI")
    assert_refuses(RiverSwim().make, *((mode, ValueError, message.format(mode)) for mode in bad))
