"""The page: what is written into it. What a browser makes of it is in the file beside this."""

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


def test_the_page_asks_for_nothing_from_anywhere(sample):
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


def test_the_same_data_gives_the_same_bytes_and_is_left_as_it_was(sample):
    data = sample()
    before = copy.deepcopy(data)
    assert render(data) == render(sample())
    assert data == before


def test_plotly_takes_two_megabytes(sample):
    assert 1_500_000 < len(render(sample()).encode()) < 2_300_000


def test_all_parts_are_filled_and_texts_are_shown(sample):
    data = sample()
    page = render(data)
    read = Reader(page)
    assert "{{" not in page
    for text in ("A sample study", "Made-up numbers.", "2026-11-16 00:10 UTC", "optimist 0.1.0"):
        assert text in read.text
    assert "3 worlds · 3 agents · 4 seeds · 95% intervals" in read.text
    assert 'title = "A sample study"' in read.text
    assert "f7df7dc" in read.text


@pytest.mark.parametrize("where", ["title", "description", "version", "created", "specification"])
def test_texts_are_escaped(sample, where):
    data = sample()
    data[where] = HOSTILE
    read = Reader(render(data))
    assert HOSTILE in read.text
    assert [tag for tag, _ in read.elements].count("script") == 3


def test_names_are_escaped_wherever_they_are_used(sample):
    data = sample(worlds=(HOSTILE, HOSTILE + "2"), agents=(HOSTILE, "</title>"))
    data["environment"] = {HOSTILE: HOSTILE}
    data["failures"] = [{"world": HOSTILE, "agent": HOSTILE, "seed": 0, "message": HOSTILE}]
    page = render(data)
    tags = [tag for tag, _ in Reader(page).elements]
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


def test_a_number_that_is_not_one_is_refused(sample):
    data = sample()
    data["worlds"][1]["curves"]["Bold"]["regret"]["mean"][3] = float("nan")
    with pytest.raises(ValueError, match=r"mean in regret in Bold in curves of Sea is nan"):
        render(data)


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


@pytest.mark.parametrize(
    ("intervals", "bold"),
    [
        ([(0.1, 0.05, 0.2), (0.3, 0.25, 0.4), (0.5, 0.4, 0.6)], ["Bold"]),
        ([(0.1, 0.05, 0.2), (0.3, 0.15, 0.4), (0.5, 0.4, 0.6)], ["Bold", "Careful"]),
        ([(0.3, 0.15, 0.4), (0.1, 0.05, 0.2), (0.5, 0.4, 0.6)], ["Bold", "Careful"]),
        ([(0.1, 0.05, 0.7), (0.3, 0.15, 0.4), (0.5, 0.4, 0.6)], []),
        ([(0.2, None, None), (0.1, None, None), (0.5, None, None)], ["Careful"]),
        ([(None, None, None), (0.1, 0.1, 0.1), (0.5, 0.4, 0.6)], ["Careful"]),
    ],
    ids=["apart", "overlap", "overlap, in another order", "all overlap", "one seed", "missing"],
)
def test_bold_claims_no_more_than_the_intervals_do(sample, intervals, bold):
    data = sample(worlds=("Room",))
    for row, (value, low, high) in zip(data["worlds"][0]["rows"], intervals, strict=True):
        row["average"] = {"value": value, "low": low, "high": high, "note": ""}
    page = render(data)
    agents = [row["agent"] for row in data["worlds"][0]["rows"]]
    assert [a for a in agents if "<b>" in cells(page, 0, a)[0]] == bold


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


def test_failures_and_unfinished_runs_are_said_first(sample):
    data = sample()
    assert "id='notice'" not in render(data)
    data["failures"] = [{"world": "Sea", "agent": "Bold", "seed": 3, "message": "it sank"}]
    data["unfinished"] = 2
    text = Reader(render(data)).text
    assert "1 run failed and 2 runs are not finished." in text
    assert "Bold in Sea, seed 3: it sank" in text
    assert text.index("it sank") < text.index("Average suboptimality")


def test_one_seed_is_said_to_be_one(sample):
    text = Reader(render(sample(seeds=1))).text
    assert "There is one seed, hence no interval" in text
    assert "1 seed · no intervals" in text
    assert "bootstrap" not in text


def test_few_seeds_are_said_to_be_few(sample):
    assert "With as few as 4 seeds they are narrower" in Reader(render(sample())).text
    assert "With as few as" not in Reader(render(sample(seeds=20))).text


def test_a_study_without_results_can_be_reported(sample):
    data = sample(worlds=())
    data["unfinished"] = 12
    assert "12 runs are not finished" in Reader(render(data)).text


def test_worlds_in_which_nothing_or_one_agent_has_finished_are_said_to_be_such(sample):
    data = sample()
    data["worlds"][0] |= {"seeds": 0, "rows": [], "curves": {}, "improvement": [], "picture": None}
    one = data["worlds"][1]
    one |= {"rows": one["rows"][:1], "improvement": [[None]]}
    page = render(data)
    read = Reader(page)
    assert "Nothing has finished in this world." in read.text
    assert read.text.count("There are no two agents to compare in this world.") == 2
    assert "3 agents · 4 seeds" in read.text
    first, second, _ = re.findall(r"<a href='#results'.*?</tr>", page)
    assert first.count("<td>\N{EN DASH}</td>") == 3
    assert second.count("<td>\N{EN DASH}</td>") == 2


def test_looks_differ_between_agents(sample):
    agents = embedded(render(sample(agents=tuple(f"A{i}" for i in range(12)))))["agents"]
    assert len({(agent["colour"], agent["dash"]) for agent in agents}) == 12
    assert len({agent["dash"] for agent in agents[:6]}) == 6


def test_a_page_is_written_whole_or_not_at_all(sample, tmp_path):
    path = tmp_path / "report.html"
    write_page(sample(), path)
    first = path.read_text(encoding="utf-8")
    assert first == render(sample())
    broken = sample()
    broken["worlds"][0]["optimal"] = float("inf")
    with pytest.raises(ValueError, match="optimal of Room is inf"):
        write_page(broken, path)
    assert path.read_text(encoding="utf-8") == first
    assert list(tmp_path.iterdir()) == [path]
