"""The page in headless Chromium, opened from disk: what is drawn, and what the controls do."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest

from optimist.report.data import MissingRun, Recording
from optimist.report.finding import finding


@pytest.fixture(scope="module")
def opened(open_page, sample, tmp_path_factory):
    """A study whose second world has one seed, and whose third has awkward numbers."""
    data = sample()
    sea = sample(worlds=("Room", "Sea"), seeds=1).worlds[1]
    data = replace(data, worlds=(data.worlds[0], sea, data.worlds[2]))
    river = data.worlds[2].curves
    loss = river["Idle"].of["suboptimality"].mean
    loss.low[10], loss.value[12] = 0.0, 1e-14
    river["Careful"].episode[0] = 0
    page = open_page(data, tmp_path_factory.mktemp("page") / "report.html")
    page.asked = page.requests()  # by the time it was drawn
    return page


def test_the_page_makes_no_network_requests(opened):
    assert [url for url in opened.asked if not url.startswith(("data:", "blob:"))] == [opened.uri]


def test_lines_and_bands_are_those_of_the_data(page):
    for world in (0, 2):
        page.set("world", world)
        for i, curve in enumerate(page.data.worlds[world].curves.values()):
            for quantity in ("regret", "suboptimality"):
                page.check_curve(f"#{quantity}", i, curve, quantity)
                assert page.trace(f"#{quantity}", "seeds", i) is None
    assert len({page.trace("#regret", "line", i)["dash"] for i in range(3)}) == 3


def test_one_seed_has_lines_without_bands(page):
    page.set("world", 1)
    line, band = (page.trace("#regret", part, 1) for part in ("line", "band"))
    given = page.data.worlds[1].curves["Careful"].of["regret"].mean
    np.testing.assert_allclose(line["y"], given.value, rtol=1e-4, atol=1e-12)
    assert band["y"] == []
    assert "[" not in line["customdata"][0]


def test_small_charts_show_every_world(page):
    for world in range(3):
        for i, curve in enumerate(page.data.worlds[world].curves.values()):
            line = page.trace(f"[data-multiple='{world}']", "line", i)
            np.testing.assert_allclose(
                line["y"], curve.of["suboptimality"].mean.value, rtol=1e-4, atol=1e-12
            )


def test_the_interquartile_mean_replaces_the_mean_of_suboptimality(page):
    page.set("centre", "iqm")
    curve = page.data.worlds[0].curves["Careful"]
    page.check_curve("#suboptimality", 1, curve, "suboptimality", "iqm")
    page.check_curve("#regret", 1, curve, "regret")
    said = page.every("[data-quantity] figcaption", "e.textContent")
    assert ["the interquartile mean over the seeds" in one for one in said] == [False, True]


def test_curves_can_be_drawn_over_steps(page):
    page.set("over", "steps")
    for i, curve in enumerate(page.data.worlds[0].curves.values()):
        for quantity in ("regret", "suboptimality"):
            page.check_curve(f"#{quantity}", i, curve, quantity, over="steps")
    assert page.layout("regret", "xaxis.title.text") == "steps, mean over the seeds"
    page.set("over", "episode")
    page.check_curve("#regret", 0, page.data.worlds[0].curves["Bold"], "regret")
    assert page.layout("regret", "xaxis.title.text") == "episode"


def test_each_seed_can_be_shown(page):
    page.set("seeds", "each")
    for quantity in ("regret", "suboptimality"):
        seeds = page.data.worlds[0].curves["Careful"].of[quantity].seeds
        page.check_seeds(f"#{quantity}", 1, seeds)


def test_the_legend_hides_line_band_and_seeds_in_all_charts(page):
    page.set("seeds", "each")
    count = "e.querySelectorAll('.scatterlayer .trace').length"
    before = page.every("#curves .chart", count)
    page.click("#legend [data-agent='1']")
    for chart in ("#regret", "#suboptimality", "[data-multiple='0']", "[data-multiple='2']"):
        for part in ("line", "band", "seeds"):
            assert page.trace(chart, part, 1)["visible"] is False
            assert page.trace(chart, part, 0)["visible"] is True
    after = page.every("#curves .chart", count)
    one_seed = 3  # the small chart of the second world, which has no bands
    gone = np.subtract(before, after)
    assert (gone == [2 if i == one_seed else 3 for i in range(5)]).all()
    assert page.every("#legend [data-agent]", "e.ariaPressed") == ["true", "false", "true"]
    page.click("#legend [data-agent='1']")
    assert page.trace("#regret", "band", 1)["visible"] is True
    assert page.every("#curves .chart", count) == before


def test_log_axes_leave_gaps_where_nothing_can_be_drawn_and_say_so(page):
    assert page.layout("suboptimality", "yaxis.type") == "linear"
    assert page.text("#left-out") == ""
    page.set("x", "log")
    assert page.layout("regret", "xaxis.type") == "log"
    assert page.layout("regret", "yaxis.type") == "linear"
    page.set("y", "log")
    assert page.layout("suboptimality", "yaxis.type") == "log"
    given = page.data.worlds[0].curves["Bold"].of["suboptimality"].mean
    mean, low = given.value, given.low
    line, band = (page.trace("#suboptimality", part, 0) for part in ("line", "band"))
    shown = np.where(mean > 0, mean, np.nan)
    np.testing.assert_allclose(np.array(line["y"], dtype=float), shown, rtol=1e-4, atol=1e-12)
    assert 0 < (low > 0).sum() < len(low)
    assert len(band["y"]) == 2 * (low > 0).sum()
    said = f"gaps at {(mean <= 0).sum()} such points, and bands at {(low <= 0).sum()} such"
    assert said in page.text("#left-out")
    page.click("#legend [data-agent='0']")  # what is hidden leaves nothing out
    assert "nothing is left out" in page.text("#left-out")


def test_episode_zero_is_left_out_of_a_log_axis(page):
    page.set("world", 2)
    page.set("x", "log")
    for quantity in ("regret", "suboptimality"):
        drawn = page.trace(f"#{quantity}", "line", 1)["y"]
        assert drawn[0] is None
        assert None not in drawn[1:]
    assert "gaps at 2 such points, and bands at 2" in page.text("#left-out")


def test_bands_on_log_axes_have_gaps_and_rounding_errors_are_off_the_axis(page):
    page.set("world", 2)
    page.set("y", "log")
    band = page.trace("#suboptimality", "band", 2)
    episodes = page.data.worlds[2].curves["Idle"].episode.tolist()
    first, second = episodes[:10], episodes[11:]
    assert band["x"] == [*first, *first[::-1], None, *second, *second[::-1]]
    assert band["y"][20] is None
    low, high = page.layout("suboptimality", "yaxis.range")
    assert 6 < high - low < 6.5
    assert re.search(r"Suboptimality below .*% is off its axis", page.text("#left-out"))


def test_hovering_over_a_chart_shows_its_numbers(page):
    from selenium.webdriver import ActionChains

    page.run("document.getElementById('suboptimality').scrollIntoView({ block: 'center' })")
    chart = page.browser.find_element("css selector", "#suboptimality .nsewdrag")
    ActionChains(page.browser).move_to_element(chart).perform()
    assert page.until("document.querySelector('#suboptimality .hoverlayer text')")
    title, *lines = page.every("#suboptimality .hoverlayer text", "e.textContent")
    curves = page.data.worlds[0].curves
    k = curves["Idle"].episode.tolist().index(int(title.removeprefix("episode ")))
    for (agent, curve), line in zip(curves.items(), lines, strict=True):
        name, numbers = line.replace("\N{MINUS SIGN}", "-").split(" : ")
        assert name == agent
        said = [float(x) for x in re.findall(r"[-+.e\d]+(?=%)", numbers)]
        band = curve.of["suboptimality"].mean
        given = [100 * numbers[k] for numbers in (band.value, band.low, band.high)]
        np.testing.assert_allclose(said, given, rtol=6e-3)


def test_charts_have_no_button_that_sends_data_away(page):
    titles = set(page.every(".modebar-btn", "e.dataset.title"))
    assert titles == {"Download plot", "Zoom", "Pan", "Reset axes"}


def test_selecting_a_world_changes_all_sections(page):
    shown = "article[data-world]:not([hidden])"
    page.move("run", 1, "change")
    page.click("#overview-values [data-choose='1']")
    assert page.every(shown, "e.dataset.world") == ["1", "1"]
    assert page.text("#curves [data-world-name]") == page.text("#optimism h3") == "Sea"
    assert page.every("[data-state=world]:checked", "e.value") == ["1"]
    assert page.text("#run option:checked") == "Careful"  # as in the world before
    page.set("world", 2)
    assert page.every(shown, "e.dataset.world") == ["2", "2"]
    assert "no picture" in page.text("#optimism-of-world")
    page.set("world", 0)


def test_tables_are_sorted_by_a_column(page):
    rows = page.data.worlds[0].estimates.items()
    slopes = {agent: row["slope"].value for agent, row in rows}
    known = sorted((a for a in slopes if not math.isnan(slopes[a])), key=slopes.get)
    rows = "article:not([hidden]) .results tbody tr"
    page.click("[data-column=slope] button")
    assert page.every(rows, "e.dataset.agent") == [*known, "Idle"]
    page.click("[data-column=slope] button")
    assert page.every(rows, "e.dataset.agent") == [*known[::-1], "Idle"]


def test_boards_have_the_colours_of_their_numbers_at_every_episode(page):
    picture = page.data.worlds[0].picture
    run, best = picture.runs[0], picture.optimum.value
    value, bonus, occupancy = run.value, run.bonus, run.occupancy
    top = max(value.max(), best.max())
    least = max(occupancy[occupancy > 0].min(), 1e-5 * occupancy.max())
    for k in range(len(run.episodes)):
        page.slide(k)
        decades = np.log(np.maximum(occupancy[k], least) / least)
        page.check_colours("value", "viridis", value[k] / top)
        page.check_colours("optimal", "viridis", best / top)
        page.check_colours("bonus", "magma_r", 0.8 * bonus[k] / bonus.max())
        page.check_colours("occupancy", "Blues", decades / np.log(occupancy.max() / least))
    assert page.every("[data-panel=value] .labels span", "e.textContent") == ["0", "5", "10"]


def test_values_far_above_the_optimum_have_log_colours(page):
    page.set("world", 1)
    assert "log colours" not in page.text("[data-panel=value] figcaption")
    best = page.data.worlds[1].picture.optimum.value.tolist()
    page.run("optimist.data.worlds[1].picture.optimum.value = arguments[0]", [x / 9 for x in best])
    page.move("run", 0, "change")
    page.slide(1)
    assert "log colours" in page.text("[data-panel=value] figcaption")
    value = page.data.worlds[1].picture.runs[0].value
    low = best[0] / 9
    page.check_colours("value", "viridis", np.log(value[1] / low) / np.log(value.max() / low))
    page.run("optimist.data.worlds[1].picture.optimum.value = arguments[0]", best)


def test_the_slider_changes_the_numbers_of_a_cell(page):
    run = page.data.worlds[0].picture.runs[0]
    page.slide(0)
    assert page.text("#episode-said") == "before the first episode"
    for k, said in ((1, "after 1 episode"), (3, "after 16 episodes")):
        page.slide(k)
        assert page.text("#episode-said") == said
        hope, truth = page.readout("value").rstrip(")").split(" (optimal ")
        assert math.isclose(float(hope), run.value[k][0], rel_tol=1e-3)
        assert float(truth) == 1
        assert math.isclose(float(page.readout("bonus")), run.bonus[k][0], rel_tol=1e-3)
        assert math.isclose(float(page.readout("heaven")), run.ascension[k][0], rel_tol=1e-3)


def test_hovering_and_arrow_keys_select_a_cell_on_all_boards(page):
    from selenium.webdriver import ActionChains, Keys

    page.run("document.querySelector('.panels').scrollIntoView({ block: 'center' })")
    cell = page.browser.find_element("css selector", "[data-board=bonus] [data-state='2']")
    ActionChains(page.browser).move_to_element(cell).perform()
    assert page.text(".readout b") == "State 2"
    frames = page.every(".chosen.outer", "[e.y.baseVal.value, e.x.baseVal.value]")
    assert frames == [page.data.worlds[0].picture.cells[2].tolist()] * 5
    boards = page.browser.find_element("css selector", ".panels")
    boards.send_keys(Keys.ARROW_RIGHT)
    assert page.text(".readout b") == "State 3"
    boards.send_keys(Keys.ARROW_DOWN)
    assert page.text(".readout b") == "State 5"


def test_selecting_another_agent_changes_the_boards(page):
    page.slide(2)
    page.move("run", 2, "change")
    assert "imagines no transitions to heaven" in page.text("[data-panel=ascension]")
    assert page.readout("heaven") == "\N{EN DASH}"
    assert page.text("#episode-said") == "after 4 episodes"  # the slider stays where it was
    chosen = page.run("return Number(document.querySelector('.readout b').textContent.slice(6))")
    policy = page.data.worlds[0].picture.runs[2].policy[2][chosen]
    a = int(np.argmax(policy))
    assert page.readout("plays").startswith(f"{['up', 'right', 'down', 'left'][a]} {policy[a]:.2f}")


def test_arrows_are_those_of_likely_actions(page):
    """The sea's last state, the seventh, has none: nothing more happens there."""
    for world, states in ((0, 10), (1, 6)):
        page.set("world", world)
        page.slide(1)
        policy = page.data.worlds[world].picture.runs[0].policy[1]
        page.check_arrows("value", policy[:states])
    assert len(page.every("[data-board=value] [data-state='6']", "e")) == 3  # all of the ground


