"""Made-up results, and a browser to look at pages with."""

import importlib.util
import json
import os
import re
import shutil
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from optimist.report.page import write_page

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--window-size=1280,1000",
)


def beside(name):
    """A module that lies beside this file."""
    path = Path(__file__).with_name(f"{name}.py")
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def sample():
    """The function that makes up results."""
    return beside("sample_data").sample


@pytest.fixture(scope="session")
def environment():
    """The function that makes up those of a Gymnasium environment."""
    return beside("sample_returns").environment


@pytest.fixture(scope="session")
def comparison():
    """The function that makes up the comparison of a subject with its peers."""
    return beside("sample_peers").comparison


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """Headless Chromium; without one tests are skipped, or fail if OPTIMIST_BROWSER_TESTS=1."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if not chromium or not driver:
        why = "no Chromium with its chromedriver was found"
        if os.environ.get("OPTIMIST_BROWSER_TESTS") == "1":
            pytest.fail(f"{why}, and OPTIMIST_BROWSER_TESTS=1 asks for it")
        pytest.skip(why)
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('browser')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    opened = webdriver.Chrome(options=options, service=Service(driver))
    opened.set_script_timeout(120)  # of a machine that is busy
    yield opened
    opened.quit()


@pytest.fixture(scope="module")
def open_file(browser):
    """The function that opens a page from disk."""
    return lambda path: visit(browser, path.as_uri())


@pytest.fixture(scope="module")
def open_page(browser):
    """The function that writes results as a page and opens it from disk."""
    return partial(Page, browser)


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


def visit(browser, uri):
    """Open a page and wait until its scripts have run; `get` by itself may return before."""
    from selenium.webdriver.support.wait import WebDriverWait

    there = "return location.href === arguments[0] && document.readyState === 'complete'"
    browser.get(uri)
    WebDriverWait(browser, 120).until(lambda b: b.execute_script(there, uri))


class Page:
    """A page in a browser, with a few ways to read and to use it."""

    def __init__(self, browser, data, path, width=1280):
        self.browser, self.data, self.uri, self.width = browser, data, path.as_uri(), width
        write_page(data, path)
        self.open()

    def open(self):
        size = {"width": self.width, "height": 1000, "deviceScaleFactor": 1}
        self.command("Emulation.setDeviceMetricsOverride", **size, mobile=self.width < 600)
        self.media("screen", "light")
        self.complaints()  # forget what was before
        visit(self.browser, self.uri)
        self.settle()

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
        """What plotly draws."""
        return self.run(FIND_TRACE, chart, part, agent)

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

    def colours(self, panel):
        """The colours of the cells of a board by their states, [X, 3]."""
        cells = f"[data-board={panel}] [data-state]"
        found = self.every(cells, "[Number(e.dataset.state), getComputedStyle(e).fill]")
        by_state = {x: [int(c) for c in re.findall(r"\d+", fill)] for x, fill in found}
        return np.array([by_state[x] for x in sorted(by_state)])

    def readout(self, name):
        return self.text(f".readout [data-number='{name}']")

    def complaints(self):
        return [entry["message"] for entry in self.browser.get_log("browser")]

    def requests(self):
        events = [json.loads(e["message"])["message"] for e in self.browser.get_log("performance")]
        sent = [e["params"] for e in events if e["method"] == "Network.requestWillBeSent"]
        return [e["request"]["url"] for e in sent if e["documentURL"] == self.uri]
