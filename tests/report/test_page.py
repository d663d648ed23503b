"""The text of the page; the file beside this opens it in a browser."""

import json
import math
import re
from dataclasses import fields, is_dataclass, replace
from html.parser import HTMLParser

import numpy as np
import pytest

from optimist.report import data as report
from optimist.report.page import render, write_page

HOSTILE = (
    "</script><script>window.harmed = 1</script><b>\"x\" & 'y'</b>{{ data }}{% raw %}{# no #}%{y}"
)


class Reader(HTMLParser):
    """The elements of a page, with their attributes, and all text outside scripts and styles."""

    def __init__(self, page):
        super().__init__()
        self.elements, self.text, self._inside = [], "", ""
        self.feed(page)
        self.text = " ".join(self.text.split())

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self._inside = tag

    def handle_data(self, data):
        if self._inside not in ("script", "style"):
            self.text += data

    def handle_endtag(self, tag):
        self._inside = ""


def tidy(html):
    """HTML without white space beside tags."""
    return re.sub(r"\s*(<[^>]*>)\s*", r"\1", html)


def embedded(page):
    return json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])


def article(page, world, section="results"):
    inner = re.search(rf'<section id="{section}".*?</section>', page, re.DOTALL)[0]
    return tidy(re.search(rf'<article data-world="{world}">.*?</article>', inner, re.DOTALL)[0])


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
    before = report.plain(data)
    page = render(data)
    assert page == render(sample())
    assert report.plain(data) == before
    assert 1_500_000 < len(page.encode()) < 2_300_000  # of which plotly takes two megabytes


def test_texts_are_shown(sample):
    text = Reader(render(sample())).text
    for said in ("A sample study", "Made-up numbers.", "2026-11-16 00:10 UTC", "optimist 0.1.0"):
        assert said in text
    assert "3 worlds · 3 agents · 4 seeds · 95% intervals" in text
    assert "9 states, 4 actions · 1,000 episodes, 4 seeds" in text
    assert "optimal value 10.00; uniform play is worth 1.500, 85.0% short of it" in text
    assert 'title = "A sample study"' in text
    assert "f7df7dc" in text


def test_parameters_and_origins_are_folded_away(sample, samples):
    page = render(sample())
    folded = re.findall(r'<details class="about".*?</details>', page, re.DOTALL)
    assert len(folded) == 1 + 3  # of the agents, and of each world
    agents, room = tidy(folded[0]), tidy(folded[1])
    assert agents.count("<dt>beta</dt><dd>0.5</dd>") == 3
    assert "<code>mine:Bold</code>" in agents
    assert "<dt>slip</dt><dd>0.1</dd>" in room
    assert "<code>mine:Room, source 1a2b3c4d</code>" in room
    assert not any("open" in a for t, a in Reader(page).elements if a.get("class") == "about")
    bare = samples.changed(sample(), "worlds.1.about", report.About("Plain", {}))
    assert render(bare).count('<details class="about"') == 3


def hostile(value, where=""):
    """The data with every text replaced by a hostile one that says where it stood, and these."""
    texts = []

    def replaced(value, where):
        if isinstance(value, str):
            texts.append(f"{where} {HOSTILE}")
            return texts[-1]
        if isinstance(value, tuple):
            return tuple(replaced(item, f"{where}.{i}") for i, item in enumerate(value))
        if isinstance(value, dict):
            return {replaced(k, where): replaced(v, f"{where}.value") for k, v in value.items()}
        if is_dataclass(value):
            changes = {f.name: getattr(value, f.name) for f in fields(value)}
            return replace(value, **{k: replaced(v, k) for k, v in changes.items()})
        return value

    return replaced(value, where), texts


