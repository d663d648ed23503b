"""The live page in Chromium: what it shows, its controls, and how it takes being left alone."""

import re
import threading
import time

import numpy as np
import pytest

import optimist as opt
from optimist.live import Feed, StudySource, open_page


class Tab:
    """A tab of the browser with a live page."""

    def __init__(self, browser, address):
        self.browser, self.address = browser, address
        browser.switch_to.new_window("tab")
        self.handle = browser.current_window_handle
        self.size(1280)
        self.media("light")
        browser.get(address)

    def here(self):
        self.browser.switch_to.window(self.handle)

    def command(self, name, **parameters):
        return self.browser.execute_cdp_cmd(name, parameters)

    def size(self, width):
        size = {"width": width, "height": 900, "deviceScaleFactor": 1}
        self.command("Emulation.setDeviceMetricsOverride", **size, mobile=width < 600)

    def media(self, scheme):
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.command("Emulation.setEmulatedMedia", media="screen", features=features)

    def run(self, script, *arguments):
        return self.browser.execute_script(script, *arguments)

    def every(self, selector, what):
        script = f"return [...document.querySelectorAll(arguments[0])].map((e) => {what})"
        return self.run(script, selector)

    def text(self, selector):
        return self.every(selector, "e.textContent")[0]

    def click(self, selector):
        self.run("document.querySelector(arguments[0]).click()", selector)

    def key(self, key):
        from selenium.webdriver.common.action_chains import ActionChains

        ActionChains(self.browser).send_keys(key).perform()

    def until(self, true, seconds=60):
        """Wait until a function is true; its value."""
        end = time.monotonic() + seconds
        while not (found := true()):
            assert time.monotonic() < end
            time.sleep(0.02)
        return found

    def slide(self, index):
        self.run(
            "const e = document.getElementById('frame'); e.value = arguments[0];"
            "e.dispatchEvent(new Event('input'))",
            index,
        )
        self.settle()

    def settle(self):
        """Wait until what is due has been drawn."""
        self.browser.execute_async_script(
            "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(done))"
        )

    @property
    def episode(self):
        digits = re.sub(r"\D", "", self.text("#frame-said"))
        return int(digits) if digits else None

    def colours(self, panel):
        """The colours of the cells of a board, by their states."""
        found = self.every(f"[data-panel={panel}] .cell", "[+e.dataset.state, e.style.fill]")
        return [fill for _, fill in sorted(found)]

    def complaints(self):
        return [entry["message"] for entry in self.browser.get_log("browser")]

    def close(self):
        self.here()
        self.browser.close()
        self.browser.switch_to.window(self.browser.window_handles[0])


@pytest.fixture
def open_tab(browser):
    """The function that opens an address in a tab; no tab may complain."""
    tabs = []
    browser.get_log("browser")

    def opened(address):
        tabs.append(Tab(browser, address))
        return tabs[-1]

    yield opened
    if tabs:
        assert tabs[0].complaints() == []
    for tab in tabs:
        tab.close()


@pytest.fixture(scope="module")
def ended():
    """The page of a run that has ended."""
    with open_page() as page:
        agent = opt.Optimist(opt.envs.FourRooms(), seed=0)
        agent.learn(120, live=page.feed, show_progress=False)
        yield page


def test_boards_and_charts_change_from_frame_to_frame(ended, open_tab):
    tab, frames = open_tab(ended.address), ended.feed.complete_frames()
    tab.until(lambda: tab.run("return +document.getElementById('frame').max") == len(frames) - 1)
    assert tab.text("h1") == "Optimist in FourRooms"
    assert tab.text("#status") == f"finished: 120 of 120 episodes, {ended.feed.steps:,} steps"
    seen = {}
    for index in (0, 8, len(frames) - 1):
        tab.slide(index)
        frame = frames[index]
        assert tab.episode == frame.episodes
        seen[index] = {name: tab.colours(name) for name in ("value", "bonus", "ascension")}
        heaven, fills = frame.boards["ascension"], seen[index]["ascension"]
        sure = [fill for fill, p in zip(fills, heaven, strict=True) if p > 0.999]
        assert set(sure) <= {"rgb(59, 15, 112)"}  # the dark end of its colours
        path = tab.every("[data-panel=value] .trail.inner", "e.getAttribute('points')")[0]
        cells = ended.feed.scene.picture.cells[frame.path] + 0.5
        drawn = np.array([[float(x) for x in point.split(",")] for point in path.split()])
        np.testing.assert_allclose(drawn, cells[:, ::-1])
        arrows = "".join(tab.every("[data-board=value] .arrows", "e.getAttribute('d')"))
        assert arrows.count("M") == 2 * (frame.policy >= 0.03).sum()
    assert f"{frame.numbers['value']:.4g}" in tab.text("[data-now=value]")
    assert seen[0]["value"] != seen[8]["value"] != seen[len(frames) - 1]["value"]
    assert len(set(seen[0]["ascension"])) > 3  # heaven nearly everywhere
    assert len(set(seen[len(frames) - 1]["ascension"])) < len(set(seen[8]["ascension"]))


