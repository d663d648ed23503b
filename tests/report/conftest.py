"""Made-up results, and pages of them in a browser."""

import importlib.util
import json
import re
from functools import partial
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from matplotlib.colors import to_rgb

from optimist.report.page import write_page

CONTROLS = {
    "world": 0,
    "x": "linear",
    "y": "linear",
    "centre": "mean",
    "seeds": "band",
    "over": "episode",
    "theme": "auto",
}
"""The controls of a page, as they are at first."""


@pytest.fixture(scope="session")
def samples():
    """The module beside this file, whose functions make up results."""
    spec = importlib.util.spec_from_file_location("samples", Path(__file__).with_name("samples.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def sample(samples):
    return samples.sample


@pytest.fixture(scope="session")
def lightness():
    """L* of CIELAB of a colour, from 0 to 100."""

    def found(colour):
        rgb = np.array(to_rgb(colour))
        linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
        return 116 * np.cbrt(linear @ (0.2126, 0.7152, 0.0722)) - 16

    return found


@pytest.fixture(scope="session")
def same():
    """The function that compares the lines and bands in a panel with the curves of the data."""

    def compare(ax, curves, what):
        for line, area, curve in zip(ax.lines, ax.collections, curves, strict=True):
            band = curve.of[what].mean
            np.testing.assert_array_equal(line.get_xdata(), curve.episode)
            np.testing.assert_array_equal(line.get_ydata(), band.value)
            corners = {tuple(corner) for corner in area.get_paths()[0].vertices}
            for edge in (band.low, band.high):
                assert set(zip(curve.episode, edge, strict=True)) <= corners

    return compare


@pytest.fixture(scope="session")
def open_page(browser):
    """The function that writes results as a page and opens it from disk."""
    return partial(Page, browser)


@pytest.fixture
def page(opened):
    """The page that a file of tests has opened, with all controls as they are at first."""
    opened.reset()
    yield opened
    assert opened.complaints() == []


WAIT_FOR_CHARTS = """
const done = arguments[0];
async function settled() {
  let was;
  do { was = optimist.drawn; await was; } while (was !== optimist.drawn);
}
optimist.ready.then(settled).then(() => done("drawn"), (error) => done(String(error)));
"""

FIND_TRACE = """
const [chart, part, agent] = arguments;
const place = document.querySelector(chart);
const i = place.data.findIndex(({ meta }) => meta.part === part && meta.agent === agent);
if (i < 0) return null;
const { x, y, visible, customdata, line } = place._fullData[i];
return { x: [...(x ?? [])], y: [...(y ?? [])], visible, customdata, dash: line?.dash };
"""


class Page:
    """A page in a browser, with a few ways to read and to use it."""

    def __init__(self, browser, data, path, width=1280, **first):
        self.browser, self.data, self.uri, self.width = browser, data, path.as_uri(), width
        self.first = CONTROLS | first
        write_page(data, path)
        self.open()

    def open(self):
        size = {"width": self.width, "height": 1000, "deviceScaleFactor": 1}
        self.command("Emulation.setDeviceMetricsOverride", **size, mobile=self.width < 600)
        self.media("screen", "light")
        self.complaints()  # forget what was before
        self.load()
        self.settle()

    def load(self):
        """Wait until the scripts of the page have run; `get` by itself may return before."""
        from selenium.webdriver.support.wait import WebDriverWait

        there = "return location.href === arguments[0] && document.readyState === 'complete'"
        self.browser.get(self.uri)
        WebDriverWait(self.browser, 120).until(lambda b: b.execute_script(there, self.uri))

    def reset(self):
        if self.browser.current_url.split("#")[0] != self.uri:
            self.open()
        for name, value in self.first.items():
            if self.every(f"[data-state={name}][value='{value}']", "e.checked") == [False]:
                self.set(name, value)
        if self.every("#beside", "e.value") not in ([], [""]):
            self.move("beside", "", "change")
        if self.every("#legend [aria-pressed=false]", "1"):
            self.click("#legend .all")
        self.move("run", 0, "change")

    def command(self, name, **parameters):
        return self.browser.execute_cdp_cmd(name, parameters)

    def media(self, kind, scheme):
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.command("Emulation.setEmulatedMedia", media=kind, features=features)

    def settle(self):
        """Wait until all charts are drawn."""
        assert self.browser.execute_async_script(WAIT_FOR_CHARTS) == "drawn"

    def run(self, script, *arguments):
        return self.browser.execute_script(script, *arguments)

    def every(self, selector, what):
        """Something of every element e, in JavaScript."""
        script = f"return [...document.querySelectorAll(arguments[0])].map((e) => {what})"
        return self.run(script, selector)

    def text(self, selector):
        return self.every(selector, "e.textContent")[0]

    def until(self, what, seconds=60):
        """Wait until something is true in JavaScript; its value."""
        return self.browser.execute_async_script(
            f"const [tries, done] = arguments; const look = (n) => {{ const v = {what};"
            "v || !n ? done(v) : setTimeout(look, 50, n - 1); }; look(tries)",
            20 * seconds,
        )

    def set(self, name, value):
        """Choose a value of a switch, or a world."""
        self.click(f"[data-state={name}][value='{value}']")

    def click(self, selector):
        self.run("document.querySelector(arguments[0]).click()", selector)
        self.settle()

    def trace(self, chart, part, agent):
        """What plotly draws: the line, the band or the seeds of an agent."""
        return self.run(FIND_TRACE, chart, part, agent)

    def check_curve(self, chart, agent, curves, what, centre="mean", over="episode"):
        """An agent's line and band are those of the data, of which the page keeps five digits."""
        x, expected = getattr(curves, over), getattr(curves.of[what], centre)
        line, band = (self.trace(chart, part, agent) for part in ("line", "band"))
        close = {"rtol": 1e-4, "atol": 1e-12}
        np.testing.assert_allclose(line["x"], x, **close)
        np.testing.assert_allclose(band["x"], [*x, *x[::-1]], **close)
        np.testing.assert_allclose(line["y"], expected.value, **close)
        np.testing.assert_allclose(band["y"], [*expected.high, *expected.low[::-1]], **close)

    def check_seeds(self, chart, agent, seeds):
        """An agent's seeds are these numbers [n, T], with a gap after each."""
        drawn = self.trace(chart, "seeds", agent)["y"]
        pieces = np.array(drawn, dtype=float).reshape(len(seeds), -1)
        assert np.isnan(pieces[:, -1]).all()
        np.testing.assert_allclose(pieces[:, :-1], seeds, rtol=1e-4, atol=1e-12)

    def layout(self, chart, what):
        return self.run(f"return document.getElementById(arguments[0])._fullLayout.{what}", chart)

    def move(self, control, value, event):
        self.run(
            "const [id, value, event] = arguments; const e = document.getElementById(id);"
            "e.value = value; e.dispatchEvent(new Event(event))",
            *(control, value, event),
        )

    def slide(self, index):
        self.move("episode", index, "input")

    def colours(self, panel, side=1):
        """The colours of the cells of a board by their states, [X, 3]."""
        cells = f"[data-panel={panel}] .boards > :nth-child({side}) [data-state]"
        found = self.every(cells, "[Number(e.dataset.state), getComputedStyle(e).fill]")
        by_state = {x: [int(c) for c in re.findall(r"\d+", fill)] for x, fill in found}
        return np.array([by_state[x] for x in sorted(by_state)])

    def check_colours(self, panel, colours, places, side=1):
        """The cells of a board have matplotlib's colours of numbers in [0, 1]."""
        expected = 255 * matplotlib.colormaps[colours](np.asarray(places))[:, :3]
        np.testing.assert_allclose(self.colours(panel, side), expected, atol=8)

    def check_arrows(self, panel, policy):
        """A board has an arrow for each likely action."""
        drawn = "".join(self.every(f"[data-board={panel}] .arrows", "e.getAttribute('d')"))
        assert drawn.count("M") == 2 * (np.array(policy) >= 0.03).sum()  # a shaft and a head each

    def readout(self, name):
        return self.text(f".readout [data-number='{name}']").replace("\N{MINUS SIGN}", "-")

    def complaints(self):
        return [entry["message"] for entry in self.browser.get_log("browser")]

    def requests(self):
        events = [json.loads(e["message"])["message"] for e in self.browser.get_log("performance")]
        sent = [e["params"] for e in events if e["method"] == "Network.requestWillBeSent"]
        return [e["request"]["url"] for e in sent if e["documentURL"] == self.uri]