def test_play_moves_on_and_stops_at_the_end(page):
    page.slide(3)
    page.click("#play")
    assert page.text("#play") == "Pause"
    assert page.until("document.getElementById('play').textContent === 'Play'")
    assert page.text("#episode-said") == "after 64 episodes"


def test_dark_and_paper_change_the_colours_of_charts(page):
    def articles():
        return page.every("article[data-world]", "e.offsetHeight > 0")

    light = page.layout("regret", "font.color")
    page.media("screen", "dark")  # the page hears of it with its next frame
    colour = "document.getElementById('regret')._fullLayout.font.color"
    assert page.until(f"{colour} !== '{light}'")
    page.settle()
    page.run("dispatchEvent(new Event('beforeprint'))")
    page.settle()
    assert page.layout("regret", "font.color") == light
    assert page.layout("regret", "width") == 335
    assert all(page.every("details", "e.open"))
    page.media("print", "light")
    everything = "[...document.querySelectorAll('article[data-world]')]"
    assert page.until(f"{everything}.every((e) => e.offsetHeight > 0)")
    page.media("screen", "light")
    page.run("dispatchEvent(new Event('afterprint'))")
    page.settle()
    assert sum(articles()) == 2
    assert page.every("#specification", "e.open") == [False]
    assert page.layout("regret", "width") > 400


