"""Imitators on the page in headless Chromium: matching errors, and boards beside the expert's."""

import matplotlib as mpl
import numpy as np
import pytest

EXPLORER = ["value", "optimal", "bonus", "ascension", "occupancy"]
IMITATOR = ["occupancy", "expert", "difference", "value", "bonus", "ascension"]


@pytest.fixture(scope="module")
def opened(open_page, sample, tmp_path_factory):
    """Of three agents the first two imitate; in the third world they have failed."""
    data = sample(imitators=("Bold", "Careful"))
    for agent in ("Bold", "Careful"):
        del data.worlds[2].curves[agent]
    # The expert is in one place more than any learner ever is.
    picture = data.worlds[0].picture
    picture.optimum.occupancy[:] = [0.002] * 9 + [0.982]
    for run in picture.runs[:2]:
        run.difference[:] = run.occupancy - picture.optimum.occupancy
    return open_page(data, tmp_path_factory.mktemp("imitation") / "report.html")


def test_matching_errors_are_those_of_the_data_and_of_imitators_alone(page):
    page.set("seeds", "each")
    for what in ("matching_error", "average_matching_error"):
        for i, agent in enumerate(("Bold", "Careful")):
            curve = page.data.worlds[0].curves[agent]
            page.check_curve(f"#{what}", i, curve, what)
            page.check_seeds(f"#{what}", i, curve.of[what].seeds)
        assert page.trace(f"#{what}", "line", 2) is None
        assert page.layout(what, "yaxis.title.text") == what.replace("_", " ")
    assert page.trace("#regret", "line", 2) is not None


def test_a_world_without_imitators_has_no_chart_of_their_errors(page):
    shown = "e.offsetHeight > 0"
    assert page.every("[data-quantity]", shown) == [True] * 4
    page.set("world", 2)
    assert page.every("[data-quantity]", shown) == [True, True, False, False]
    page.set("world", 1)
    assert page.every("[data-quantity]", shown) == [True] * 4
    page.check_curve("#matching_error", 0, page.data.worlds[1].curves["Bold"], "matching_error")


def boards(page):
    return page.every("[data-board]", "e.dataset.board")


def test_imitators_have_boards_of_the_expert_and_others_of_the_optimum(page):
    assert boards(page) == IMITATOR
    assert "rewards that it constructs" in page.text("[data-panel=value] figcaption")
    assert "(" not in page.readout("value")  # nothing to compare with
    page.move("run", 2, "change")
    page.slide(2)
    assert boards(page) == [name for name in EXPLORER if name != "ascension"]
    assert "rewards that it constructs" not in page.text("[data-panel=value] figcaption")
    assert "(optimal " in page.readout("value")
    assert page.every(".readout [data-number=difference]", "1") == []
    assert page.every("[data-board=occupancy] .arrows", "e.getAttribute('d')") == [None, None]
    page.move("run", 0, "change")
    assert boards(page) == IMITATOR


def test_differences_are_red_above_and_blue_below_zero_and_grey_at_zero(page):
    difference = page.data.worlds[0].picture.runs[0].difference
    most = np.abs(difference).max()
    norm = mpl.colors.SymLogNorm(most / 100, linscale=0.9, vmin=-most, vmax=most)
    for k, row in enumerate(difference):
        page.slide(k)
        page.check_colours("difference", "coolwarm", norm(row))
        drawn = page.colours("difference")
        far = np.abs(row) > most / 100
        assert (np.sign(drawn[far, 0] - drawn[far, 2]) == np.sign(row[far])).all()
    page.run(
        "optimist.data.worlds[0].picture.runs[0].difference = arguments[0]",
        [[0.0] * difference.shape[1]] * len(difference),
    )
    page.move("run", 0, "change")
    assert (np.ptp(page.colours("difference"), axis=1) <= 2).all()
    assert page.text("[data-panel=difference] .labels") == "0 everywhere"
    page.run(
        "optimist.data.worlds[0].picture.runs[0].difference = arguments[0]", difference.tolist()
    )


def test_learner_and_expert_have_the_same_colours(page):
    picture = page.data.worlds[0].picture
    expert, occupancy = picture.optimum.occupancy, picture.runs[0].occupancy
    both = np.concatenate([occupancy.ravel(), expert])
    least = max(both[both > 0].min(), 1e-5 * both.max())

    def places(numbers):
        return np.log(np.maximum(numbers, least) / least) / np.log(both.max() / least)

    for k in (1, 4):
        page.slide(k)
        page.check_colours("occupancy", "Blues", places(occupancy[k]))
        page.check_colours("expert", "Blues", places(expert))
    page.check_arrows("occupancy", picture.runs[0].policy[4])
    page.check_arrows("expert", picture.optimum.policy)


def test_a_cell_shows_both_occupancies_and_their_difference(page):
    picture = page.data.worlds[0].picture
    run, expert = picture.runs[0], picture.optimum.occupancy[0]
    page.slide(3)
    learner, known = page.readout("occupancy").rstrip(")").split(" (expert ")
    assert float(learner) == pytest.approx(run.occupancy[3][0], rel=1e-3)
    assert float(known) == pytest.approx(expert, rel=1e-3)
    difference = float(page.readout("difference"))
    assert difference == pytest.approx(run.difference[3][0], rel=1e-3)
    assert difference < 0  # the first state is never visited by the learner


def test_the_scale_of_an_imitators_values_starts_at_their_minimum(page):
    run = page.data.worlds[0].picture.runs[0]
    value = run.value[1:]  # the state before the first episode is no value yet
    low, high = value.min(), value.max()
    page.slide(2)
    page.check_colours("value", "viridis", (run.value[2] - low) / (high - low))


def test_an_imitator_beside_another_agent(page):
    page.move("beside", 2, "change")
    assert page.every("[data-panel=occupancy] .who", "e.textContent") == ["Bold", "Idle"]
    assert "imitates no expert" in page.text("[data-panel=difference] .boards > :nth-child(2)")
    assert len(page.every("[data-panel=expert] [data-board]", "1")) == 1


def test_imitators_fit_on_narrow_screens(open_page, sample, tmp_path):
    for width in (400, 800):
        page = open_page(sample(imitators=("Bold",)), tmp_path / "narrow.html", width=width)
        assert page.run("return document.documentElement.scrollWidth") == width
        assert boards(page) == IMITATOR
        assert page.complaints() == []
