"""Gymnasium environments in the report: returns instead of losses, maps instead of boards."""

import re

import numpy as np
import pytest

import optimist as opt
from optimist.report.figures import curves_figure, save_figures, summary_figure
from optimist.report.figures_grid import optimism_figure
from optimist.report.page import render

AGENTS = ("Bold", "Careful", "Idle")


@pytest.fixture
def mixed(sample, environment):
    """A room, and two environments, of which the first is a plane."""
    data = sample(worlds=("Room",), agents=AGENTS)
    data["worlds"] += [environment(AGENTS), environment(AGENTS, "Other", drawn=False)]
    return data


@pytest.fixture
def alone(mixed):
    """The environments only."""
    return {**mixed, "worlds": mixed["worlds"][1:]}


@pytest.fixture
def finite(mixed):
    return {**mixed, "worlds": mixed["worlds"][:1]}


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
    ax, curves = figure.axes[0], mixed["worlds"][1]["curves"]
    same(ax, curves.values(), "return")
    low, high = ax.get_ylim()
    assert low < min(min(c["return"]["low"]) for c in curves.values())
    assert max(max(c["return"]["high"]) for c in curves.values()) < high < -100
    assert figure.get_supylabel() == "return"


def test_returns_that_never_change_have_an_axis_too(alone):
    for curve in alone["worlds"][0]["curves"].values():
        curve["return"] = {key: [-200.0] * 20 for key in ("mean", "low", "high")}
    low, high = curves_figure(alone, "return").axes[0].get_ylim()
    assert low < -200 < high


def test_quantities_that_are_not_measured_are_refused(alone, finite):
    with pytest.raises(ValueError, match="return is not available: the report has no Gymnasium"):
        curves_figure(finite, "return")
    with pytest.raises(ValueError, match=r'regret is not available .*; use what="return"'):
        curves_figure(alone, "regret")


def test_the_figures_written_depend_on_the_worlds(mixed, alone, finite, tmp_path):
    def written(data):
        return [path.stem for path in save_figures(data, tmp_path, ("png",))]

    losses = ["regret", "suboptimality", "summary"]
    assert written(mixed) == [*losses, "return", "optimism-Room", "optimism-Plane"]
    assert written(alone) == ["return", "optimism-Plane"]
    assert written(finite) == [*losses, "optimism-Room"]


def test_a_map_has_four_rows_without_an_optimum_and_labels_at_its_edges(mixed):
    figure = optimism_figure(mixed, "Plane", "Bold")
    run = mixed["worlds"][1]["picture"]["runs"][0]
    assert len(figure.axes) == 4 * (3 + 1)  # a bar beside each row
    boards = [ax for i, ax in enumerate(figure.axes) if i % 4 < 3]
    assert [ax.get_title() for ax in boards[:3]] == ["episode 1", "episode 8", "episode 64"]
    for k, key in enumerate(("value", "bonus", "ascension", "visits")):
        drawn = boards[3 * k + 2].collections[1].get_array()
        np.testing.assert_allclose(drawn.ravel(), np.maximum(run[key][3], drawn.min()))
    across = [text.get_text() for text in boards[-1].get_xticklabels()]
    assert across == ["\N{MINUS SIGN}1.2", "obs[0]", "0.6"]
    ticks = dict(zip(boards[0].get_yticks(), boards[0].get_yticklabels(), strict=True))
    assert ticks[0].get_text() == "0.07"  # rows are counted from the top
    assert ticks[30].get_text() == "\N{MINUS SIGN}0.07"
    assert not boards[1].get_yticklabels()


# The page


def table(page, world):
    """The table of results of a world."""
    [found] = re.findall(rf"<article data-world='{world}'>(.*?)</article>", page, re.S)[:1]
    return found


def bold(table):
    return re.findall(r"data-agent='(\w+)'>(?:(?!</tr>).)*?<b>", table, re.S)


def test_tables_hold_returns_and_the_highest_is_bold(alone):
    page = render(alone)
    first = table(page, 0)
    for row in alone["worlds"][0]["rows"]:
        for key in ("mean_return", "final_return"):
            assert f"data-value='{row[key]['value']!r}'" in first
    assert bold(first) == ["Bold"]
    assert "no optimum is known" in first
    assert "data-column='regret'" not in page
    ends = {"Bold": (-160, -170, -150), "Careful": (-180, -190, -169), "Idle": (-190, -195, -171)}
    for row in alone["worlds"][0]["rows"]:
        value, low, high = ends[row["agent"]]
        row["mean_return"] = {"value": value, "low": low, "high": high, "note": ""}
    assert bold(table(render(alone), 0)) == ["Bold", "Careful"]  # whose intervals overlap


def test_the_summary_has_a_table_for_each_kind(mixed, alone, finite):
    page = render(mixed)
    losses, returns = page.index("id='overview'"), page.index("id='overview-of-returns'")
    assert losses < page.index("data-choose='0'") < returns < page.index("data-choose='1'")
    assert "Mean return</caption>" in page
    assert "id='overview'" not in render(alone)
    assert "overview-of-returns" not in render({**finite, "worlds": 2 * finite["worlds"]})


def test_the_words_fit_the_worlds(mixed, alone, finite):
    for data, words in (
        (finite, ("measured by exact values<", "the lower average suboptimality than", "lowest")),
        (alone, ("measured by returns<", "the higher mean return than", "highest mean return")),
        (mixed, ("and by returns where", "or the higher mean return where", "lowest average or")),
    ):
        page = render(data)
        for said in words:
            assert said in page
        assert ("data-returns>" in page) is (data is not finite)
        assert "{{" not in page


def test_a_real_study_can_be_reported(tmp_path):
    world = opt.envs.Gym("MountainCar-v0", features="tiles:4", repeat=8)
    study = opt.Study({"car": world}, {"R-max": opt.Rmax}, 3, seeds=2)
    results = opt.run(study, tmp_path / "out", jobs=1)
    [shown] = results.data["worlds"]
    assert shown["detail"] == "Gym: id MountainCar-v0, features tiles:4, gamma 0.99, repeat 8"
    assert "car" in results.report().read_text()
    assert names(results.plot("return")) == ["car"]
    maps = results.shots(results.finished[0])
    [run] = shown["picture"]["runs"]
    for key in ("value", "bonus", "ascension", "visits"):
        np.testing.assert_allclose(run[key], getattr(maps, key), rtol=5e-3)
    assert run["action"] == maps.action.tolist()
