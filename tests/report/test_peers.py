"""A subject against the best of its peers: the section of the page, and the figure."""

import copy
import itertools
import re

import numpy as np
import pytest

from optimist.report.figures import save_figures
from optimist.report.figures_peers import peers_figure
from optimist.report.page import render
from optimist.report.ratios import beyond, limits

HOSTILE = "</script><b>\"x\" & 'y'</b>{{data}}"
MANY = [f"World number {i}, slip 0.25" for i in range(32)]
FAMILIES = [f"family {letter}" for letter in "ABCDEFGHIJ"]


@pytest.fixture
def data(sample, comparison):
    data = sample()
    data["peers"] = comparison(["Room", "Sea", "River"])
    return data


def section(data):
    return re.search(r"<section id='peers'.*?</section>", render(data), re.DOTALL)[0]


def row(html, table, world):
    """The row of a world in a table of the section."""
    inner = re.search(rf"id='{table}'.*?</table>", html, re.DOTALL)[0]
    return next(r for r in re.findall(r"<tr.*?</tr>", inner, re.DOTALL) if f">{world}<" in r)


# The page


def test_the_section_is_the_first_and_says_who_is_tuned(data, sample):
    page = render(data)
    assert page.index("id='peers'") < page.index('id="summary"')
    html = section(data)
    assert "Against the best peer" in html
    assert data["peers"]["sentence"] in html
    assert "<b>Peers are tuned, Bold is not.</b>" in html
    assert "chosen in hindsight" in html
    assert "more than 50% of what uniform play loses" in html
    assert "less than 10% of that" in html
    for without in (sample(), sample() | {"peers": None}):
        page = render(without)
        assert "id='peers'" not in page
        assert "best peer" not in page


def test_a_row_holds_the_ratio_and_the_peer(data):
    world = data["peers"]["worlds"][0]
    world["ratio"] = {"value": 1.1, "low": 0.9, "high": 1.3, "note": ""}
    world["verdict"], world["peer"] = "within", "Careful"
    found = row(section(data), "ratios", "Room")
    assert "data-choose='0'" in found
    assert "1.10<small>[0.90, 1.30] close</small>" in found
    assert "Careful<small>beta 0.3</small>" in found
    assert found.count("class='at'") == 3
    assert "<title>Careful, beta 0.3: " in found


def test_the_lowest_is_bold_and_failures_are_marked(data):
    first, second, _ = data["peers"]["worlds"]
    for name, value in (("Bold", 0.05), ("Careful", 0.02), ("Idle", 0.3)):
        first["families"][name]["average"]["value"] = value
    first |= {"verdict": "behind", "failed": True, "succeeded": ["Idle"]}
    second |= {"verdict": "behind", "failed": True, "succeeded": []}
    html = section(data)
    assert re.findall(r"<b>(.*?)</b>", row(html, "tuned", "Room")) == ["2.0"]
    assert "behind, fails" in row(html, "ratios", "Room")
    assert "fails" not in row(html, "ratios", "Sea")


def test_worlds_held_out_come_last_under_a_heading(data, sample, comparison):
    data["peers"]["worlds"][0]["held_out"] = True
    table = section(data).partition("id='ratios'")[2]
    names = re.findall(r">(Room|Sea|River|not held out|held out)<", table)
    assert names[:5] == ["not held out", "Sea", "held out", "Room", "River"]
    html = section(sample() | {"peers": comparison(["Room", "Sea", "River"], held_out=0)})
    assert "class='heading'" not in html
    assert "No world is marked as held out" in html


def test_missing_ratios_and_single_seeds_have_no_interval(sample, comparison):
    data = sample() | {"peers": comparison(["Room", "Sea", "River"], spread=None)}
    world = data["peers"]["worlds"][0]
    world["ratio"] = {"value": None, "low": None, "high": None, "note": "no ratio"}
    for family in world["families"].values():
        family["ratio"] = None
    html = section(data)
    assert "no ratio, " in row(html, "ratios", "Room")
    assert "class='bar'" not in html
    peers_figure(data)


def test_ranks_are_sorted(data):
    data["peers"]["ranks"]["all"]["Idle"]["value"] = 0.5
    inner = re.search(r"id='ranks'.*?</table>", section(data), re.DOTALL)[0]
    assert re.findall(r"class='name'>(\w+)<", inner) == ["Idle", "Bold", "Careful"]
    assert inner.count("<small>[") == 9