def test_the_theme_is_that_of_the_system_unless_one_is_chosen(page):
    def papers():
        page.settle()
        colours = page.run("return getComputedStyle(document.body).backgroundColor")
        return "light" if colours == "rgb(253, 252, 249)" else "dark", page.layout(
            "regret", "font.color"
        )

    light = papers()
    assert light[0] == "light"
    page.set("theme", "dark")
    dark = papers()
    assert dark[0] == "dark"
    assert dark[1] != light[1]  # charts are drawn again
    page.media("screen", "dark")
    page.set("theme", "light")
    assert papers() == light
    page.set("theme", "auto")
    assert papers() == dark
    page.media("screen", "light")
    assert page.until("getComputedStyle(document.body).backgroundColor === 'rgb(253, 252, 249)'")


def test_the_page_opens_on_the_most_telling_world_where_optimism_is_at_work(
    open_page, sample, samples, tmp_path
):
    data = sample()
    for agent, x in zip(("Bold", "Careful", "Idle"), (0.01, 0.5, 0.99), strict=True):
        data = samples.changed(data, f"worlds.1.estimates.{agent}.average", samples.about(x))
    bold = replace(data.worlds[1].picture.runs[0], bonus=None, ascension=None)
    data = samples.changed(data, "worlds.1.picture.runs.0", bold)
    page = open_page(data, tmp_path / "opening.html")
    assert page.every("[data-state=world]:checked", "e.value") == ["1"]
    assert page.every("article:not([hidden])", "e.dataset.world") == ["1", "1"]
    assert page.text("#optimism h3") == "Sea"
    assert page.text("#run option:checked") == "Careful"  # the first with any optimism
    assert page.text("#episode-said") == "after 1 episode"
    assert page.text("#finding") == finding(data)
    page.set("world", 0)
    assert page.text("#episode-said") == "after 1 episode"
    assert page.complaints() == []


