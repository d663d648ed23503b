"""The text of the page; the file beside this opens it in a browser."""

import copy
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from optimist.report.page import render, write_page

HOSTILE = "</script><script>window.harmed = 1</script><b>\"x\" & 'y'</b>{{data}}%{y}"


class Reader(HTMLParser):
    """The elements of a page, with their attributes, and all text outside scripts and styles."""

    def __init__(self, page):
        super().__init__()
        self.elements, self.text, self._inside = [], "", ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self._inside = tag

    def handle_data(self, data):
        if self._inside not in ("script", "style"):
            self.text += data

    def handle_endtag(self, tag):
        self._inside = ""


def embedded(page):
    return json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])


def test_the_page_requests_nothing(sample):
    elements = Reader(render(sample())).elements
    for tag, attributes in elements:
        for name in ("src", "href", "action", "data", "poster", "srcset"):
            assert attributes.get(name, "#").startswith("#"), (tag, attributes)
        assert tag not in ("link", "iframe", "object", "embed", "base")
        assert not [name for name in attributes if name.startswith("on")]
    policy = next(a["content"] for _, a in elements if a.get("http-equiv"))
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe-eval" not in policy
    assert "http" not in policy


def test_rendering_is_deterministic_and_does_not_change_the_data(sample):
    data = sample()
    before = copy.deepcopy(data)
    page = render(data)
    assert page == render(sample())
    assert data == before
    assert 1_500_000 < len(page.encode()) < 2_300_000  # of which plotly takes two megabytes


def test_all_parts_are_filled_and_texts_are_shown(sample):
    page = render(sample())
    read = Reader(page)
    assert "{{" not in page
    for text in ("A sample study", "Made-up numbers.", "2026-11-16 00:10 UTC", "optimist 0.1.0"):
        assert text in read.text
    assert "3 worlds · 3 agents · 4 seeds · 95% intervals" in read.text
    assert "optimal value 10.00; uniform play is worth 1.500, 85.0% short of it" in read.text
    assert 'title = "A sample study"' in read.text
    assert "f7df7dc" in read.text


def test_texts_and_names_are_escaped_wherever_they_are_used(sample):
    data = sample(worlds=(HOSTILE, HOSTILE + "2"), agents=(HOSTILE, "</title>"))
    texts = ("title", "description", "version", "created", "specification")
    data |= {where: f"{where} {HOSTILE}" for where in texts}
    data["environment"] = {HOSTILE: HOSTILE}
    data["failures"] = [{"world": HOSTILE, "agent": HOSTILE, "seed": 0, "message": HOSTILE}]
    page = render(data)
    read = Reader(page)
    for where in texts:
        assert data[where] in read.text
    tags = [tag for tag, _ in read.elements]
    assert tags.count("script") == 3
    assert tags.count("title") == 1
    assert embedded(page)["agents"][0]["name"] == HOSTILE
    assert embedded(page)["worlds"][1]["name"] == HOSTILE + "2"


def test_the_numbers_in_the_page_are_those_of_the_data_to_five_digits(sample):
    data = sample()
    given, kept = data["worlds"][0], embedded(render(data))["worlds"][0]
    for agent, curve in given["curves"].items():
        for quantity in ("regret", "suboptimality"):
            seeds = curve["seeds"][quantity]
            np.testing.assert_allclose(kept["curves"][agent]["seeds"][quantity], seeds, rtol=1e-4)
    run, same = given["picture"]["runs"][1], kept["picture"]["runs"][1]
    assert same["episodes"] == run["episodes"]
    for key in ("value", "bonus", "ascension", "occupancy", "policy"):
        np.testing.assert_allclose(same[key], run[key], rtol=1e-4)


def cells(page, world, agent):
    """The row of an agent in the table of results of a world."""
    articles = re.findall(r"<article data-world='(\d)'>(.*?)</article>", page, re.DOTALL)
    table = next(inner for i, inner in articles if int(i) == world and "class='results'" in inner)
    row = re.search(rf"<tr data-agent='{agent}'>(.*?)</tr>", table, re.DOTALL)[1]
    return [re.sub("<small>.*?</small>", "", c) for c in re.findall(r"<td[^s].*?</td>", row)]


def test_the_table_holds_the_estimates(sample):
    data = sample()
    row = data["worlds"][0]["rows"][1]
    row["average"] = {"value": 0.0759, "low": 0.0725, "high": 0.0802, "note": ""}
    page = render(data)
    assert "<b>7.6</b><small>[7.2, 8.0]</small>" in page
    assert f"data-value='{row['slope']['value']!r}'" in page
    assert "<sup>a</sup> no regret to fit" in page


