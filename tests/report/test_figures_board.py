"""Figures of boards: what optimism does, imitators beside their expert, and maps."""

from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
import pytest
from matplotlib.colors import LogNorm, to_rgb

from optimist.display.boards import NO_ARROW, PAPER, WALL
from optimist.report import figures_board
from optimist.report.data import About, Picture, Recording, ShownOptimum, ShownWorld
from optimist.report.figures import save_figures
from optimist.report.figures_board import imitation_figure, optimism_figure
from optimist.report.labels import VALUES

BOARD = ("#####", "#s..#", "#.#$#", "#####")
CELLS = np.array([[1, 1], [1, 2], [1, 3], [2, 1], [2, 3]])
MOVES = np.array([[-1, 0], [0, 1], [1, 0], [0, -1]])
RIGHT = np.array([[0.0, 1.0, 0.0, 0.0]] * 5)
UNIFORM = np.full((5, 4), 0.25)
MANY = (0, 1, 2, 4, 8, 16, 32, 64, 100)


def make_run(agent, episodes, bonus=True):
    k = np.array(episodes)[:, None]
    share, none = k / 100, np.zeros((len(k), 4))
    return Recording(
        agent,
        seed=0,
        episodes=k[:, 0],
        value=1.0 * k + np.arange(5),
        bonus=1 / (1 + k) * np.ones(5) if bonus else None,
        ascension=np.hstack([none, share]),
        occupancy=np.hstack([1 - share, share, none[:, 1:]]),
        policy=np.where(k[:, :, None] < 50, UNIFORM, RIGHT),
    )


def make_picture(episodes=(0, 1, 4), **changes):
    """Few episodes unless told, as each board takes a moment to draw."""
    optimum = ShownOptimum(np.full(5, 200.0), np.full(5, 0.2), RIGHT)
    run = replace(make_run("agent A", episodes), **changes)
    runs = (
        make_run("agent B", episodes, bonus=False),
        run,
        make_run("agent A", episodes, bonus=False),
    )
    return Picture(BOARD, CELLS, MOVES, runs=runs, optimum=optimum)


def make_world(picture):
    return ShownWorld("River", About("", {}), VALUES, 100, 1, {}, {}, {}, picture=picture)


def boards_of(figure):
    """The boards, [rows, columns], and the colour bars, [rows]."""
    bars = [ax for ax in figure.axes if hasattr(ax, "_colorbar")]
    boards = np.array([ax for ax in figure.axes if ax not in bars])
    return boards.reshape(len(bars), -1), bars


def draw(picture):
    return boards_of(optimism_figure(make_world(picture), "agent A"))


@pytest.fixture(scope="module")
def drawn():
    return draw(make_picture(MANY))


def cells_of(ax, cells=CELLS):
    """The numbers drawn in the cells of the states; all other cells must be empty."""
    mesh = ax.collections[1].get_array()
    row, column = np.transpose(cells)
    assert mesh.mask.sum() == mesh.size - len(cells)
    assert not mesh.mask[row, column].any()
    return mesh[row, column]


def test_the_boards_show_the_recorded_numbers(drawn):
    run = make_picture(MANY).runs[1]
    boards, _ = drawn
    shown = [1, 3, 4, 6, 8]
    headings = [f"episode {run.episodes[i]}" for i in shown]
    assert [ax.get_title() for ax in boards[0]] == [*headings, "optimum"]
    for row, name in enumerate(("value", "bonus", "ascension", "occupancy")):
        for column, i in enumerate(shown):
            ax = boards[row, column]
            expected = np.maximum(getattr(run, name)[i], ax.collections[1].norm.vmin)
            np.testing.assert_allclose(cells_of(ax), expected)
    np.testing.assert_array_equal(cells_of(boards[0, 5]), [200] * 5)
    np.testing.assert_array_equal(cells_of(boards[3, 5]), [0.2] * 5)
    for ax in boards[1:3, 5]:
        assert not ax.axison
        assert not ax.collections


