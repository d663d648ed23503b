"""Gymnasium environments on the page in headless Chromium."""

from dataclasses import replace

import numpy as np
import pytest

from optimist.report.labels import RETURNS_BY_STEPS

AGENTS = ("Bold", "Careful", "Idle")


@pytest.fixture(scope="module")
def opened(open_page, sample, samples, tmp_path_factory):
    """A room and a plane."""
    data = sample(worlds=("Room",), agents=AGENTS)
    data = replace(data, worlds=(*data.worlds, samples.environment(AGENTS)))
    return open_page(data, tmp_path_factory.mktemp("page") / "report.html", world=1)


def shown(page, selector):
    return page.every(selector, "e.checkVisibility()")


def test_only_parts_for_the_selected_kind_of_world_are_visible(page):
    losses, returns = (
        "[data-track=values], #switch-y, [data-quantity=regret]",
        "[data-track=returns]",
    )
    assert not any(shown(page, losses))
    assert all(shown(page, f"{returns}, [data-quantity=return]"))
    page.set("world", 0)
    assert all(shown(page, losses))
    assert not any(shown(page, f"{returns}, [data-quantity=return]"))


def test_returns_are_drawn_with_their_bands_and_seeds(page):
    page.set("seeds", "each")
    for i, curve in enumerate(page.data.worlds[1].curves.values()):
        for chart in ("#return", "[data-multiple='1']"):
            page.check_curve(chart, i, curve, "return")
        page.check_seeds("#return", i, curve.of["return"].seeds)


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
    run = page.data.worlds[1].picture.runs[1]
    assert page.every(".panel", "e.dataset.panel") == ["value", "bonus", "ascension", "visits"]
    for index in (1, 3):
        page.slide(index)
        page.run("document.querySelector('[data-board=value] [data-state=\"8\"]').dispatchEvent("
                 "new Event('click', {bubbles: true}))")  # fmt: skip
        for name, key in (("value", "value"), ("heaven", "ascension"), ("visits", "visits")):
            assert float(page.readout(name).replace(",", "")) == pytest.approx(
                getattr(run, key)[index][8], rel=6e-3
            )
        assert page.readout("plays") == f"action {run.action[index][8]}"
        brightness = page.colours("visits").sum(axis=1)  # the more, the darker
        visits = run.visits[index]
        assert (np.diff(brightness[np.argsort(visits)]) <= 0).all()


def test_a_cell_shows_its_observation_and_axes_have_labels(page):
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


def test_finite_worlds_have_boards_instead_of_maps(page):
    page.set("world", 0)
    assert page.every(".panel", "e.dataset.panel")[:2] == ["value", "optimal"]
    assert page.every(".board.map, .axis", "1") == []


def test_a_study_by_steps_is_drawn_over_steps(open_page, samples, sample, tmp_path_factory):
    world = replace(samples.environment(AGENTS), labels=RETURNS_BY_STEPS)
    data = replace(sample(worlds=("Room",), agents=AGENTS), worlds=(world,))
    page = open_page(data, tmp_path_factory.mktemp("page") / "report.html")
    assert page.layout("return", "xaxis.title.text") == "steps"
    for i, curve in enumerate(world.curves.values()):
        page.check_curve("#return", i, curve, "return", over="steps")
    page.set("over", "episode")
    assert page.layout("return", "xaxis.title.text") == "episode, mean over the seeds"
