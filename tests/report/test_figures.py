"""The figures of a report: curves, summary, and their room on the page."""

from dataclasses import replace
from itertools import combinations

import matplotlib
import numpy as np
import pytest

from optimist.display.style import number
from optimist.experiments.statistics import Band, Estimate
from optimist.report.data import About, Curve, Curves, ReportData, ShownAgent, ShownWorld
from optimist.report.figures import curves_figure, summary_figure
from optimist.report.figures_panels import panels
from optimist.report.labels import VALUES

NAMES = [f"agent {letter}" for letter in "ABCDEFGHIJKLMNOP"]


def make_curve(agent, seeds=5, points=6):
    """Curves of which every number is known: the episodes, and multiples of them."""
    x = np.linspace(1, 2000, points)
    none = np.full(points, np.nan)

    def curve(mean):
        low, high = (none, none) if seeds == 1 else (0.8 * mean, 1.5 * mean)
        return Curve(Band(mean, low.copy(), high, seeds), mean[None])

    regret, lost = x * (agent + 1), 1 / x ** ((agent + 1) / 8)
    return Curves(x, 3 * x, {"regret": curve(regret), "suboptimality": curve(lost)})


def make_world(name, agents, seeds):
    score = estimate(0.2) if seeds == 1 else estimate(0.2, 0.1, 0.4)
    return ShownWorld(
        name,
        About(name, {}),
        VALUES,
        length=2000,
        seeds=seeds,
        estimates={agent: {"average": score} for agent in agents},
        improvement={},
        curves={agent: make_curve(i, seeds) for i, agent in enumerate(agents)},
    )


def make_data(agents=3, worlds=("River", "Sea"), seeds=5, names=NAMES):
    names = names[:agents]
    return ReportData(
        *("", "", "", "", 0.95, 2000, "", {}),
        agents=tuple(ShownAgent(name, About("", {})) for name in names),
        worlds=tuple(make_world(name, names, seeds) for name in worlds),
    )


def estimate(value, low=np.nan, high=np.nan):
    return Estimate(value, low, high, n=5)


def texts_of(figure):
    """All visible texts of a figure."""
    return [text.get_text() for text in figure.findobj(matplotlib.text.Text) if text.get_visible()]


def looks_of(lines):
    return [(line.get_color(), line.get_marker()) for line in lines]


# Curves


def test_every_curve_and_band_is_drawn_in_a_panel_with_its_name(same):
    data = make_data(agents=3)
    for what, label in (
        ("regret", "cumulative regret"),
        ("suboptimality", "relative suboptimality"),
    ):
        figure = curves_figure(data, what)
        assert [ax.get_title(loc="left") for ax in figure.axes] == ["River", "Sea"]
        texts = texts_of(figure)
        assert texts.count("episode") == texts.count(label) == 1
        assert "one seed" not in texts
        for ax, world in zip(figure.axes, data.worlds, strict=True):
            same(ax, world.curves.values(), what)
            for line, band in zip(ax.lines, ax.collections, strict=True):
                assert line.get_color() == matplotlib.colors.to_hex(band.get_facecolor()[0]).upper()
                assert 0.05 <= band.get_alpha() <= 0.2


def test_curves_can_be_drawn_over_steps():
    data = make_data(agents=2)
    figure = curves_figure(data, "regret", over="steps")
    for ax, world in zip(figure.axes, data.worlds, strict=True):
        for line, curves in zip(ax.lines, world.curves.values(), strict=True):
            np.testing.assert_array_equal(line.get_xdata(), curves.steps)
        assert ax.get_xlim() == (0, 6000)
    assert figure.get_supxlabel() == "steps, mean over the seeds"


def test_one_legend_names_the_agents_in_order_with_their_lines():
    data = make_data(agents=3)
    del data.worlds[0].curves["agent A"]  # which failed there
    figure = curves_figure(data)
    [legend] = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == NAMES[:3]
    assert looks_of(legend.get_lines()) == looks_of(figure.axes[1].lines)
    for key, line in zip(legend.get_lines(), figure.axes[1].lines, strict=True):
        assert key._unscaled_dash_pattern == line._unscaled_dash_pattern
    assert looks_of(figure.axes[0].lines) == looks_of(figure.axes[1].lines[1:])
    empty = replace(make_curve(0), episode=np.empty(0))
    data.worlds[1].curves["agent A"] = empty  # now it has a curve nowhere
    [legend] = curves_figure(data).legends
    assert [text.get_text() for text in legend.get_texts()] == NAMES[1:3]


