"""``--live``, ``--record`` and ``watch`` on the command line."""

import os
import re
import signal
import threading
import time
import urllib.request

import pytest


def test_a_run_is_shown_and_recorded_and_its_results_are_the_same(optimist, tmp_path):
    run = ("learn", "RiverSwim", "--episodes", 20, "--seeds", 2, "--json")
    code, plain, _ = optimist(*run)
    shown, live, err = optimist(*run, "--live", "--record", "river.gif")
    assert (code, shown) == (0, 0)
    assert live == plain
    assert re.search(r"^live: http://127\.0\.0\.1:\d+/[\w-]{32}/$", err, re.MULTILINE)
    assert "recorded in river.gif" in err
    assert (tmp_path / "river.gif").read_bytes().startswith(b"GIF8")


@pytest.mark.parametrize(
    ("flags", "complaint"),
    [
        (("--record", "river.avi"), r"a \.gif or \.mp4 file"),
        (("--host", "0.0.0.0"), "--host needs --live"),
        (("--live", "--host", "no.such.host.invalid"), "cannot listen at host"),
    ],
)
def test_a_refused_display_gives_the_reason(optimist, flags, complaint):
    code, _, err = optimist("learn", "RiverSwim", "--episodes", 5, "--seeds", 1, *flags)
    assert code == 2
    assert re.search(complaint, err)


def test_a_page_for_other_machines_says_what_it_means(optimist):
    run = ("learn", "RiverSwim", "--episodes", 5, "--seeds", 1, "--live", "--host", "0.0.0.0")
    code, _, err = optimist(*run)
    assert code == 0
    assert "anyone with this address" in err
    assert "not encrypted" in err


@pytest.mark.usefixtures("interruptible")
def test_a_study_is_watched_until_it_is_interrupted(optimist, finished, monkeypatch):
    found = []

    def look_and_interrupt():
        while not found:
            time.sleep(0.01)
        with urllib.request.urlopen(found[0], timeout=60) as page:
            found.append(page.status)
        os.kill(os.getpid(), signal.SIGINT)

    def say(line):
        found.extend(re.findall(r"http://\S+", line))

    monkeypatch.setattr("optimist.cli.live.say", say)
    threading.Thread(target=look_and_interrupt).start()
    code, _, _ = optimist("watch", finished)
    assert (code, found[1]) == (0, 200)


def test_only_a_study_is_watched(optimist, tmp_path):
    code, _, err = optimist("watch", tmp_path)
    assert code == 2
    assert "no study.toml" in err
