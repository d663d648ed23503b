"""Gymnasium environments in the report: returns instead of losses, maps instead of boards."""

import re
from dataclasses import replace

import numpy as np
import pytest

import optimist as opt
from optimist.report.figures import curves_figure, save_figures, summary_figure
from optimist.report.figures_board import optimism_figure
from optimist.report.page import render

AGENTS = ("Bold", "Careful", "Idle")


@pytest.fixture
def mixed(sample, samples):
    """A room, and two environments, of which the first is a plane."""
    data = sample(worlds=("Room",), agents=AGENTS)
    other = samples.environment(AGENTS, "Other", drawn=False)
    return replace(data, worlds=(*data.worlds, samples.environment(AGENTS), other))


@pytest.fixture
def alone(mixed):
    """The environments only."""
    return replace(mixed, worlds=mixed.worlds[1:])


@pytest.fixture
def finite(mixed):
    return replace(mixed, worlds=mixed.worlds[:1])


def names(figure):
    return [ax.get_title(loc="left") for ax in figure.axes]


# Figures


def test_each_figure_shows_the_worlds_with_its_quantity(mixed):
    assert names(curves_figure(mixed, "return")) == ["Plane", "Other"]
    assert names(curves_figure(mixed, "regret")) == ["Room"]
    assert names(curves_figure(mixed, "suboptimality")) == ["Room"]
    assert names(summary_figure(mixed)) == ["Room"]


def test_returns_are_drawn_unchanged_on_an_axis_without_zero(mixed, same):
    figure = curves_figure(mixed, "return")
    ax, curves = figure.axes[0], mixed.worlds[1].curves
    same(ax, curves.values(), "return")
    low, high = ax.get_ylim()
    assert low < min(c.of["return"].mean.low.min() for c in curves.values())
    assert max(c.of["return"].mean.high.max() for c in curves.values()) < high < -100
    assert figure.get_supylabel() == "return"


def test_returns_that_never_change_have_an_axis_too(alone):
    for curves in alone.worlds[0].curves.values():
        band = curves.of["return"].mean
        for numbers in (band.value, band.low, band.high):
            numbers[:] = -200.0
    low, high = curves_figure(alone, "return").axes[0].get_ylim()
    assert low < -200 < high


def test_quantities_that_are_not_measured_are_refused(alone, finite):
    with pytest.raises(ValueError, match=r"of the report: 'regret', 'suboptimality'; got 'return'"):
        curves_figure(finite, "return")
    with pytest.raises(ValueError, match="in a world of the report: 'return'; got 'regret'"):
        curves_figure(alone, "regret")


def test_the_figures_written_depend_on_the_worlds(mixed, alone, finite, tmp_path):
    def written(data):
        return [path.stem for path in save_figures(data, tmp_path, ("png",))]

    losses = ["regret", "suboptimality"]
    assert written(mixed) == [*losses, "return", "summary", "optimism-Room", "optimism-Plane"]
    assert written(alone) == ["return", "optimism-Plane"]
    assert written(finite) == [*losses, "summary", "optimism-Room"]


def test_a_map_has_four_rows_without_an_optimum_and_labels_at_its_edges(mixed):
    figure = optimism_figure(mixed.worlds[1], "Bold")
    run = mixed.worlds[1].picture.runs[0]
    assert len(figure.axes) == 4 * (3 + 1)  # a bar beside each row
    boards = [ax for i, ax in enumerate(figure.axes) if i % 4 < 3]
    assert [ax.get_title() for ax in boards[:3]] == ["episode 1", "episode 8", "episode 64"]
    for k, key in enumerate(("value", "bonus", "ascension", "visits")):
        drawn = boards[3 * k + 2].collections[1].get_array()
        np.testing.assert_allclose(drawn.ravel(), np.maximum(getattr(run, key)[3], drawn.min()))
    across = [text.get_text() for text in boards[-1].get_xticklabels()]
    assert across == ["\N{MINUS SIGN}1.2", "obs[0]", "0.6"]
    ticks = dict(zip(boards[0].get_yticks(), boards[0].get_yticklabels(), strict=True))
    assert ticks[0].get_text() == "0.07"  # rows are counted from the top
    assert ticks[30].get_text() == "\N{MINUS SIGN}0.07"
    assert not boards[1].get_yticklabels()


# The page


def table(page, world):
    """The table of results of a world."""
    found = re.search(rf'<article data-world="{world}">(.*?)</article>', page, re.S)[1]
    return re.search(r"<table.*?</table>", found, re.S)[0]


def bold(table):
    return re.findall(r'data-agent="(\w+)">(?:(?!</tr>).)*?<b>', table, re.S)


def test_tables_hold_returns_and_the_highest_is_bold(alone, samples):
    page = render(alone)
    first = table(page, 0)
    for row in alone.worlds[0].estimates.values():
        for estimate in row.values():
            assert f'data-value="{estimate.value}"' in first
    assert bold(first) == ["Bold"]
    assert "no optimum is known" in page
    assert 'data-column="regret"' not in page
    ends = {"Bold": (-160, -170, -150), "Careful": (-180, -190, -169), "Idle": (-190, -195, -171)}
    for agent, numbers in ends.items():
        path = f"worlds.0.estimates.{agent}.mean_return"
        alone = samples.changed(alone, path, samples.about(*numbers))
    assert bold(table(render(alone), 0)) == ["Bold", "Careful"]  # whose intervals overlap


def test_the_summary_has_a_table_for_each_kind(mixed, alone, finite):
    page = render(mixed)
    losses, returns = page.index('id="overview-values"'), page.index('id="overview-returns"')
    assert losses < page.index('data-choose="0"') < returns < page.index('data-choose="1"')
    assert "Mean return</caption>" in page
    assert "overview-values" not in render(alone)
    assert "overview-returns" not in render(replace(finite, worlds=2 * finite.worlds))


def test_the_words_fit_the_worlds(mixed, alone, finite):
    for data, words in (
        (finite, ("measured by exact values<", "the lower average suboptimality than", "lowest")),
        (alone, ("measured by returns<", "the higher mean return than", "highest mean return")),
        (mixed, ("values and by returns<", "suboptimality or the higher mean return than",
                 "lowest average suboptimality or the highest mean return")),
    ):  # fmt: skip
        page = render(data)
        for said in words:
            assert said in page
        assert ('data-track="returns"' in page) is (data is not finite)


def test_a_real_study_can_be_reported(tmp_path):
    world = opt.envs.Gym("MountainCar-v0", features="tiles:4", repeat=8)
    study = opt.Study({"car": world}, {"R-max": opt.Rmax}, 3, seeds=2)
    results = opt.run(study, tmp_path / "out", jobs=1)
    [shown] = results.data.worlds
    assert shown.about.detail == "Gym MountainCar-v0"
    assert shown.about.parameters["features"] == "tiles:4"
    assert "car" in results.report().read_text()
    assert names(results.plot("return")) == ["car"]
    maps = results.shots(results.finished[0])
    [run] = shown.picture.runs
    assert run.bonus is None  # as R-max has none
    assert not maps.bonus.any()
    for key in ("value", "ascension", "visits"):
        np.testing.assert_array_equal(getattr(run, key), getattr(maps, key))
    assert run.action.tolist() == maps.action.tolist()