def test_a_family_that_has_not_finished_is_a_dash_and_has_no_rank_there(data):
    del data["peers"]["worlds"][2]["families"]["Idle"]
    data["peers"]["worlds"][2]["peer"] = "Careful"
    data["peers"]["left_out"] = ["Maze"]
    html = section(data)
    assert "<td>\N{EN DASH}</td>" in row(html, "tuned", "River")
    assert "Worlds in which a family has not finished are left out." in html
    assert "Too little has finished to compare: Maze." in html


def test_names_are_escaped(sample, comparison):
    data = sample(worlds=(HOSTILE, "Sea"), agents=("Bold", "Careful"))
    data["peers"] = comparison([HOSTILE, "Sea"], (HOSTILE, "Careful", "'" + HOSTILE))
    for world in data["peers"]["worlds"]:
        world["families"]["Careful"]["setting"] = HOSTILE
    data["peers"]["left_out"] = [HOSTILE]
    html = section(data)
    assert "</script>" not in html
    assert '<b>"x"' not in html


# The figure


def drawn(figure):
    """The marks of the figure by family: the numbers on its axis, from the top."""
    ax = figure.axes[0]
    marks = [line for line in ax.lines if line.get_linestyle() == "None"]
    return [(m.get_xdata()[0], m.get_ydata()[0]) for m in marks if np.isfinite(m.get_xdata()[0])]


def test_every_family_is_drawn_at_its_ratio_in_every_world(data):
    before = copy.deepcopy(data)
    render(data)
    figure = peers_figure(data)
    assert data == before
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert labels == ["not held out", "Room", "Sea", "held out", "River"]
    expected = [
        (family["ratio"], labels.index(world["name"]))
        for world in data["peers"]["worlds"]
        for family in world["families"].values()
    ]
    np.testing.assert_allclose(sorted(drawn(figure)), sorted(expected), rtol=1e-12)
    assert figure.axes[0].get_xscale() == "log"
    lines = [line.get_xdata()[0] for line in figure.axes[0].lines if len(line.get_xdata()) == 2]
    assert {1, 1.2} <= set(lines)
    said = " ".join(figure.get_supxlabel().split())
    assert "Bold has one setting in all worlds" in said
    assert "chosen in hindsight" in said


def test_the_axis_shows_the_subject_always_and_peers_up_to_a_limit(data):
    worlds = data["peers"]["worlds"]
    worlds[0]["families"]["Idle"]["ratio"] = 5000.0
    high = limits(data["peers"])[1]
    assert 30 < high < 60
    assert beyond(worlds[0], high) == ["Idle"]
    figure = peers_figure(data)
    assert "+1" in [text.get_text() for text in figure.axes[0].texts]
    assert max(x for x, _ in drawn(figure)) <= high
    html = section(data)
    assert "title='Idle'>+1<" in row(html, "ratios", "Room")
    assert "+n: n peers lie beyond the axis" in html
    worlds[1]["ratio"]["value"] = 200.0
    assert limits(data["peers"])[1] > 200


def test_thirty_two_worlds_and_ten_families_have_room(comparison):
    figure = peers_figure({"level": 0.95, "peers": comparison(MANY, FAMILIES, held_out=15)})
    boxes = [label.get_window_extent() for label in figure.axes[0].get_yticklabels()]
    boxes.sort(key=lambda box: box.y0)
    assert all(a.y1 <= b.y0 + 1 for a, b in itertools.pairwise(boxes))
    assert min(box.x0 for box in boxes) >= 0
    width, height = figure.get_size_inches()
    assert width == 6.75
    assert height < 9
    assert len(figure.legends[0].get_texts()) == 10


def test_the_figure_is_written_if_there_is_a_subject(sample, comparison, tmp_path):
    data = sample(worlds=("A", "B", "C"), agents=("Bold",))
    for world in data["worlds"]:
        world["picture"] = None
    with pytest.raises(ValueError, match="no comparison with peers: give the study a subject"):
        peers_figure(data)
    names = [path.stem for path in save_figures(data, tmp_path, ("png",))]
    data["peers"] = comparison(["A", "B", "C"])
    assert [path.stem for path in save_figures(data, tmp_path, ("png",))] == [*names, "peers"]