def test_two_agents_are_shown_side_by_side_with_one_scale(page):
    first, second, _ = page.data.worlds[0].picture.runs
    page.move("beside", 1, "change")
    page.slide(2)
    assert page.every("[data-panel=value] .who", "e.textContent") == ["Bold", "Careful"]
    boards = page.every("[data-board]", "e.dataset.board")
    assert boards == [
        *["value"] * 2,
        "optimal",
        *["bonus"] * 2,
        *["ascension"] * 2,
        *["occupancy"] * 2,
    ]
    left, right = (page.every(f"[data-panel=value] .boards > :nth-child({i}) .board",
                              "e.getBoundingClientRect().toJSON()")[0] for i in (1, 2))  # fmt: skip
    assert left["right"] <= right["left"]
    assert left["top"] == right["top"]
    numbers = page.every(".readout [data-number=value]", "e.textContent")
    for said, run in zip(numbers, (first, second), strict=True):
        assert float(said.split(" (")[0]) == pytest.approx(run.value[2][0], rel=1e-3)
    both = np.concatenate([first.occupancy, second.occupancy])
    least = max(both[both > 0].min(), 1e-5 * both.max())
    for i, run in ((1, first), (2, second)):
        places = np.log(np.maximum(run.occupancy[2], least) / least) / np.log(both.max() / least)
        page.check_colours("occupancy", "Blues", places, side=i)
    page.move("beside", 2, "change")
    assert "imagines no transitions" in page.text("[data-panel=ascension] .boards > :nth-child(2)")
    assert page.text("#episode-said") == "after 4 episodes"
    page.set("world", 1)  # where the same two are shown
    assert page.every("[data-panel=value] .who", "e.textContent") == ["Bold", "Idle"]
    page.set("world", 0)
    page.move("beside", "", "change")
    assert page.every(".who", "1") == []


