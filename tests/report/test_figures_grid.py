"""Pictures of optimism: boards, colours and arrows."""

from itertools import combinations

import numpy as np
import pytest
from matplotlib.colors import LogNorm, to_rgb

from optimist.report import figures_board
from optimist.report.figures_grid import optimism_figure

BOARD = ["#####", "#s..#", "#.#$#", "#####"]
CELLS = [[1, 1], [1, 2], [1, 3], [2, 1], [2, 3]]
MOVES = [[-1, 0], [0, 1], [1, 0], [0, -1]]
RIGHT = [[0.0, 1.0, 0.0, 0.0]] * 5
UNIFORM = [[0.25] * 4] * 5
MANY = (0, 1, 2, 4, 8, 16, 32, 64, 100)


def make_run(agent, episodes, bonus=True):
    share = [k / 100 for k in episodes]
    return {
        "agent": agent,
        "seed": 0,
        "episodes": episodes,
        "value": [[k + x for x in range(5)] for k in episodes],
        "bonus": [[1 / (1 + k)] * 5 for k in episodes] if bonus else None,
        "ascension": [[0.0] * 4 + [s] for s in share],
        "occupancy": [[1 - s, s, 0.0, 0.0, 0.0] for s in share],
        "difference": None,
        "policy": [UNIFORM if k < 50 else RIGHT for k in episodes],
    }


def make_picture(episodes=(0, 1, 4)):
    """Few episodes unless told, as each board takes a moment to draw."""
    optimal = {"value": [200.0] * 5, "occupancy": [0.2] * 5, "policy": RIGHT}
    runs = [
        make_run("agent B", episodes, bonus=False),
        make_run("agent A", episodes),
        make_run("agent A", episodes, bonus=False),
    ]
    return {"board": BOARD, "cells": CELLS, "moves": MOVES, "optimal": optimal, "runs": runs}