def test_twelve_agents_can_be_told_apart_in_grey_and_more_by_their_markers(lightness):
    lines = curves_figure(make_data(agents=16)).axes[0].lines
    for a, b in combinations(lines[:12], 2):
        darker = abs(lightness(a.get_color()) - lightness(b.get_color()))
        assert a._unscaled_dash_pattern != b._unscaled_dash_pattern or darker > 10
        assert a.get_marker() != b.get_marker()
    looks = [(x.get_color(), str(x._unscaled_dash_pattern), x.get_marker()) for x in lines]
    assert len(set(looks)) == 16


def test_markers_are_few_and_those_of_two_agents_apart():
    data = make_data(agents=2, worlds=("River",))
    data.worlds[0].curves.update({name: make_curve(0, points=2000) for name in NAMES[:2]})
    for log in ("", "x"):
        marked = [line.get_markevery() for line in curves_figure(data, log=log).axes[0].lines]
        assert [len(marks) for marks in marked] == [4, 4]
        assert not set(marked[0]) & set(marked[1])
    shares = np.log(np.array(marked[0]) + 1) / np.log(2000)  # evenly on a logarithmic axis
    np.testing.assert_allclose(shares, [1 / 16, 5 / 16, 9 / 16, 13 / 16], atol=0.03)


def test_one_seed_has_no_band_but_a_note():
    data = make_data(seeds=1)
    data = replace(data, worlds=(data.worlds[0], replace(data.worlds[1], seeds=2)))
    figure = curves_figure(data)
    assert [len(ax.collections) for ax in figure.axes] == [0, 0]
    assert [ax.get_title(loc="right") for ax in figure.axes] == ["one seed", ""]
    assert [len(ax.lines) for ax in figure.axes] == [3, 3]


def test_missing_numbers_leave_gaps():
    data = make_data(agents=1, worlds=("River",))
    regret = data.worlds[0].curves["agent A"].of["regret"].mean
    regret.value[2] = regret.low[4] = np.nan
    ax = curves_figure(data).axes[0]
    np.testing.assert_array_equal(np.isnan(ax.lines[0].get_ydata()), [0, 0, 1, 0, 0, 0])
    edges = np.concatenate([path.vertices for path in ax.collections[0].get_paths()])
    assert np.isfinite(edges).all()
    assert regret.high[4] not in edges[:, 1]


def test_a_logarithmic_axis_has_gaps_where_numbers_are_not_positive():
    data = make_data(agents=1, worlds=("River",))
    curve = data.worlds[0].curves["agent A"]
    curve.episode[:] = [0, 1, 10, 100, 1000, 2000]
    regret = curve.of["regret"].mean
    regret.value[:] = [1.0, 2.0, -1.0, 0.0, 5.0, 6.0]
    regret.low[:] = [1.0, 0.0, -3.0, -1.0, 4.0, 5.0]
    regret.high[:] = [2.0, 3.0, 2.0, 1.0, 7.0, 8.0]
    ax = curves_figure(data, log="xy").axes[0]
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    nan = np.nan
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), [nan, 1, 10, 100, 1000, 2000])
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), [1, 2, nan, nan, 5, 6])
    band = np.concatenate([path.vertices for path in ax.collections[0].get_paths()])
    assert {x for x, _ in band} == {1000, 2000}
    assert ax.get_xlim() == (1, 2000)
    ax = curves_figure(data, log="x").axes[0]
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "linear")
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), [1, 2, -1, 0, 5, 6])
    ax = curves_figure(data, log="y").axes[0]
    assert (ax.get_xscale(), ax.get_yscale()) == ("linear", "log")
    assert ax.get_xlim() == (0, 2000)


def test_a_logarithmic_axis_shows_four_decades_at_most():
    data = make_data(agents=1, worlds=("River",), seeds=1)
    lost = data.worlds[0].curves["agent A"].of["suboptimality"].mean.value
    lost[:] = [1.0, 0.5, 1e-2, 1e-5, 1e-16, 1e-16]
    ax = curves_figure(data, "suboptimality", log="y").axes[0]
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), lost)  # left as they are
    low, high = ax.get_ylim()
    assert 5e-5 < low < 1e-4
    assert 1 < high < 2


def test_suboptimality_has_one_scale_and_regret_one_in_each_world():
    data = make_data(agents=1)
    for curve in data.worlds[0].curves["agent A"].of.values():
        for numbers in (curve.mean.value, curve.mean.low, curve.mean.high):
            numbers *= 10
    left, right = curves_figure(data, "suboptimality").axes
    assert left.get_ylim() == right.get_ylim()
    assert left.get_ylim()[1] > 15
    assert left.yaxis.get_tick_params()["labelleft"]
    assert not right.yaxis.get_tick_params()["labelleft"]
    left, right = curves_figure(data, "regret").axes
    assert left.get_ylim()[1] == pytest.approx(10 * right.get_ylim()[1])
    assert right.yaxis.get_tick_params()["labelleft"]


