"""Figures of imitators: matching errors, and occupancies beside the expert's."""

from itertools import pairwise

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from optimist.report import figures_board
from optimist.report.figures import curves_figure, save_figures
from optimist.report.figures_grid import optimism_figure
from optimist.report.figures_imitation import imitation_figure


@pytest.fixture(scope="module")
def data(sample):
    """Three worlds; of three agents the first two imitate an expert."""
    return sample(imitators=("Bold", "Careful"))


def picture_of(data, agent="Bold"):
    picture = data["worlds"][0]["picture"]
    return picture, next(run for run in picture["runs"] if run["agent"] == agent)


def boards_of(figure, rows):
    """The boards, [rows, columns], and the colour bars."""
    bars = [ax for ax in figure.axes if hasattr(ax, "_colorbar")]
    assert len(bars) == rows
    boards = np.array([ax for ax in figure.axes if ax not in bars])
    return boards.reshape(rows, -1), bars


def cells_of(ax, picture):
    """What is drawn in the cells of the states."""
    return ax.collections[1].get_array()[tuple(np.transpose(picture["cells"]))]


@pytest.fixture(scope="module")
def drawn(data):
    return boards_of(imitation_figure(data, "Room", "Bold"), rows=2)


# Occupancies


def test_occupancies_stand_above_their_differences_from_the_expert(data, drawn):
    boards, _ = drawn
    picture, run = picture_of(data)
    titles = [ax.get_title() for ax in boards[0]]
    assert titles == ["episode 1", "episode 4", "episode 16", "episode 64", "expert"]
    expert = np.array(picture["optimal"]["occupancy"])
    np.testing.assert_allclose(
        cells_of(boards[0, 4], picture),
        np.maximum(expert, boards[0, 4].collections[1].norm.vmin),
    )
    for column, i in enumerate((1, 2, 3, 4)):
        learner = np.array(run["occupancy"][i])
        above, below = boards[:, column]
        least = above.collections[1].norm.vmin
        np.testing.assert_allclose(cells_of(above, picture), np.maximum(learner, least))
        np.testing.assert_allclose(cells_of(below, picture), learner - expert)
    assert not boards[1, 4].axison
    assert not boards[1, 4].collections


def test_differences_have_one_scale_with_zero_in_its_middle(data, drawn):
    boards, bars = drawn
    _, run = picture_of(data)
    meshes = [ax.collections[1] for ax in boards[1, :4]]
    assert len({id(mesh.norm) for mesh in meshes}) == 1
    norm, colours = meshes[0].norm, meshes[0].cmap
    most = np.abs(run["difference"][1:]).max()
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
    ticks = [t for t in bars[1].get_yticks() if norm.vmin <= t <= norm.vmax]
    assert 0 in ticks
    np.testing.assert_allclose(ticks, [-t for t in ticks[::-1]])
    assert len(ticks) >= 3


def test_no_difference_is_told_from_what_is_no_state(drawn):
    boards, _ = drawn
    mesh = boards[1, 0].collections[1]
    zero = np.array(mesh.cmap(mesh.norm(0.0))[:3])
    for other in (figures_board.PAPER, figures_board.WALL):
        assert np.abs(zero - to_rgb(other)).max() > 0.1


def test_policies_are_drawn_on_the_occupancies(data, drawn):
    boards, _ = drawn
    picture, run = picture_of(data)
    free = [picture["board"][r][c] not in figures_board.NO_ARROW for r, c in picture["cells"]]
    policies = [*run["policy"][1:], picture["optimal"]["policy"]]
    for ax, policy in zip(boards[0], policies, strict=True):
        down, right = 0.8 * (np.array(policy) @ picture["moves"])[free].T
        np.testing.assert_allclose(ax.collections[2].U, right)
        np.testing.assert_allclose(ax.collections[2].V, down)
    assert [len(ax.collections) for ax in boards[1, :4]] == [2] * 4


def test_occupancies_of_learner_and_expert_have_one_scale(drawn):
    boards, _ = drawn
    assert len({id(ax.collections[1].norm) for ax in boards[0]}) == 1


def test_an_imitator_that_never_differs_can_be_drawn(sample):
    data = sample(imitators=("Bold",))
    picture, run = picture_of(data)
    run["occupancy"] = [picture["optimal"]["occupancy"]] * 5
    run["difference"] = [[0.0] * 10] * 5
    figure = imitation_figure(data, "Room", "Bold")
    figure.draw_without_rendering()
    boards, _ = boards_of(figure, rows=2)
    norm = boards[1, 0].collections[1].norm
    assert norm.vmin == -norm.vmax < 0
    assert not cells_of(boards[1, 0], picture).any()


