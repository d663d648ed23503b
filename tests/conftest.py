"""What tests of several rooms share: comparing learners, a browser, and where Ray keeps things."""

import os
import secrets
import shutil
import signal
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

from optimist.agents.checkpoint import FILE, HISTORY
from optimist.core import storage

sys.path.append(str(Path(__file__).parent))  # for `from reference.mdps import random_mdp`

FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--hide-scrollbars", "--window-size=1280,1000"),
)


@pytest.fixture(scope="session")
def state_of(tmp_path_factory):
    """All that decides how a learner goes on, by name; with the history, all that it saves."""

    def bytes_of(value):
        is_array = isinstance(value, np.ndarray)
        return (value.dtype, value.shape, value.tobytes()) if is_array else value

    def found(agent, history=False):
        folder = tmp_path_factory.mktemp("state")
        agent.save(folder)
        header, arrays = storage.read(folder / FILE)
        if not history:
            header = {name: header[name] for name in ("generators", "until")}
            arrays = {n: a for n, a in arrays.items() if n != "chosen" and HISTORY not in n}
        everything = {**header, **arrays, **vars(agent.diagnostics)}
        return {name: bytes_of(value) for name, value in everything.items()}

    return found


@pytest.fixture(scope="session")
def same(state_of):
    """Assert that learners are the same, bit for bit, and with the history what they have seen."""

    def check(one, *others, history=True):
        expected = state_of(one, history)
        for other in others:
            found = state_of(other, history)
            assert found.keys() == expected.keys()
            for name, value in expected.items():
                assert found[name] == value, name

    return check


@pytest.fixture(scope="session")
def ray_environment():
    """Ray's own token and folder; the paths of its sockets have to be short.

    For all tests of a process: Ray looks at its variables once.
    """
    folder = tempfile.mkdtemp(prefix="ray-", dir="/tmp")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_AUTH_MODE", "token")
        patch.setenv("RAY_AUTH_TOKEN", secrets.token_hex(32))
        patch.setenv("RAY_TMPDIR", folder)
        yield Path(folder)
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
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


@pytest.fixture
def interruptible():
    """Python's own answer to an interruption, whatever runs the tests has put in its place."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