def test_a_row_has_one_scale_that_holds_the_optimum_too(drawn):
    boards, bars = drawn
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
    occupancy = np.array([[0.9, 1e-2, 1e-5, 1e-8, 0.0]] * 3)
    boards, bars = draw(make_picture(occupancy=occupancy))
    assert [bar._colorbar.extend for bar in bars] == ["neither", "neither", "min", "min"]
    mesh = boards[3, 0].collections[1]
    assert (mesh.norm.vmin, mesh.norm.vmax) == pytest.approx((0.9e-3, 0.9))
    np.testing.assert_allclose(cells_of(boards[3, 0]), [0.9, 0.01, 0.9e-3, 0.9e-3, 0.9e-3])


def test_walls_are_darker_and_paper_is_lighter_than_any_state(drawn, lightness):
    boards, _ = drawn
    under, mesh = boards[0, 0].collections[:2]
    walls = np.array([[c == "#" for c in line] for line in BOARD])
    colours = under.get_array()
    assert (colours[walls] == to_rgb(WALL)).all()
    assert not (colours[~walls] == to_rgb(WALL)).any()
    states = [lightness(mesh.cmap(x)[:3]) for x in np.linspace(0, 1, 20)]
    assert (np.diff(states) > 0).all()  # in grey the order is the same
    assert states[0] > lightness(WALL) + 20
    assert states[-1] < lightness(PAPER) - 5
    cells = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [2, 0]])
    board = ("s.", "..", "$", "=#")  # cells that are neither states nor walls are paper
    colours = (
        draw(replace(make_picture(), board=board, cells=cells))[0][0, 0].collections[0].get_array()
    )
    expected = [PAPER, PAPER, WALL]
    assert [tuple(colours[at]) for at in ((2, 1), (3, 0), (3, 1))] == [to_rgb(c) for c in expected]


def test_start_and_goal_are_marked_on_every_board_and_seen(drawn, lightness):
    boards, _ = drawn
    for ax in boards.flat:
        if ax.axison:
            marks = {t.get_text(): t for t in ax.texts}
            places = {name: t.get_position() for name, t in marks.items()}
            assert places == {"S": (1.5, 1.5), "G": (3.5, 2.5)}
            mesh, values = ax.collections[1], cells_of(ax)
            for name, state in (("S", 0), ("G", 4)):
                below = lightness(mesh.cmap(mesh.norm(values[state]))[:3])
                assert abs(lightness(marks[name].get_color()) - below) > 35
        assert ax.yaxis_inverted() == ax.axison


def test_arrows_are_the_mean_moves_of_the_policy(drawn):
    boards, _ = drawn
    for ax, right in zip(boards[0], [0, 0, 0, 0, 0.8, 0.8], strict=True):
        arrows = ax.collections[2]
        # Of the five cells one is the start and one the goal.
        np.testing.assert_array_equal(arrows.get_offsets(), [[2.5, 1.5], [3.5, 1.5], [1.5, 2.5]])
        np.testing.assert_allclose(arrows.U, [right] * 3)
        np.testing.assert_allclose(arrows.V, [0] * 3)
    assert [len(ax.collections) for ax in boards[1:, 0]] == [2, 2, 2]
    picture = make_picture(policy=np.array([[[0.5, 0.5, 0, 0], *[[0, 0, 1, 0]] * 4]] * 3))
    boards, _ = draw(replace(picture, board=tuple(line.replace("s", ".") for line in BOARD)))
    arrows = boards[0, 0].collections[2]
    np.testing.assert_allclose(arrows.U, [0.4, 0, 0, 0])
    np.testing.assert_allclose(arrows.V, [-0.4, 0.8, 0.8, 0.8])  # rows count downwards


def test_no_arrows_without_moves_or_in_cells_too_small_for_them():
    boards, _ = draw(replace(make_picture(), moves=None))
    assert [len(ax.collections) for ax in boards[0]] == [2] * 3
    wide = tuple(line.ljust(200, "#") for line in BOARD)
    boards, _ = draw(replace(make_picture(), board=wide))
    assert len(boards[0, 0].collections) == 2


def test_a_run_without_bonuses_has_no_such_row():
    figure = optimism_figure(make_world(make_picture()), "agent B")
    assert len(boards_of(figure)[0]) == 3
    rows = [text.get_text() for text in figure.texts]
    assert rows == ["value", "probability\nof heaven", "occupancy"]