@pytest.mark.parametrize("size", [0.5, 2e-3, 2e-4])
@pytest.mark.parametrize("world", ["Room", "Sea"])
def test_small_differences_have_ticks_that_stay_on_the_page(sample, world, size):
    data = sample(imitators=("Bold",))
    [run] = [w["picture"]["runs"][0] for w in data["worlds"] if w["name"] == world]
    run["difference"] = [[size] + [-size / 3] * (len(row) - 1) for row in run["difference"]]
    figure = imitation_figure(data, world, "Bold")
    figure.draw_without_rendering()
    _, bars = boards_of(figure, rows=2)
    labels = [label for label in bars[1].get_yticklabels() if label.get_text()]
    assert len(labels) >= 3
    assert len({label.get_text() for label in labels}) == len(labels)
    boxes = [label.get_window_extent() for label in labels]
    assert max(box.x1 for box in boxes) <= figure.bbox.x1
    for low, high in pairwise(sorted(boxes, key=lambda box: box.y0)):
        assert low.y1 <= high.y0 + 2


def test_who_imitates_nobody_is_refused(data):
    with pytest.raises(ValueError, match="'Idle' imitates nobody in 'Room'"):
        imitation_figure(data, "Room", "Idle")
    with pytest.raises(ValueError, match="the report has no picture of 'River'"):
        imitation_figure(data, "River", "Bold")


def test_the_values_of_an_imitator_are_not_compared_with_the_optimum(sample):
    data = sample(imitators=("Bold",))
    picture, run = picture_of(data)
    picture["optimal"]["value"] = [1e6] * 10
    boards, _ = boards_of(optimism_figure(data, "Room", "Bold"), rows=4)
    assert "optimum" not in [ax.get_title() for ax in boards[0]]
    assert boards.shape == (4, 4)
    assert boards[0, 0].collections[1].norm.vmax == np.max(run["value"][1:])
    for ax, policy in zip(boards[0], run["policy"][1:], strict=True):
        assert len(ax.collections) == 3
        down, _ = 0.8 * (np.array(policy) @ picture["moves"])[1].T
        assert ax.collections[2].V[0] == pytest.approx(down)
    boards, _ = boards_of(optimism_figure(data, "Room", "Careful"), rows=4)
    assert boards[0, 4].get_title() == "optimum"
    assert boards[0, 0].collections[1].norm.vmax == 1e6


# Matching errors


@pytest.mark.parametrize("what", ["matching_error", "average_matching_error"])
@pytest.mark.parametrize("log", ["", "xy"])
def test_matching_errors_and_their_bands_are_drawn_for_imitators_alone(data, what, log):
    figure = curves_figure(data, what, log)
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["Room", "Sea", "River"]
    for ax, world in zip(figure.axes, data["worlds"], strict=True):
        assert len(ax.lines) == len(ax.collections) == 2
        for line, band, agent in zip(ax.lines, ax.collections, ("Bold", "Careful"), strict=True):
            curve = world["curves"][agent]
            np.testing.assert_array_equal(line.get_xdata(), curve["episode"])
            np.testing.assert_array_equal(line.get_ydata(), curve[what]["mean"])
            corners = {tuple(corner) for corner in band.get_paths()[0].vertices}
            for edge in ("low", "high"):
                assert set(zip(curve["episode"], curve[what][edge], strict=True)) <= corners
        scale = "log" if log else "linear"
        assert (ax.get_xscale(), ax.get_yscale()) == (scale, scale)
    [legend] = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["Bold", "Careful"]
    labels = [text.get_text() for text in figure.texts] + [figure._supylabel.get_text()]
    assert what.replace("_", " ") in labels


def test_worlds_without_imitators_have_no_panel_of_matching_errors(sample):
    data = sample(imitators=("Careful",))
    del data["worlds"][1]["curves"]["Careful"]  # which failed there
    figure = curves_figure(data, "matching_error")
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["Room", "River"]
    looks = [ax.lines[0].get_color() for ax in figure.axes]
    regret = curves_figure(data, "regret").axes[0].lines[1]
    assert set(looks) == {regret.get_color()}  # an agent looks alike in all figures
    with pytest.raises(ValueError, match="no imitators, so there is no matching error to draw"):
        curves_figure(sample(), "matching_error")


def test_each_imitator_on_each_board_has_a_file(sample, tmp_path):
    data = sample(worlds=("Room", "Sea", "River"), imitators=("Bold", "Idle"))
    names = [path.stem for path in save_figures(data, tmp_path, ("svg",))]
    assert names[3:5] == ["matching-error", "average-matching-error"]
    assert names[5:] == [
        "optimism-Room",
        "imitation-Room-Bold",
        "imitation-Room-Idle",
        "optimism-Sea",
        "imitation-Sea-Bold",
        "imitation-Sea-Idle",
    ]
    plain = [path.stem for path in save_figures(sample(), tmp_path / "plain", ("svg",))]
    assert plain == ["regret", "suboptimality", "summary", "optimism-Room", "optimism-Sea"]