def test_hostile_names_are_shown_literally_and_run_no_script(open_page, sample, tmp_path):
    evil = "</script><script>window.harmed = 1</script>"
    marked = "<b>5 < 6 & 'so on'</b> &amp; <img src=x onerror='window.harmed = 1'>"
    data = sample(worlds=(evil, marked), agents=(evil, marked))
    data = replace(data, title=evil + marked, specification=evil + marked)
    page = open_page(data, tmp_path / "evil.html")
    assert page.browser.title == page.text("#specification-text") == evil + marked
    assert page.text("#legend [data-agent='1']") == marked
    assert page.text("#run option:nth-child(2)") == marked
    point = "[{ curveNumber: 3, pointNumber: 5 }]"
    page.run(f"Plotly.Fx.hover(document.getElementById('regret'), {point})")
    assert "<b>5 < 6 &" in page.text("#regret .hoverlayer")
    assert page.run("return window.harmed") is None
    assert page.complaints() == []
    # Even markup that had got into the page could not run.
    page.run(
        "document.body.append(document.createRange().createContextualFragment(arguments[0]))",
        "<img src='data:,' onerror='window.harmed = 1'><script>window.harmed = 1</script>",
    )
    assert page.until("window.harmed", seconds=0.2) is None
    complaints = page.complaints()
    assert len(complaints) == 2
    assert all("Content Security Policy" in complaint for complaint in complaints)