def lightness(colour):
    """L* of CIELAB, from 0 to 100."""
    rgb = np.array(to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return 116 * np.cbrt(linear @ (0.2126, 0.7152, 0.0722)) - 16


def make_data(picture):
    return {"worlds": [{"name": "River", "picture": picture}, {"name": "Sea", "picture": None}]}


def draw(picture, agent="agent A"):
    """The boards, [rows, columns], and the colour bars."""
    figure = optimism_figure(make_data(picture), "River", agent)
    bars = [ax for ax in figure.axes if hasattr(ax, "_colorbar")]
    boards = np.array([ax for ax in figure.axes if ax not in bars])
    return figure, boards.reshape(len(bars), -1), bars


@pytest.fixture(scope="module")
def drawn():
    return draw(make_picture(MANY))


def cells_of(ax):
    """What is drawn in the cells of the states; all others must be empty."""
    mesh = ax.collections[1].get_array()
    row, column = np.transpose(CELLS)
    assert mesh.mask.sum() == mesh.size - len(CELLS)
    assert not mesh.mask[row, column].any()
    return mesh[row, column]


def test_the_boards_show_the_recorded_numbers(drawn):
    run = make_picture(MANY)["runs"][1]
    _, boards, _ = drawn
    shown = [1, 3, 4, 6, 8]
    headings = [f"episode {run['episodes'][i]}" for i in shown]
    assert [ax.get_title() for ax in boards[0]] == [*headings, "optimum"]
    for row, name in enumerate(("value", "bonus", "ascension", "occupancy")):
        for column, i in enumerate(shown):
            ax = boards[row, column]
            expected = np.maximum(run[name][i], ax.collections[1].norm.vmin)
            np.testing.assert_allclose(cells_of(ax), expected)
    np.testing.assert_array_equal(cells_of(boards[0, 5]), [200] * 5)
    np.testing.assert_array_equal(cells_of(boards[3, 5]), [0.2] * 5)
    for ax in boards[1:3, 5]:
        assert not ax.axison
        assert not ax.collections


def test_a_row_has_one_scale_that_holds_the_optimum_too(drawn):
    _, boards, bars = drawn
    scales = [{id(ax.collections[1].norm) for ax in row if ax.collections} for row in boards]
    assert [len(row) for row in scales] == [1, 1, 1, 1]
    norms = [row[0].collections[1].norm for row in boards]
    assert [isinstance(norm, LogNorm) for norm in norms] == [False, True, True, True]
    limits = [(norm.vmin, norm.vmax) for norm in norms]
    expected = [(1, 200), (1 / 101, 0.5), (0.01, 1.0), (0.01, 1.0)]
    np.testing.assert_allclose(limits, expected)
    for bar, norm in zip(bars, norms, strict=True):
        ticks = [t for t in bar.get_yticks() if norm.vmin <= t <= norm.vmax]
        assert 1 <= len(ticks) <= 4


def test_a_logarithmic_scale_has_three_decades_and_shows_zero_as_its_lowest_colour():
    picture = make_picture()
    for occupancy in picture["runs"][1]["occupancy"]:
        occupancy[:] = [0.9, 1e-2, 1e-5, 1e-8, 0.0]
    _, boards, bars = draw(picture)
    assert [bar._colorbar.extend for bar in bars] == ["neither", "neither", "min", "min"]
    mesh = boards[3, 0].collections[1]
    assert (mesh.norm.vmin, mesh.norm.vmax) == pytest.approx((0.9e-3, 0.9))
    np.testing.assert_allclose(cells_of(boards[3, 0]), [0.9, 0.01, 0.9e-3, 0.9e-3, 0.9e-3])


def test_walls_are_darker_and_paper_is_lighter_than_any_state(drawn):
    _, boards, _ = drawn
    under, mesh = boards[0, 0].collections[:2]
    walls = np.array([[c == "#" for c in line] for line in BOARD])
    colours = under.get_array()
    assert (colours[walls] == to_rgb(figures_board.WALL)).all()
    assert not (colours[~walls] == to_rgb(figures_board.WALL)).any()
    states = [lightness(mesh.cmap(x)[:3]) for x in np.linspace(0, 1, 20)]
    assert (np.diff(states) > 0).all()  # in grey the order is the same
    assert states[0] > lightness(figures_board.WALL) + 20
    assert states[-1] < lightness(figures_board.PAPER) - 5


def test_what_is_no_state_is_told_from_walls():
    picture = make_picture()
    picture["board"] = ["s.", "..", "$", "=#"]
    picture["cells"] = [[0, 0], [0, 1], [1, 0], [1, 1], [2, 0]]
    _, boards, _ = draw(picture)
    colours = boards[0, 0].collections[0].get_array()
    expected = [figures_board.PAPER, figures_board.PAPER, figures_board.WALL]
    assert [tuple(colours[at]) for at in ((2, 1), (3, 0), (3, 1))] == [to_rgb(c) for c in expected]


def test_start_and_goal_are_marked_on_every_board_and_seen(drawn):
    _, boards, _ = drawn
    for ax in boards.flat:
        if ax.axison:
            marks = {t.get_text(): t for t in ax.texts}
            assert {name: t.get_position() for name, t in marks.items()} == {
                "S": (1.5, 1.5),
                "G": (3.5, 2.5),
            }
            mesh, values = ax.collections[1], cells_of(ax)
            for name, state in (("S", 0), ("G", 4)):
                below = lightness(mesh.cmap(mesh.norm(values[state]))[:3])
                assert abs(lightness(marks[name].get_color()) - below) > 35
        assert ax.yaxis_inverted() == ax.axison


def test_arrows_are_the_mean_moves_of_the_policy(drawn):
    _, boards, _ = drawn
    for ax, right in zip(boards[0], [0, 0, 0, 0, 0.8, 0.8], strict=True):
        arrows = ax.collections[2]
        # Of the five cells one is the start and one the goal.
        np.testing.assert_array_equal(arrows.get_offsets(), [[2.5, 1.5], [3.5, 1.5], [1.5, 2.5]])
        np.testing.assert_allclose(arrows.U, [right] * 3)
        np.testing.assert_allclose(arrows.V, [0] * 3)
    assert [len(ax.collections) for ax in boards[1:, 0]] == [2, 2, 2]
    picture = make_picture()
    picture["runs"][1]["policy"] = [[[0.5, 0.5, 0, 0], *[[0, 0, 1, 0]] * 4]] * 3
    picture["board"] = [line.replace("s", ".") for line in BOARD]
    _, boards, _ = draw(picture)
    arrows = boards[0, 0].collections[2]
    np.testing.assert_allclose(arrows.U, [0.4, 0, 0, 0])
    np.testing.assert_allclose(arrows.V, [-0.4, 0.8, 0.8, 0.8])  # rows count downwards


def test_no_arrows_without_moves_or_in_cells_too_small_for_them():
    picture = make_picture()
    picture["moves"] = None
    _, boards, _ = draw(picture)
    assert [len(ax.collections) for ax in boards[0]] == [2] * 3
    picture = make_picture()
    picture["board"] = [line.ljust(200, "#") for line in BOARD]
    _, boards, _ = draw(picture)
    assert len(boards[0, 0].collections) == 2


def test_a_run_without_bonuses_has_no_such_row():
    figure, boards, _ = draw(make_picture(), "agent B")
    assert len(boards) == 3
    rows = [text.get_text() for text in figure.texts]
    assert rows == ["value", "probability\nof heaven", "occupancy"]


def test_constant_and_missing_numbers_can_be_drawn():
    picture = make_picture()
    run = picture["runs"][1]
    picture["optimal"]["value"] = [0.0] * 5
    for name in ("value", "bonus", "ascension"):
        run[name] = [[0.0] * 5] * 3
    run["occupancy"] = [[0.2, 0.2, 0.2, 0.2, None]] * 3
    figure, boards, _ = draw(picture)
    figure.draw_without_rendering()
    assert boards[3, 0].collections[1].get_array().mask[2, 3]
    norms = [row[0].collections[1].norm for row in boards]
    assert all(norm.vmin < norm.vmax for norm in norms)


@pytest.mark.parametrize("board", [["s...$"], ["s", ".", ".", ".", "$"], ["s....", "...$"]])
def test_boards_of_all_shapes_have_room(board):
    picture = make_picture(MANY)
    picture["board"] = board
    cells = [[i, j] for i, line in enumerate(board) for j in range(len(line))]
    picture["cells"] = cells[:4] + cells[-1:]
    figure, _, bars = draw(picture)
    figure.draw_without_rendering()
    assert figure.get_figwidth() == 6.75
    assert min(bar.get_window_extent().height for bar in bars) >= 0.28 * figure.dpi
    boxes = [ax.get_tightbbox() for ax in figure.axes if ax.axison]
    boxes += [text.get_window_extent() for text in figure.texts]
    for a, b in combinations(boxes, 2):
        assert not a.padded(-1).overlaps(b.padded(-1))
    for box in boxes:
        assert figure.bbox.x0 <= box.x0 <= box.x1 <= figure.bbox.x1
        assert figure.bbox.y0 - 1 <= box.y0 <= box.y1 <= figure.bbox.y1 + 1


@pytest.mark.parametrize(
    ("episodes", "shown"),
    [
        ([0], [0]),
        ([0, 1], [1]),
        ([5, 10], [0, 1]),
        ([0, 1, 2, 4, 8, 10], [1, 2, 3, 5]),
        ([0, 1, 10, 100, 1000, 10_000], [1, 2, 3, 4, 5]),
        (list(range(1001)), [1, 6, 32, 178, 1000]),
    ],
)
def test_recorded_episodes_are_spread_in_their_logarithm(episodes, shown):
    assert figures_board.spread(episodes) == shown


def test_what_was_not_recorded_is_refused():
    data = make_data(make_picture())
    with pytest.raises(ValueError, match="the report has no world 'Lake'"):
        optimism_figure(data, "Lake", "agent A")
    with pytest.raises(ValueError, match="the report has no picture of 'Sea'"):
        optimism_figure(data, "Sea", "agent A")
    with pytest.raises(ValueError, match="no picture of 'agent C' in 'River'"):
        optimism_figure(data, "River", "agent C")
