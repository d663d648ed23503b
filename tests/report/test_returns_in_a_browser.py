"""Gymnasium environments on the page in headless Chromium."""

import numpy as np
import pytest

AGENTS = ("Bold", "Careful", "Idle")
CLOSE = {"rtol": 1e-4, "atol": 1e-12}


@pytest.fixture(scope="module")
def opened(open_page, sample, environment, tmp_path_factory):
    """A room and a plane."""
    data = sample(worlds=("Room",), agents=AGENTS)
    data["worlds"].append(environment(AGENTS))
    return open_page(data, tmp_path_factory.mktemp("page") / "report.html")


@pytest.fixture
def page(opened):
    for name, value in {"world": "1", "x": "linear", "y": "linear", "seeds": "band"}.items():
        if not opened.every(f"[data-state={name}][value='{value}']", "e.checked")[0]:
            opened.set(name, value)
    yield opened
    assert opened.complaints() == []


def shown(page, selector):
    return page.every(selector, "e.checkVisibility()")


def test_what_concerns_the_other_kind_of_world_is_hidden(page):
    assert not any(shown(page, "[data-losses]"))
    assert all(shown(page, "[data-returns]"))
    page.set("world", 0)
    assert all(shown(page, "[data-losses]"))
    assert not any(shown(page, "[data-returns]"))


def test_returns_are_drawn_with_their_bands_and_seeds(page):
    page.set("seeds", "each")
    for i, curve in enumerate(page.data["worlds"][1]["curves"].values()):
        line, band = (page.trace("#return", part, i) for part in ("line", "band"))
        given, x = curve["return"], curve["episode"]
        assert line["x"] == x
        np.testing.assert_allclose(line["y"], given["mean"], **CLOSE)
        np.testing.assert_allclose(band["y"], given["high"] + given["low"][::-1], **CLOSE)
        small = page.trace("[data-multiple='1']", "line", i)
        np.testing.assert_allclose(small["y"], given["mean"], **CLOSE)
        assert page.trace("#return", "seeds", i) is not None


def test_the_axis_of_returns_is_linear_and_need_not_hold_zero(page):
    page.set("world", 0)
    page.set("y", "log")
    assert page.layout("regret", "yaxis.type") == "log"
    page.set("world", 1)
    assert page.layout("return", "yaxis.type") == "linear"
    assert page.layout("return", "yaxis.range[1]") < -100
    assert "logarithmic" not in page.text("#left-out")


def test_maps_follow_the_slider_and_their_numbers_are_those_of_the_data(page):
    page.move("run", 1, "change")
    run = page.data["worlds"][1]["picture"]["runs"][1]
    assert page.every(".panel", "e.dataset.panel") == ["value", "bonus", "ascension", "visits"]
    for index in (1, 3):
        page.slide(index)
        page.run("document.querySelector('[data-board=value] [data-state=\"8\"]').dispatchEvent("
                 "new Event('click', {bubbles: true}))")  # fmt: skip
        for name, key in (("value", "value"), ("heaven", "ascension"), ("visits", "visits")):
            said = float(page.readout(name).replace(",", "").replace("\N{MINUS SIGN}", "-"))
            assert said == pytest.approx(run[key][index][8], rel=1e-3)
        assert page.readout("plays") == f"action {run['action'][index][8]}"
        brightness = page.colours("visits").sum(axis=1)  # the more, the darker
        visits = np.array(run["visits"][index])
        assert (np.diff(brightness[np.argsort(visits)]) <= 0).all()


def test_a_cell_is_known_by_its_observation_and_the_axes_by_their_ends(page):
    page.run("document.querySelector('[data-board=value] [data-state=\"0\"]').dispatchEvent("
             "new Event('click', {bubbles: true}))")  # fmt: skip
    # The first cell is at the top left, half a cell from either edge.
    assert page.text(".readout b") == "Observation (\N{MINUS SIGN}1.17, 0.0677)"
    labels = page.every("[data-board=bonus] .axis", "e.textContent")
    assert labels == [
        *("\N{MINUS SIGN}1.2", "observation[0]", "0.6"),
        *("\N{MINUS SIGN}0.07", "observation[1]", "0.07"),
    ]
    places = page.every("[data-board=bonus] .axis", "e.getBoundingClientRect().toJSON()")
    assert places[0]["x"] < places[1]["x"] < places[2]["x"]
    assert places[3]["y"] > places[4]["y"] > places[5]["y"]  # the least is at the bottom


def test_boards_of_finite_worlds_are_as_they_were(page):
    page.set("world", 0)
    assert page.every(".panel", "e.dataset.panel")[:2] == ["value", "optimal"]
    assert page.every(".board.map, .axis", "1") == []
