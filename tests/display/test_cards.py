"""What a notebook shows of an object: one line of text, and a card of HTML."""

import re
from dataclasses import dataclass
from xml.etree import ElementTree

import gymnasium
import numpy as np
import pytest

import optimist as opt
from optimist.display import svg
from optimist.display.boards import Map
from optimist.display.card import card, table
from optimist.display.text import one_line

EVIL = "<script>alert('x & y')</script>"


@pytest.fixture(scope="module")
def shown():
    """One of each kind of object."""
    world = opt.envs.GridWorld("S..\n.#.\n..G", gamma=0.8)
    best, rng = world.mdp.optimal().policy, np.random.default_rng(0)
    phi = opt.features.StateOnly(opt.features.OneHotState(world.mdp.n_states), n_actions=4)
    expert = opt.imitation.FeatureDataset.from_rollouts(world, best, phi, 50, rng)
    paths = opt.imitation.TrajectoryDataset.from_rollouts(world, best, 5, rng)
    agent, il = opt.Optimist(world, seed=0), opt.FraIL(world, expert, phi, seed=0)
    cloner = opt.BehaviouralCloning(world, paths)
    peer = opt.Rmax(world, seed=0)
    fresh = opt.Optimist(world)
    lake = opt.Optimist(gymnasium.make("FrozenLake-v1"), gamma=0.9)
    study = opt.Study({EVIL: world}, {"R & D": opt.Rmax}, 20, seeds=2, title=EVIL)
    results = opt.run(study, jobs=1)
    history = agent.learn(50)
    return [
        *(world, opt.envs.RandomTabular(5), world.mdp, world.mdp.optimal()),
        *(agent, fresh, history, agent.policy, agent.output, agent.diagnostics),
        *(il, il.learn(20), cloner, cloner.learn(), cloner.policy),
        *(peer, peer.learn(20), peer.policy, lake, lake.learn(5), lake.policy, lake.transitions),
        *(expert, paths, results, study, results.data),
        opt.verification.verify(opt.envs.RiverSwim(2, gamma=0.3), K=20),
        opt.theory.explain(opt.envs.RiverSwim(3, gamma=0.5), K=100),
    ]


def test_every_object_is_one_line(shown):
    for thing in shown:
        text = repr(thing)
        assert "\n" not in text
        assert "array(" not in text
        assert "object at 0x" not in text
        assert len(text) < 1200


def test_cards_are_whole_and_hold_nothing_that_runs_or_spreads(shown):
    cards = [thing._repr_html_() for thing in shown if hasattr(thing, "_repr_html_")]
    assert len(cards) == len(shown) - 5  # what is no more than fields has none
    for html in cards:
        parts = [element.tag for element in ElementTree.fromstring(html).iter()]
        assert not {"script", "style", "link", "img", "iframe"} & set(parts)
        assert not re.search(r"\bon[a-z]+=|\bid=|\bclass=", html)
        assert "alert('" not in html
        assert len(html) < 10_000


def test_cards_name_no_colour_that_is_lost_on_light_or_on_dark(shown):
    for thing in (thing for thing in shown if hasattr(thing, "_repr_html_")):
        colours = set(re.findall(r"#[0-9a-f]{3,8}\b", thing._repr_html_()))
        assert colours <= {svg.INK, "#8886"}  # the latter is grey, and translucent


def test_names_are_text_in_cards_and_tables():
    for html in (card(EVIL, {EVIL: EVIL}, note=EVIL), table([{EVIL: EVIL}])):
        assert "<script" not in html
        said = "".join(ElementTree.fromstring(html).itertext())
        assert said.count(EVIL) == html.count("&lt;script") == (4 if "flex" in html else 2)
    assert table([]) == ""


def test_the_numbers_of_a_history(shown):
    history = next(thing for thing in shown if isinstance(thing, opt.agents.History))
    html = history._repr_html_()
    assert f"{100 * history.suboptimality():.1f}%" in html
    assert "<svg" in html


def test_a_history_that_is_long_to_judge_is_not_judged(shown, monkeypatch):
    history = next(thing for thing in shown if isinstance(thing, opt.agents.History))
    monkeypatch.setattr("optimist.agents.plotted.LIGHT", history.policies.size - 1)
    assert "<svg" not in history._repr_html_()


def test_fields_that_are_long_are_cut():
    @dataclass
    class Long:
        V: np.ndarray
        names: tuple
        text: str

        __repr__ = one_line

    text = repr(Long(np.zeros((1000, 3)), tuple(range(10**6)), "x" * 10**6))
    assert text.startswith("Long(V=float64[1000, 3], names=(0, 1, 2, ...), text='xxx")
    assert len(text) < 150


# Pictures


def points(picture):
    line = ElementTree.fromstring(picture).find("polyline").get("points")
    return np.array([pair.split(",") for pair in line.split()], dtype=float)


def test_a_sparkline_goes_where_the_numbers_go():
    x, y = points(svg.sparkline([4.0, 2.0, 0.0], "falls")).T
    assert (np.diff(x) > 0).all()
    assert (np.diff(y) == np.diff(y)[0]).all()
    assert y[0] < y[-1] <= svg.HEIGHT  # down is larger
    many = points(svg.sparkline(np.repeat([1.0, 0.0], 5000), "a step"))
    assert len(many) == svg.POINTS
    assert set(many[:, 1]) == {1.0, svg.HEIGHT - 1.0}


def test_a_sparkline_of_nothing_or_of_what_is_not_finite():
    assert svg.sparkline([], "none") == svg.sparkline([1.0], "one") == ""
    assert svg.sparkline([np.nan, 1.0], "one") == ""
    assert len(points(svg.sparkline([1.0, np.nan, 2.0, np.inf, 0.0], "three"))) == 3
    assert points(svg.sparkline([0.0, 0.0], "zeros")).shape == (2, 2)


def test_a_board_is_darkest_where_the_value_is_largest():
    world = Map(("#s.", "..$"), np.array([[0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]))
    picture = svg.board(world, np.array([0.0, 1.0, 1.0, 2.0, 4.0]), "values")
    walls, *states = ElementTree.fromstring(picture).findall("path")
    assert walls.get("d") == "M0 0h1v1h-1z"
    opacity = {one.get("d"): float(one.get("fill-opacity")) for one in states}
    assert max(opacity, key=opacity.get) == "M2 1h1v1h-1z"
    assert min(opacity, key=opacity.get) == "M1 0h1v1h-1z"
    assert sum(d.count("M") for d in opacity) == 5
    assert [one.text for one in ElementTree.fromstring(picture).findall("text")] == ["S", "G"]


def test_bars_are_as_high_as_the_numbers():
    path = ElementTree.fromstring(svg.bars([1.0, 0.0, 2.0], "bars")).find("path").get("d")
    heights = [float(b) - float(t) for b, t in re.findall(r"M\d+ ([\d.]+)V([\d.]+)", path)]
    assert heights == pytest.approx([19.0, 0.0, 38.0])