def test_constant_and_missing_numbers_can_be_drawn():
    zero = dict.fromkeys(("value", "bonus", "ascension"), np.zeros((3, 5)))
    picture = make_picture(**zero, occupancy=np.array([[0.2, 0.2, 0.2, 0.2, np.nan]] * 3))
    picture.optimum.value[:] = 0.0
    boards, _ = draw(picture)
    boards[0, 0].figure.draw_without_rendering()
    assert boards[3, 0].collections[1].get_array().mask[2, 3]
    norms = [row[0].collections[1].norm for row in boards]
    assert all(norm.vmin < norm.vmax for norm in norms)


@pytest.mark.parametrize("board", [["s...$"], ["s", ".", ".", ".", "$"], ["s....", "...$"]])
def test_boards_of_all_shapes_have_room(board):
    cells = [[i, j] for i, line in enumerate(board) for j in range(len(line))]
    cells = np.array(cells[:4] + cells[-1:])
    picture = replace(make_picture(MANY), board=tuple(board), cells=cells)
    figure = optimism_figure(make_world(picture), "agent A")
    _, bars = boards_of(figure)
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


def test_recorded_episodes_are_spread_in_their_logarithm():
    for episodes, shown in (
        ([0], [0]),
        ([0, 1], [1]),
        ([5, 10], [0, 1]),
        ([0, 1, 2, 4, 8, 10], [1, 2, 3, 5]),
        ([0, 1, 10, 100, 1000, 10_000], [1, 2, 3, 4, 5]),
        (list(range(1001)), [1, 6, 32, 178, 1000]),
    ):
        assert figures_board.pick_episodes(episodes) == shown


def test_runs_that_are_not_in_the_report_are_refused(imitators):
    with pytest.raises(ValueError, match="the report has no picture of 'River'"):
        optimism_figure(make_world(None), "agent A")
    with pytest.raises(ValueError, match="no picture of 'agent C' in 'River'"):
        optimism_figure(make_world(make_picture()), "agent C")
    with pytest.raises(ValueError, match="must imitate an expert; 'Idle' in 'Room' does not"):
        imitation_figure(imitators.worlds[0], "Idle")


# Imitators


@pytest.fixture(scope="module")
def imitators(sample):
    """Three worlds; of three agents the first two imitate an expert."""
    return sample(imitators=("Bold", "Careful"))


@pytest.fixture(scope="module")
def imitated(imitators):
    return boards_of(imitation_figure(imitators.worlds[0], "Bold"))


def picture_of(data):
    """The picture of the first world, and the run of the first agent in it."""
    picture = data.worlds[0].picture
    return picture, picture.runs[0]


def test_occupancies_are_drawn_above_their_differences_from_the_expert(imitators, imitated):
    boards, _ = imitated
    picture, run = picture_of(imitators)
    cells, optimal = picture.cells, picture.optimum
    assert boards.shape == (2, 5)
    titles = [ax.get_title() for ax in boards[0]]
    assert titles == ["episode 1", "episode 4", "episode 16", "episode 64", "expert"]
    occupancies = np.array([*run.occupancy[1:], optimal.occupancy])
    policies = np.array([*run.policy[1:], optimal.policy])
    free = [picture.board[r][c] not in NO_ARROW for r, c in cells]
    [norm] = {ax.collections[1].norm for ax in boards[0]}  # one scale for learner and expert
    for ax, occupancy, policy in zip(boards[0], occupancies, policies, strict=True):
        np.testing.assert_allclose(cells_of(ax, cells), np.maximum(occupancy, norm.vmin))
        down, right = 0.8 * (policy @ picture.moves)[free].T
        np.testing.assert_allclose(ax.collections[2].U, right)
        np.testing.assert_allclose(ax.collections[2].V, down)
    for ax, occupancy in zip(boards[1, :4], occupancies[:4], strict=True):
        np.testing.assert_allclose(cells_of(ax, cells), occupancy - occupancies[4])
        assert len(ax.collections) == 2  # no arrows
    assert not boards[1, 4].axison
    assert not boards[1, 4].collections


