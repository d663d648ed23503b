"""Imitators on the page in headless Chromium: matching errors, and boards beside the expert's."""

import matplotlib as mpl
import numpy as np
import pytest

CLOSE = {"rtol": 1e-4, "atol": 1e-12}
"""The page keeps five digits."""

EXPLORER = ["value", "optimal", "bonus", "ascension", "occupancy"]
IMITATOR = ["occupancy", "expert", "difference", "value", "bonus", "ascension"]


@pytest.fixture(scope="module")
def opened(open_page, sample, tmp_path_factory):
    """Of three agents the first two imitate; in the third world they have failed."""
    data = sample(imitators=("Bold", "Careful"))
    for agent in ("Bold", "Careful"):
        del data["worlds"][2]["curves"][agent]
    # The expert is in one place more than any learner ever is.
    picture = data["worlds"][0]["picture"]
    picture["optimal"]["occupancy"] = expert = [0.002] * 9 + [0.982]
    for run in picture["runs"][:2]:
        run["difference"] = np.subtract(run["occupancy"], expert).tolist()
    return open_page(data, tmp_path_factory.mktemp("imitation") / "report.html")


@pytest.fixture
def page(opened):
    """The same, with all controls as they are at first."""
    for name, value in (
        ("world", 0),
        ("x", "linear"),
        ("y", "linear"),
        ("seeds", "band"),
        ("matching", "matching_error"),
    ):
        opened.set(name, value)
    opened.move("run", 0, "change")
    yield opened
    assert opened.complaints() == []


@pytest.mark.parametrize("what", ["matching_error", "average_matching_error"])
def test_matching_errors_are_those_of_the_data_and_of_imitators_alone(page, what):
    page.set("matching", what)
    page.set("seeds", "each")
    for i, agent in enumerate(("Bold", "Careful")):
        curve = page.data["worlds"][0]["curves"][agent]
        given, x = curve[what], curve["episode"]
        line, band, seeds = (page.trace("#matching", p, i) for p in ("line", "band", "seeds"))
        assert line["x"] == x
        np.testing.assert_allclose(line["y"], given["mean"], **CLOSE)
        np.testing.assert_allclose(band["y"], given["high"] + given["low"][::-1], **CLOSE)
        pieces = np.array(seeds["y"], dtype=float).reshape(len(curve["seeds"][what]), -1)
        np.testing.assert_allclose(pieces[:, :-1], curve["seeds"][what], **CLOSE)
    assert page.trace("#matching", "line", 2) is None
    assert page.trace("#regret", "line", 2) is not None
    assert page.layout("matching", "yaxis.title.text") == what.replace("_", " ")


def test_the_switches_of_axes_hold_for_matching_errors_too(page):
    page.set("x", "log")
    page.set("y", "log")
    assert page.layout("matching", "xaxis.type") == page.layout("matching", "yaxis.type") == "log"
    low, high = 10 ** np.array(page.layout("matching", "yaxis.range"))
    curves = page.data["worlds"][0]["curves"]
    means = [y for a in ("Bold", "Careful") for y in curves[a]["matching_error"]["mean"]]
    assert low < min(means) < max(means) < high


def test_a_world_without_imitators_has_no_chart_of_their_errors(page):
    shown = "e.offsetHeight > 0"
    assert page.every("[data-matching]", shown) == [True, True]
    page.set("world", 2)
    assert page.every("[data-matching]", shown) == [False, False]
    assert page.every(".pair .chart", shown) == [True, True, False]
    page.set("world", 1)
    assert page.every("[data-matching]", shown) == [True, True]
    given = page.data["worlds"][1]["curves"]["Bold"]["matching_error"]
    np.testing.assert_allclose(page.trace("#matching", "line", 0)["y"], given["mean"], **CLOSE)


def boards(page):
    return page.every("[data-board]", "e.dataset.board")