def test_playback_plays_pauses_and_steps_by_keys_too(ended, open_tab):
    tab = open_tab(ended.address)
    first = tab.until(lambda: tab.episode)
    tab.until(lambda: tab.episode > first)
    tab.key(" ")
    tab.settle()
    assert tab.text("#play") == "Play"
    shown = tab.episode
    time.sleep(0.4)
    assert tab.episode == shown
    tab.key(".")
    tab.settle()
    after = tab.episode
    assert after > shown
    tab.key(",")
    tab.settle()
    assert tab.episode == shown
    tab.key("l")
    tab.settle()
    assert tab.episode == 120
    assert tab.every("#latest", "e.getAttribute('aria-pressed')") == ["true"]
    tab.run("document.getElementById('panels').focus()")
    place = tab.text(".readout")
    tab.key("\ue014")  # the right arrow
    tab.settle()
    assert tab.text(".readout") != place
    assert "column 3" in tab.text(".readout")
    assert tab.every(":focus-visible", "e.id") == ["panels"]


def test_one_board_is_chosen_and_a_reload_shows_the_same(ended, open_tab):
    tab = open_tab(ended.address)
    tab.until(lambda: tab.episode)
    tab.click("[name=board][value=bonus]")
    tab.slide(12)
    shown = tab.episode
    assert tab.every(".panels figure:not([hidden])", "e.dataset.panel") == ["bonus"]
    tab.browser.refresh()
    tab.until(lambda: tab.episode == shown)
    tab.settle()
    assert tab.every(".panels figure:not([hidden])", "e.dataset.panel") == ["bonus"]
    assert tab.text("#play") == "Play"


def test_a_run_is_held_and_stepped_from_two_tabs(open_tab):
    with open_page() as page:
        one = open_tab(page.address)
        assert one.text("h1") == "Waiting for the run"
        agent = opt.Optimist(opt.envs.FourRooms(), seed=0)
        feed, until = page.feed, 100_000
        stop = threading.Event()
        learning = {"live": feed, "show_progress": False, "callback": lambda agent: stop.is_set()}
        thread = threading.Thread(target=lambda: agent.learn(until, **learning))
        thread.start()
        one.until(lambda: one.every("#hold:not([hidden])", "e") and one.episode)
        one.click("#hold")
        one.until(lambda: feed.state == "held" and "held" in one.text("#status"))
        one.click("#latest")
        one.until(lambda: one.episode == feed.episodes)
        episodes = feed.episodes
        one.click("#forward")
        one.until(lambda: one.episode == episodes + 1)
        assert feed.episodes == episodes + 1
        two = open_tab(page.address)
        two.until(lambda: two.text("#hold") == "Let the run go on")
        two.click("#latest")
        two.until(lambda: two.episode == episodes + 1)
        two.click("#hold")
        two.until(lambda: feed.episodes > episodes + 5)
        two.until(lambda: two.episode > episodes + 5)
        one.here()
        one.until(lambda: "learning" in one.text("#status"))
        stop.set()
        thread.join(60)
        one.until(lambda: "finished" in one.text("#status"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_shows_one_board_and_nothing_is_too_wide(ended, open_tab, scheme):
    tab = open_tab("about:blank")
    tab.size(400)
    tab.media(scheme)
    tab.browser.get(ended.address)
    tab.until(lambda: tab.episode)
    tab.settle()
    assert tab.run("return document.documentElement.scrollWidth") == 400
    assert tab.every(".panels figure:not([hidden])", "e.dataset.panel") == ["value"]
    [width] = tab.every("[data-panel=value] svg", "e.getBoundingClientRect().width")
    assert width > 330
    paper = tab.run("return getComputedStyle(document.body).backgroundColor")
    assert paper == {"light": "rgb(253, 252, 249)", "dark": "rgb(22, 24, 27)"}[scheme]
    tab.click("[name=theme][value=dark]")
    paper = tab.run("return getComputedStyle(document.body).backgroundColor")
    assert paper == "rgb(22, 24, 27)"


def test_a_study_shows_its_table_and_the_run_that_is_chosen(tmp_path, open_tab):
    name = "<img src=x onerror=alert(1)>"
    worlds = {name: opt.envs.GridWorld(), "river": opt.envs.RiverSwim(6)}
    study = opt.Study(worlds, {"R-max": opt.Rmax}, 30, seeds=2, title="a </script> study")
    opt.run(study, tmp_path, live=lambda run: Feed())
    with open_page(StudySource(tmp_path)) as page:
        tab = open_tab(page.address)
        tab.until(lambda: tab.text("h1") == f"R-max in {name}, seed 0" and tab.episode)
        assert tab.every("#table img, h1 img", "e") == []
        assert tab.every("#table tbody tr", "e.cells[0].textContent") == [name, "river"]
        assert tab.every(".seed", "e.dataset.state") == ["ended"] * 4
        tab.click("#table tr:nth-child(2) .seed:nth-child(2)")
        tab.until(lambda: tab.text("h1") == "R-max in river, seed 1" and tab.episode)
        tab.until(lambda: len(tab.colours("value")) == 6)
        assert tab.every(".seed[aria-pressed=true]", "e.textContent") == ["1"]
        assert tab.every("#hold:not([hidden])", "e") == []


def test_a_page_says_that_its_run_is_gone(browser):
    page = open_page()
    opt.Optimist(opt.envs.GridWorld(), seed=0).learn(9, live=page.feed, show_progress=False)
    tab = Tab(browser, page.address)
    tab.until(lambda: tab.episode)
    page.close()
    tab.until(lambda: "cannot be reached" in tab.text("#status"))
    assert tab.episode
    tab.complaints()  # of the connection that was refused
    tab.close()
