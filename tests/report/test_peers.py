"""A subject against the best of its peers: the section of the page, and the figure."""

import itertools
import math
import re
from dataclasses import replace

import numpy as np
import pytest

from optimist.report.figures import save_figures
from optimist.report.figures_peers import peers_figure
from optimist.report.page import render
from optimist.report.ratios import beyond, limits

MANY = [f"World number {i}, slip 0.25" for i in range(32)]
FAMILIES = [f"family {letter}" for letter in "ABCDEFGHIJ"]


WORLDS = ("Room", "Sea", "River")


@pytest.fixture
def data(sample, samples):
    return replace(sample(), comparison=samples.comparison(WORLDS))


@pytest.fixture
def change(data, samples):
    """The function that replaces parts of the comparison."""

    def changed(**parts):
        found = data
        for path, new in parts.items():
            found = samples.changed(found, ["comparison", *path.split("__")], new)
        return found

    return changed


def section(data):
    found = re.search(r'<section id="peers".*?</section>', render(data), re.DOTALL)[0]
    return re.sub(r"\s+", " ", re.sub(r"\s*(<[^>]*>)\s*", r"\1", found))


def row(html, table, world):
    """The row of a world in a table of the section."""
    inner = re.search(rf'id="{table}".*?</table>', html)[0]
    return next(r for r in re.findall(r"<tr.*?</tr>", inner, re.DOTALL) if f">{world}<" in r)


# The page


def test_the_section_is_the_first_and_says_who_is_tuned(data, sample):
    page = render(data)
    assert (
        page.index(data.comparison.sentence) < page.index('id="peers"') < page.index('id="summary"')
    )
    html = section(data)
    assert "Against the best peer" in html
    assert "<b>Peers are tuned, Bold is not.</b>" in html
    assert "chosen in hindsight" in html
    assert "more than 50% of what uniform play loses" in html
    assert "less than 10% of that" in html
    page = render(sample())
    assert 'id="peers"' not in page
    assert "best peer" not in page


def test_a_row_holds_the_ratio_and_the_peer(change, samples):
    ratio = samples.about(1.1, 0.9, 1.3)
    html = section(
        change(worlds__0__ratio=ratio, worlds__0__verdict="within", worlds__0__peer="Careful")
    )
    found = row(html, "ratios", "Room")
    assert 'data-choose="0"' in found
    assert "1.10<small>[0.90, 1.30] close</small>" in found
    assert "Careful<small>beta 0.3</small>" in found
    assert found.count('class="at"') == 3
    assert "<title>Careful, beta 0.3: " in found


def test_the_lowest_is_bold_and_failures_are_marked(change, samples):
    averages = {f"worlds__0__families__{name}__average": samples.about(x)
                for name, x in (("Bold", 0.05), ("Careful", 0.02), ("Idle", 0.3))}  # fmt: skip
    verdicts = {f"worlds__{i}__verdict": "behind" for i in (0, 1)}
    failed = {f"worlds__{i}__failed": True for i in (0, 1)}
    html = section(change(**averages, **verdicts, **failed, worlds__0__succeeded=("Idle",)))
    assert re.findall(r"<b>(.*?)</b>", row(html, "tuned", "Room")) == ["2.0"]
    assert "behind, fails" in row(html, "ratios", "Room")
    assert "fails" not in row(html, "ratios", "Sea")


def test_worlds_held_out_come_last_under_a_heading(change, sample, samples):
    table = section(change(worlds__0__held_out=True)).partition('id="ratios"')[2]
    names = re.findall(r">(Room|Sea|River|not held out|held out)<", table)
    assert names[:5] == ["not held out", "Sea", "held out", "Room", "River"]
    html = section(replace(sample(), comparison=samples.comparison(WORLDS, held_out=0)))
    assert 'class="heading"' not in html
    assert "No world is marked as held out" in html


def test_missing_ratios_and_single_seeds_have_no_interval(sample, samples):
    peers = samples.comparison(WORLDS, spread=None)
    none = {
        name: replace(family, ratio=math.nan) for name, family in peers.worlds[0].families.items()
    }
    peers = samples.changed(peers, "worlds.0.ratio", samples.about(math.nan, note="no ratio"))
    data = replace(sample(), comparison=samples.changed(peers, "worlds.0.families", none))
    html = section(data)
    assert "no ratio, " in row(html, "ratios", "Room")
    assert 'class="bar"' not in html
    peers_figure(data)