def test_imitators_stand_beside_their_expert_and_others_beside_the_truth(page):
    assert boards(page) == IMITATOR
    assert "rewards that it makes up" in page.text("[data-panel=value] figcaption")
    assert "(" not in page.readout("value")  # nothing to compare with
    page.move("run", 2, "change")
    page.slide(2)
    assert boards(page) == [name for name in EXPLORER if name != "ascension"]
    assert "rewards that it makes up" not in page.text("[data-panel=value] figcaption")
    assert "(optimal " in page.readout("value")
    assert page.every(".readout [data-number=difference]", "1") == []
    assert page.every("[data-board=occupancy] .arrows", "e.getAttribute('d')") == [None, None]
    page.move("run", 0, "change")
    assert boards(page) == IMITATOR


def by_matplotlib(name, places):
    """The colours of numbers in [0, 1], [n, 3]."""
    return 255 * mpl.colormaps[name](np.asarray(places))[:, :3]


def test_differences_are_red_above_and_blue_below_zero_and_grey_at_zero(page):
    difference = np.array(page.data["worlds"][0]["picture"]["runs"][0]["difference"])
    most = np.abs(difference).max()
    norm = mpl.colors.SymLogNorm(most / 100, linscale=0.9, vmin=-most, vmax=most)
    for k, row in enumerate(difference):
        page.slide(k)
        drawn = page.colours("difference")
        np.testing.assert_allclose(drawn, by_matplotlib("coolwarm", norm(row)), atol=8)
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
    picture = page.data["worlds"][0]["picture"]
    expert = np.array(picture["optimal"]["occupancy"])
    occupancy = np.array(picture["runs"][0]["occupancy"])
    both = np.concatenate([occupancy.ravel(), expert])
    least = max(both[both > 0].min(), 1e-5 * both.max())

    def colours(numbers):
        decades = np.log(np.maximum(numbers, least) / least)
        return by_matplotlib("Blues", decades / np.log(both.max() / least))

    for k in (1, 4):
        page.slide(k)
        np.testing.assert_allclose(page.colours("occupancy"), colours(occupancy[k]), atol=8)
        np.testing.assert_allclose(page.colours("expert"), colours(expert), atol=8)
    for board, policy in (
        ("occupancy", picture["runs"][0]["policy"][4]),
        ("expert", picture["optimal"]["policy"]),
    ):
        drawn = "".join(page.every(f"[data-board={board}] .arrows", "e.getAttribute('d')"))
        assert drawn.count("M") == 2 * (np.array(policy) >= 0.03).sum()  # a shaft and a head each


def test_a_cell_says_both_occupancies_and_their_difference(page):
    picture = page.data["worlds"][0]["picture"]
    run, expert = picture["runs"][0], picture["optimal"]["occupancy"][0]
    page.slide(3)
    learner, known = page.readout("occupancy").rstrip(")").split(" (expert ")
    assert float(learner) == pytest.approx(run["occupancy"][3][0], rel=1e-3)
    assert float(known) == pytest.approx(expert, rel=1e-3)
    difference = float(page.readout("difference").replace("\N{MINUS SIGN}", "-"))
    assert difference == pytest.approx(run["difference"][3][0], rel=1e-3)
    assert difference < 0  # the first state is never visited by the learner


def test_the_values_of_an_imitator_begin_at_their_least(page):
    run = page.data["worlds"][0]["picture"]["runs"][0]
    value = np.array(run["value"])[1:]  # the state before the first episode is no value yet
    low, high = value.min(), value.max()
    page.slide(2)
    places = (np.array(run["value"][2]) - low) / (high - low)
    np.testing.assert_allclose(page.colours("value"), by_matplotlib("viridis", places), atol=8)


@pytest.mark.parametrize("width", [400, 800])
def test_imitators_fit_on_narrow_screens(open_page, sample, tmp_path, width):
    page = open_page(sample(imitators=("Bold",)), tmp_path / "narrow.html", width=width)
    assert page.run("return document.documentElement.scrollWidth") == width
    assert boards(page) == IMITATOR
    assert page.complaints() == []