def test_every_text_is_escaped_wherever_it_is_used(sample, samples):
    names = f"1 {HOSTILE}", f"2 {HOSTILE}"
    data = sample(worlds=names, agents=(f"A {HOSTILE}", "</title>"))
    peers = samples.comparison(names, (f"A {HOSTILE}", "</title>", f"'{HOSTILE}"))
    for i in (0, 1):
        peers = samples.changed(peers, ["worlds", i, "families", "</title>", "setting"], HOSTILE)
        peers = samples.changed(
            peers, ["worlds", i, "ratio"], samples.about(1.0, note=f"n{i} {HOSTILE}")
        )
    peers = replace(peers, left_out=(f"left {HOSTILE}",), sentence=f"found {HOSTILE}")
    run = report.MissingRun(*names, 0, f"message {HOSTILE}")
    texts = {key: f"{key} {HOSTILE}" for key in ("title", "description", "version", "created")}
    abouts, said = hostile(tuple(agent.about for agent in data.agents))
    worlds, more = hostile(tuple(world.about for world in data.worlds))
    note = samples.about(0.3, note=f"note {HOSTILE}")
    data = replace(
        data,
        **texts,
        specification=f"specification {HOSTILE}",
        environment={f"key {HOSTILE}": f"text {HOSTILE}"},
        failures=(run,),
        damaged=(run,),
        comparison=peers,
        agents=tuple(replace(a, about=b) for a, b in zip(data.agents, abouts, strict=True)),
        worlds=tuple(replace(w, about=b) for w, b in zip(data.worlds, worlds, strict=True)),
    )
    data = samples.changed(data, ["worlds", 0, "estimates", "</title>", "final"], note)
    page = render(data)
    read = Reader(page)
    expected = [*texts.values(), *said, *more, peers.left_out[0], note.note, f"n0 {HOSTILE}"]
    expected += [f"message {HOSTILE}", f"key {HOSTILE}", f"text {HOSTILE}", data.specification]
    for text in (*expected, peers.sentence, *names, f"A {HOSTILE}"):
        assert text in read.text
    tags = [tag for tag, _ in read.elements]
    assert tags.count("script") == 3
    assert tags.count("title") == 1 + 2 * 3  # of the page, and of the marks of three families
    assert not [a for tag, a in read.elements if tag == "b" and a]
    labels = {a["data-label"] for _, a in read.elements if "data-label" in a}
    assert {f"A {HOSTILE}", "</title>"} <= labels
    assert embedded(page)["agents"][0]["name"] == f"A {HOSTILE}"
    assert embedded(page)["worlds"][1]["name"] == names[1]


def test_the_numbers_in_the_page_are_those_of_the_data_to_five_digits(sample):
    data = sample()
    given, kept = data.worlds[0], embedded(render(data))["worlds"][0]
    for agent, curves in given.curves.items():
        shown = kept["curves"][agent]
        np.testing.assert_allclose(shown["steps"], curves.steps, rtol=1e-4)
        for quantity, curve in curves.of.items():
            np.testing.assert_allclose(shown["of"][quantity]["seeds"], curve.seeds, rtol=1e-4)
    run, same = given.picture.runs[1], kept["picture"]["runs"][1]
    assert same["episodes"] == run.episodes.tolist()
    for key in ("value", "bonus", "ascension", "occupancy", "policy"):
        np.testing.assert_allclose(same[key], getattr(run, key), rtol=1e-4)


def cells(page, world, agent):
    """The row of an agent in the table of results of a world."""
    row = re.search(rf'<tr data-agent="{agent}">(.*?)</tr>', article(page, world))[1]
    return re.findall(r"<td data-label.*?</td>", row)


def test_the_table_holds_the_estimates(sample, samples):
    data = samples.changed(
        sample(), "worlds.0.estimates.Careful.average", samples.about(0.0759, 0.0725, 0.0802)
    )
    page = render(data)
    row = cells(page, 0, "Careful")
    assert "<b>7.6</b><small>[7.2, 8.0]</small>" in row[0]
    slope = data.worlds[0].estimates["Careful"]["slope"].value
    assert f'data-value="{slope}"' in row[4]
    assert "<sup>a</sup>no regret to fit" in article(page, 0)
    assert [re.search('data-label="(.*?)"', cell)[1] for cell in row][:2] == [
        "average, %",
        "IQM, %",
    ]


NAN = math.nan