def test_ranks_are_sorted(change, samples):
    html = section(change(ranks__all__Idle=samples.about(0.5, 0.4, 0.6)))
    inner = re.search(r'id="ranks".*?</table>', html)[0]
    assert re.findall(r'class="name">(\w+)<', inner) == ["Idle", "Bold", "Careful"]
    assert inner.count("<small>[") == 9


def test_a_family_that_has_not_finished_is_a_dash_and_has_no_rank_there(data, change):
    families = dict(data.comparison.worlds[2].families)
    del families["Idle"]
    html = section(change(
        worlds__2__families=families, worlds__2__peer="Careful", left_out=("Maze",)
    ))  # fmt: skip
    assert ">\N{EN DASH}</td>" in row(html, "tuned", "River")
    assert "Worlds in which a family has not finished are left out." in html
    assert "Too little has finished to compare: Maze." in html
    alone = section(change(worlds=(), sentence="Not yet."))
    assert "<p>Not yet.</p>" in alone
    assert "<table" not in alone


# The figure


def drawn(figure):
    """The marks of the figure by family: the numbers on its axis, from the top."""
    ax = figure.axes[0]
    marks = [line for line in ax.lines if line.get_linestyle() == "None"]
    return [(m.get_xdata()[0], m.get_ydata()[0]) for m in marks if np.isfinite(m.get_xdata()[0])]


def test_every_family_is_drawn_at_its_ratio_in_every_world(data):
    figure = peers_figure(data)
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert labels == ["not held out", "Room", "Sea", "held out", "River"]
    expected = [
        (family.ratio, labels.index(world.name))
        for world in data.comparison.worlds
        for family in world.families.values()
    ]
    np.testing.assert_allclose(sorted(drawn(figure)), sorted(expected), rtol=1e-12)
    assert figure.axes[0].get_xscale() == "log"
    lines = [line.get_xdata()[0] for line in figure.axes[0].lines if len(line.get_xdata()) == 2]
    assert {1, 1.2} <= set(lines)
    said = " ".join(figure.get_supxlabel().split())
    assert "Bold has one setting in all worlds" in said
    assert "chosen in hindsight" in said


def test_the_axis_shows_the_subject_always_and_peers_up_to_a_limit(change, samples):
    data = change(worlds__0__families__Idle__ratio=5000.0)
    high = limits(data.comparison)[1]
    assert 30 < high < 60
    assert beyond(data.comparison.worlds[0], high) == ["Idle"]
    figure = peers_figure(data)
    assert "+1" in [text.get_text() for text in figure.axes[0].texts]
    assert max(x for x, _ in drawn(figure)) <= high
    html = section(data)
    assert 'title="Idle">+1<' in row(html, "ratios", "Room")
    assert "+n: n peers lie beyond the axis" in html
    assert limits(change(worlds__1__ratio=samples.about(200.0)).comparison)[1] > 200


def test_thirty_two_worlds_and_ten_families_have_room(sample, samples):
    many = samples.comparison(MANY, FAMILIES, held_out=15)
    figure = peers_figure(replace(sample(), comparison=many))
    boxes = [label.get_window_extent() for label in figure.axes[0].get_yticklabels()]
    boxes.sort(key=lambda box: box.y0)
    assert all(a.y1 <= b.y0 + 1 for a, b in itertools.pairwise(boxes))
    assert min(box.x0 for box in boxes) >= 0
    width, height = figure.get_size_inches()
    assert width == 6.75
    assert height < 9
    assert len(figure.legends[0].get_texts()) == 10


def test_the_figure_is_written_if_there_is_a_subject(sample, samples, tmp_path):
    data = sample(worlds=("A", "B", "C"), agents=("Bold",))
    data = replace(data, worlds=tuple(replace(world, picture=None) for world in data.worlds))
    with pytest.raises(ValueError, match="no comparison with peers: give the study a subject"):
        peers_figure(data)
    names = [path.stem for path in save_figures(data, tmp_path, ("png",))]
    data = replace(data, comparison=samples.comparison(["A", "B", "C"]))
    assert [path.stem for path in save_figures(data, tmp_path, ("png",))] == [*names, "peers"]