def test_differences_have_one_scale_with_zero_in_its_middle(imitators, imitated):
    boards, bars = imitated
    _, run = picture_of(imitators)
    [norm] = {ax.collections[1].norm for ax in boards[1, :4]}
    colours = boards[1, 0].collections[1].cmap
    most = np.abs(run.difference[1:]).max()
    assert (norm.vmin, norm.vmax) == pytest.approx((-most, most))
    assert float(norm(0)) == 0.5
    for x in (most, most / 10, most / 100, most / 200):
        assert float(norm(x)) + float(norm(-x)) == pytest.approx(1)
    # A decade takes as much room as all below its last one: in thirds of one side.
    places = [float(norm(x)) for x in (most / 100, most / 10, most)]
    np.testing.assert_allclose(places, 0.5 + np.array([1, 2, 3]) / 6)
    red, _, blue = colours(norm(most))[:3]
    assert red > 0.6 > 0.3 > blue  # where it is too often
    red, _, blue = colours(norm(-most))[:3]
    assert blue > 0.6 > 0.3 > red
    for other in (PAPER, WALL):
        assert np.abs(np.array(colours(norm(0.0))[:3]) - to_rgb(other)).max() > 0.1
    ticks = [t for t in bars[1].get_yticks() if norm.vmin <= t <= norm.vmax]
    assert 0 in ticks
    np.testing.assert_allclose(ticks, [-t for t in ticks[::-1]])
    assert len(ticks) >= 3


def test_an_imitator_that_never_differs_can_be_drawn(sample):
    data = sample(imitators=("Bold",))
    picture, run = picture_of(data)
    run.occupancy[:] = picture.optimum.occupancy
    run.difference[:] = 0.0
    figure = imitation_figure(data.worlds[0], "Bold")
    figure.draw_without_rendering()
    boards, _ = boards_of(figure)
    norm = boards[1, 0].collections[1].norm
    assert norm.vmin == -norm.vmax < 0
    assert not cells_of(boards[1, 0], picture.cells).any()


@pytest.mark.parametrize(("world", "size"), [("Room", 0.5), ("Sea", 2e-3), ("Room", 2e-4)])
def test_small_differences_have_ticks_that_stay_on_the_page(sample, world, size):
    data = sample(imitators=("Bold",))
    [there] = [w for w in data.worlds if w.name == world]
    there.picture.runs[0].difference[:] = -size / 3
    there.picture.runs[0].difference[:, 0] = size
    figure = imitation_figure(there, "Bold")
    figure.draw_without_rendering()
    _, bars = boards_of(figure)
    labels = [label for label in bars[1].get_yticklabels() if label.get_text()]
    assert len(labels) >= 3
    assert len({label.get_text() for label in labels}) == len(labels)
    boxes = [label.get_window_extent() for label in labels]
    assert max(box.x1 for box in boxes) <= figure.bbox.x1
    for low, high in pairwise(sorted(boxes, key=lambda box: box.y0)):
        assert low.y1 <= high.y0 + 2


def test_the_values_of_an_imitator_are_not_compared_with_the_optimum(sample):
    data = sample(imitators=("Bold",))
    picture, run = picture_of(data)
    picture.optimum.value[:] = 1e6
    boards, _ = boards_of(optimism_figure(data.worlds[0], "Bold"))
    assert "optimum" not in [ax.get_title() for ax in boards[0]]
    assert boards.shape == (4, 4)
    assert boards[0, 0].collections[1].norm.vmax == np.max(run.value[1:])
    for ax, policy in zip(boards[0], run.policy[1:], strict=True):
        assert len(ax.collections) == 3
        down, _ = 0.8 * (np.array(policy) @ picture.moves)[1].T
        assert ax.collections[2].V[0] == pytest.approx(down)
    boards, _ = boards_of(optimism_figure(data.worlds[0], "Careful"))
    assert boards.shape == (4, 5)
    assert boards[0, 4].get_title() == "optimum"
    assert boards[0, 0].collections[1].norm.vmax == 1e6


def test_each_imitator_on_each_board_has_a_file(sample, tmp_path):
    data = sample(agents=("Bold", "Idle"), imitators=("Bold",))
    names = [path.stem for path in save_figures(data, tmp_path, ("svg",))]
    assert names == [
        *("regret", "suboptimality", "matching-error", "average-matching-error", "summary"),
        *("optimism-Room", "imitation-Room-Bold", "optimism-Sea", "imitation-Sea-Bold"),
    ]