def test_curves_and_bands_lie_within_the_axes():
    for log in ("", "xy"):
        ax = curves_figure(make_data(agents=4), "suboptimality", log).axes[0]
        for line, band in zip(ax.lines, ax.collections, strict=True):
            x, y = np.concatenate([line.get_xydata(), band.get_paths()[0].vertices]).T
            assert ax.get_xlim()[0] <= x.min() <= x.max() <= ax.get_xlim()[1]
            assert ax.get_ylim()[0] < y.min() <= y.max() < ax.get_ylim()[1]


def test_ticks_are_round_and_short():
    ax = curves_figure(make_data(agents=4, worlds=("River",))).axes[0]
    shown = [text.get_text() for text in ax.get_xticklabels()]
    assert shown == ["0", "500", "1k", "1.5k", "2k"]
    assert 3 <= len(ax.get_yticks()) <= 7
    data = make_data(worlds=("River",))
    data = replace(data, worlds=(replace(data.worlds[0], length=3000),))  # the curves end before
    assert curves_figure(data).axes[0].get_xlim() == (0, 3000)
    ticks = [number(x) for x in (-0.5, 1e-4, 999, 2.5e6, 1e9)]
    assert ticks == ["\N{MINUS SIGN}0.5", "0.0001", "999", "2.5M", "1G"]


def test_curves_that_are_zero_throughout():
    data = make_data(agents=2)
    for curves in data.worlds[0].curves.values():
        for curve in curves.of.values():
            for numbers in (curve.mean.value, curve.mean.low, curve.mean.high):
                numbers[:] = 0.0
    for what in ("regret", "suboptimality"):
        figure = curves_figure(data, what)
        assert "nothing to draw" not in texts_of(figure)
        low, high = figure.axes[0].get_ylim()
        assert low < 0 < high  # the line is seen
        np.testing.assert_array_equal(figure.axes[0].lines[0].get_ydata(), [0] * 6)
        assert texts_of(curves_figure(data, what, log="xy")).count("nothing to draw") == 1


def test_a_world_in_which_all_failed_is_an_empty_panel():
    data = make_data()
    failed = replace(data.worlds[0], curves={}, estimates={}, seeds=0)
    data = replace(data, worlds=(failed, data.worlds[1]))
    figure = curves_figure(data, log="x")
    assert not figure.axes[0].lines
    assert "nothing to draw" in texts_of(figure)
    assert not summary_figure(data).axes[0].lines


def test_invalid_arguments_are_refused():
    with pytest.raises(ValueError, match=r"what must be one of 'regret', .*; got 'value'"):
        curves_figure(make_data(), "value")
    with pytest.raises(ValueError, match="log must be '', 'x', 'y' or 'xy'; got True"):
        curves_figure(make_data(), log=True)
    with pytest.raises(ValueError, match="over must be 'episodes' or 'steps'; got 'time'"):
        curves_figure(make_data(), over="time")
    for draw in (curves_figure, summary_figure):
        with pytest.raises(ValueError, match="must have at least one world"):
            draw(make_data(worlds=()))


def test_names_are_drawn_without_math_markup():
    worlds = ("$x^2$ & 100%", "Fluß \N{GREEK SMALL LETTER GAMMA}")
    data = make_data(agents=2, worlds=worlds, names=["_hidden $", "agent B"])
    figure = curves_figure(data)
    assert [ax.get_title(loc="left") for ax in figure.axes] == list(worlds)
    assert [t.get_text() for t in figure.legends[0].get_texts()] == ["_hidden $", "agent B"]
    assert not any(t.get_parse_math() for t in figure.findobj(matplotlib.text.Text) if t.get_text())


# Room on the page


def test_figures_are_as_wide_as_a_column_or_a_page():
    for worlds, columns in ((1, 1), (2, 2), (4, 4), (5, 3), (9, 3), (15, 4)):
        data = make_data(agents=1, worlds=[f"ShownWorld {i}" for i in range(worlds)])
        figure, axes, side_by_side = panels(data.worlds, height=1)
        assert figure.get_figwidth() == (3.25 if worlds == 1 else 6.75)
        assert len(axes) == worlds
        assert len({ax.get_position().x0 for ax in axes}) == columns == side_by_side


@pytest.mark.parametrize("draw", [curves_figure, summary_figure])
def test_fifteen_worlds_and_twelve_agents_have_room(draw):
    figure = draw(make_data(agents=12, worlds=[f"ShownWorld {i}" for i in range(15)]))
    assert len(figure.axes) == 15
    assert figure.get_figheight() <= 9  # the text of a page
    check_room(figure)


def test_a_long_legend_does_not_make_panels_smaller():
    few, many = (curves_figure(make_data(agents)).axes[0].get_window_extent() for agents in (2, 12))
    assert many.height == pytest.approx(few.height, rel=0.02)