def test_the_best_and_those_whose_intervals_overlap_with_its_are_bold(sample):
    data = sample(worlds=("Room",))
    rows = data["worlds"][0]["rows"]
    for case, intervals, bold in (
        ("apart", [(0.1, 0.05, 0.2), (0.3, 0.25, 0.4), (0.5, 0.4, 0.6)], ["Bold"]),
        ("overlap", [(0.1, 0.05, 0.2), (0.3, 0.15, 0.4), (0.5, 0.4, 0.6)], ["Bold", "Careful"]),
        ("reversed", [(0.3, 0.15, 0.4), (0.1, 0.05, 0.2), (0.5, 0.4, 0.6)], ["Bold", "Careful"]),
        ("all overlap", [(0.1, 0.05, 0.7), (0.3, 0.15, 0.4), (0.5, 0.4, 0.6)], []),
        ("one seed", [(0.2, None, None), (0.1, None, None), (0.5, None, None)], ["Careful"]),
        ("missing", [(None, None, None), (0.1, 0.1, 0.1), (0.5, 0.4, 0.6)], ["Careful"]),
    ):
        for row, (value, low, high) in zip(rows, intervals, strict=True):
            row["average"] = {"value": value, "low": low, "high": high, "note": ""}
        page = render(data)
        agents = [row["agent"] for row in rows]
        assert [a for a in agents if "<b>" in cells(page, 0, a)[0]] == bold, case


def test_probabilities_of_improvement_are_bold_where_one_half_is_left_out(sample):
    data = sample(worlds=("Room",), agents=("A", "B"))
    data["worlds"][0]["improvement"] = [
        [None, {"value": 0.9, "low": 0.6, "high": 1.0, "note": ""}],
        [{"value": 0.1, "low": 0.0, "high": 0.5, "note": ""}, None],
    ]
    page = render(data)
    better, worse = re.findall(r"<td style='background:rgba\(([^)]*)\)'.*?>(.*?)</td>", page)
    assert better == ("0,114,178,0.400", "<b>0.90</b><small>[0.60, 1.00]</small>")
    assert worse == ("213,94,0,0.400", "0.10<small>[0.00, 0.50]</small>")


def test_failures_and_unfinished_runs_come_first(sample):
    data = sample()
    assert "id='notice'" not in render(data)
    empty = sample(worlds=()) | {"unfinished": 12}
    assert "12 runs are not finished" in Reader(render(empty)).text
    data["failures"] = [{"world": "Sea", "agent": "Bold", "seed": 3, "message": "it sank"}]
    data["unfinished"] = 2
    text = Reader(render(data)).text
    assert "1 run failed and 2 runs are not finished." in text
    assert "Bold in Sea, seed 3: it sank" in text
    assert text.index("it sank") < text.index("Average suboptimality")


def test_the_page_says_how_many_seeds_there_are(sample):
    one, few, many = (Reader(render(sample(seeds=n))).text for n in (1, 4, 20))
    assert "There is one seed, hence no interval" in one
    assert "1 seed · no intervals" in one
    assert "bootstrap" not in one
    assert "With as few as 4 seeds they are too narrow" in few
    assert "With as few as" not in many


def test_worlds_in_which_nothing_or_one_agent_has_finished(sample):
    data = sample()
    data["worlds"][0] |= {"seeds": 0, "rows": [], "curves": {}, "improvement": [], "picture": None}
    one = data["worlds"][1]
    one |= {"rows": one["rows"][:1], "improvement": [[None]]}
    page = render(data)
    read = Reader(page)
    assert "No run has finished in this world." in read.text
    assert read.text.count("Fewer than two agents have finished in this world.") == 2
    assert "3 agents · 4 seeds" in read.text
    first, second, _ = re.findall(r"<a href='#results'.*?</tr>", page)
    assert first.count("<td>\N{EN DASH}</td>") == 3
    assert second.count("<td>\N{EN DASH}</td>") == 2


def test_looks_differ_between_agents(sample):
    agents = embedded(render(sample(agents=tuple(f"A{i}" for i in range(12)))))["agents"]
    assert len({(agent["colour"], agent["dash"]) for agent in agents}) == 12
    assert len({agent["dash"] for agent in agents[:6]}) == 6


def test_pages_are_written_atomically(sample, tmp_path):
    path = tmp_path / "report.html"
    write_page(sample(), path)
    first = path.read_text(encoding="utf-8")
    assert first == render(sample())
    broken = sample()
    broken["worlds"][1]["curves"]["Bold"]["regret"]["mean"][3] = float("nan")
    with pytest.raises(
        ValueError, match=r"mean in regret in Bold in curves of Sea must be .*; got nan"
    ):
        write_page(broken, path)
    broken["worlds"][0]["optimal"] = float("inf")
    with pytest.raises(ValueError, match=r"optimal of Room must be finite, .*; got inf"):
        write_page(broken, path)
    assert path.read_text(encoding="utf-8") == first
    assert list(tmp_path.iterdir()) == [path]