def test_a_phone_shows_everything_without_scrolling_sideways(open_page, sample, samples, tmp_path):
    """Neither the page nor a table is wider than the screen, and no cell is cut off."""
    agents = tuple(f"{'An agent with a name' if i % 2 else 'Unbroken' * 8} {i}" for i in range(5))
    worlds = tuple(f"{'World' * 12}{i}" for i in range(7))
    run = MissingRun(worlds[0], agents[0], 1, "m" * 300)
    data = replace(
        sample(worlds, agents, imitators=agents[:2]),
        title="Title" * 20,
        specification="x = " + "1" * 300,
        failures=(run,),
        comparison=samples.comparison(worlds, agents),
    )
    page = open_page(data, tmp_path / "phone.html", width=400)
    page.run("for (const each of document.querySelectorAll('details')) each.open = true")
    page.until("document.querySelectorAll('#multiples .plot-container').length === 7", seconds=20)
    page.move("beside", 1, "change")
    assert page.run("return [innerWidth, document.documentElement.scrollWidth]") == [400, 400]
    edges = "[e.getBoundingClientRect().left >= 0, e.getBoundingClientRect().right <= 400]"
    shown = page.every(
        "table, td, tbody th, .board, .readout, fieldset", f"e.checkVisibility() ? {edges} : []"
    )
    assert sum(map(bool, shown)) > 200
    assert all(all(edge) for edge in shown)
    assert page.every("td", "e.scrollWidth <= e.clientWidth").count(False) == 0
    labels = page.every(
        ".results td[data-label='IQM, %']", "getComputedStyle(e, '::before').content"
    )
    assert set(labels) == {'"IQM, %"'}
    page.move("world", 1, "change")
    assert page.every("article[data-world]:not([hidden])", "e.dataset.world") == ["1", "1"]
    assert page.complaints() == []


def test_worlds_without_results_or_recordings_can_be_opened(open_page, sample, tmp_path):
    data = sample()
    room = replace(data.worlds[0], seeds=0, estimates={}, curves={}, improvement={}, picture=None)
    picture = data.worlds[1].picture
    none = [Recording(r.agent, 0, np.empty(0, int), np.empty((0, 7))) for r in picture.runs[:2]]
    sea = replace(data.worlds[1], picture=replace(picture, runs=(*none, picture.runs[2])))
    data = replace(data, worlds=(room, sea, data.worlds[2]))
    page = open_page(data, tmp_path / "gaps.html")
    assert page.every("#run option", "e.textContent") == ["Idle"]
    assert page.every("#beside", "1") == []
    page.set("world", 0)
    assert page.run("return document.getElementById('regret').data") == []
    page.set("y", "log")
    assert page.complaints() == []


def test_old_browsers_get_the_reason_why_there_are_no_charts(browser, open_page, sample, tmp_path):
    page = open_page(sample(), tmp_path / "old.html")
    script = {"source": "delete globalThis.DecompressionStream"}
    added = browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", script)
    try:
        browser.get("about:blank")
        page.load()
        browser.execute_async_script("optimist.ready.then(arguments[0])")
        assert "The charts could not be unpacked" in browser.page_source
        assert browser.find_elements("css selector", "[data-board=value] rect")
    finally:
        browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", added)