@pytest.mark.parametrize(
    ("intervals", "bold"),
    [
        ([(0.1, 0.05, 0.2), (0.3, 0.25, 0.4), (0.5, 0.4, 0.6)], ["Bold"]),
        ([(0.1, 0.05, 0.2), (0.3, 0.15, 0.4), (0.5, 0.4, 0.6)], ["Bold", "Careful"]),
        ([(0.3, 0.15, 0.4), (0.1, 0.05, 0.2), (0.5, 0.4, 0.6)], ["Bold", "Careful"]),
        ([(0.1, 0.05, 0.7), (0.3, 0.15, 0.4), (0.5, 0.4, 0.6)], []),
        ([(0.2, NAN, NAN), (0.1, NAN, NAN), (0.5, NAN, NAN)], ["Careful"]),
        ([(NAN, NAN, NAN), (0.1, 0.1, 0.1), (0.5, 0.4, 0.6)], ["Careful"]),
        ([(NAN, NAN, NAN), (0.1, 0.1, 0.1), (NAN, NAN, NAN)], []),
    ],
    ids=["apart", "overlap", "reversed", "all overlap", "one seed", "missing", "alone"],
)
def test_the_best_and_those_whose_intervals_overlap_with_its_are_bold(
    sample, samples, intervals, bold
):
    data, agents = sample(worlds=("Room",)), ("Bold", "Careful", "Idle")
    for agent, ends in zip(agents, intervals, strict=True):
        data = samples.changed(data, f"worlds.0.estimates.{agent}.average", samples.about(*ends))
    page = render(data)
    assert [a for a in agents if "<b>" in cells(page, 0, a)[0]] == bold


def test_probabilities_of_improvement_are_bold_where_one_half_is_left_out(sample, samples):
    data = sample(worlds=("Room",), agents=("A", "B"))
    chances = {"A": {"B": samples.about(0.9, 0.6, 1.0)}, "B": {"A": samples.about(0.1, 0.0, 0.5)}}
    page = render(samples.changed(data, "worlds.0.improvement", chances))
    better, worse = re.findall(
        r'style="background:rgba\((.*?)\)".*?>(.*?)</td>', article(page, 0, "improvement")
    )
    assert better == ("0,114,178,0.400", "<b>0.90</b><small>[0.60, 1.00]</small>")
    assert worse == ("213,94,0,0.400", "0.10<small>[0.00, 0.50]</small>")


def test_failures_and_unfinished_runs_come_first(sample):
    assert 'id="notice"' not in render(sample())
    empty = replace(sample(worlds=()), unfinished=12)
    assert "12 runs are not finished" in Reader(render(empty)).text
    runs = (report.MissingRun("Sea", "Bold", 3, "it sank"),)
    text = Reader(render(replace(sample(), failures=runs, damaged=runs, unfinished=2))).text
    assert "1 run failed and 1 run is damaged and 2 runs are not finished." in text
    assert text.count("Bold in Sea, seed 3: it sank") == 2
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
    nothing = {"seeds": 0, "estimates": {}, "curves": {}, "improvement": {}, "picture": None}
    one = {"Bold": data.worlds[1].estimates["Bold"]}
    data = replace(data, worlds=(
        replace(data.worlds[0], **nothing),
        replace(data.worlds[1], estimates=one, improvement={"Bold": {}}),
        data.worlds[2],
    ))  # fmt: skip
    page = render(data)
    read = Reader(page)
    assert "No run has finished in this world." in read.text
    assert read.text.count("Fewer than two agents have finished in this world.") == 2
    assert "3 agents · 4 seeds" in read.text
    first, second, _ = re.findall(r'<a href="#results".*?</tr>', tidy(page))
    assert first.count(">\N{EN DASH}</td>") == 3
    assert second.count(">\N{EN DASH}</td>") == 2


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
    broken.worlds[1].curves["Bold"].of["regret"].mean.value[3] = math.inf
    with pytest.raises(
        ValueError,
        match=r"value in mean in regret in of in Bold in curves of Sea must be .*; got inf",
    ):
        write_page(broken, path)
    assert path.read_text(encoding="utf-8") == first
    assert list(tmp_path.iterdir()) == [path]