def test_short_figures_have_room_for_their_labels():
    for worlds in (("River",), ("River", "Sea", "Maze")):
        check_room(curves_figure(make_data(worlds=worlds), "suboptimality", log="x"))


@pytest.mark.parametrize(("draw", "seeds"), [(curves_figure, 1), (summary_figure, 5)])
def test_long_names_are_broken_not_cut(draw, seeds):
    long = "A world whose name says everything there is to say about it, slip 0.1"
    names = [f"{name} with parameters of its own, beta = 0.5" for name in NAMES]
    figure = draw(make_data(4, [long, "River", "Sea", "Maze"], seeds, names))
    name, one_seed = figure.axes[0]._left_title, figure.axes[0]._right_title
    assert name.get_text().replace("\n", " ") == long
    assert bool(one_seed.get_text()) == (seeds == 1)
    assert not name.get_window_extent().overlaps(one_seed.get_window_extent())
    check_room(figure)


def check_room(figure):
    """Nothing overlaps or leaves the page, no panel is tiny, no text too small."""
    page = figure.bbox.padded(2)
    boxes = [ax.get_tightbbox() for ax in figure.axes]
    boxes += [legend.get_window_extent() for legend in figure.legends]
    boxes += [text.get_window_extent() for text in figure.texts if text.get_text()]
    for box in boxes:
        assert page.x0 <= box.x0 <= box.x1 <= page.x1
        assert page.y0 <= box.y0 <= box.y1 <= page.y1
    for a, b in combinations(boxes, 2):
        assert not a.padded(-1).overlaps(b.padded(-1))
    for ax in figure.axes:
        assert min(ax.get_window_extent().size) > 0.5 * figure.dpi
    sizes = {t.get_fontsize() for t in figure.findobj(matplotlib.text.Text) if t.get_text()}
    assert min(sizes) >= 6.5
    assert max(sizes) == 8


# Summary


def test_the_summary_shows_every_average_and_its_interval():
    data = make_data(agents=3)
    data.worlds[1].estimates["agent B"]["average"] = estimate(0.5, 0.3, 0.9)
    figure = summary_figure(data)
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["River", "Sea"]
    for i, ax in enumerate(figure.axes):
        bars, dots = ax.lines[::2], ax.lines[1::2]
        expected = [(0.2, 0.1, 0.4), (0.5, 0.3, 0.9) if i else (0.2, 0.1, 0.4), (0.2, 0.1, 0.4)]
        for y, (value, low, high) in enumerate(expected):
            np.testing.assert_array_equal(dots[y].get_xydata(), [[value, y]])
            np.testing.assert_array_equal(bars[y].get_xydata(), [[low, y], [high, y]])
        assert ax.get_ylim() == (2.5, -0.5)  # the first agent on top
        assert ax.get_xscale() == "linear"
        assert looks_of(dots) == looks_of(curves_figure(data).axes[i].lines)
    assert [t.get_text() for t in figure.axes[0].get_yticklabels()] == NAMES[:3]
    assert not any(t.get_text() for t in figure.axes[1].get_yticklabels())
    assert texts_of(figure).count("average relative suboptimality") == 1


def test_the_summary_is_logarithmic_over_two_decades_of_positive_numbers():
    data = make_data(agents=2)
    data.worlds[0].estimates["agent A"]["average"] = estimate(0.5, 0.2, 1.0)
    for smallest in (0.011, 0.009, 0.0, -0.001, np.nan):
        scale = "log" if smallest == 0.009 else "linear"
        data.worlds[1].estimates["agent B"]["average"] = estimate(0.1, smallest, 0.2)
        figure = summary_figure(data)
        assert {ax.get_xscale() for ax in figure.axes} == {scale}
        low, high = figure.axes[1].get_xlim()
        assert low < (0 if scale == "linear" else smallest)
        assert high > 1


def test_a_summary_without_numbers_or_with_one_seed():
    data = make_data(agents=3, seeds=1)
    data.worlds[0].estimates["agent B"]["average"] = estimate(np.nan)
    del data.worlds[0].estimates["agent C"]
    figure = summary_figure(data)
    bars, dots = figure.axes[0].lines[::2], figure.axes[0].lines[1::2]
    assert np.isnan([bar.get_xdata() for bar in bars]).all()
    assert [dot.get_xdata()[0] for dot in dots] == [0.2]
    assert [ax.get_title(loc="right") for ax in figure.axes] == ["one seed"] * 2
    data = make_data(agents=3)
    del data.worlds[0].estimates["agent A"]  # which has no number there
    places = [line.get_ydata()[0] for line in summary_figure(data).axes[0].lines[1::2]]
    assert places == [1, 2]
