"""The command line as its users call it, in this process; and one small study."""

import json

import pytest

from optimist.cli import main
from optimist.experiments import watch

STUDY = """\
title = "Two rivers"
seeds = 3
episodes = 60

[worlds."river {n}"]
world = "RiverSwim"
n = [3, 5]

[agents.twice]
agent = "RmaxRaviUcb"

[agents.R-max]
agent = "Rmax"
visits = 2
"""


@pytest.fixture
def optimist(capfd, monkeypatch, tmp_path):
    """Call a command in an empty folder; its exit code, what it printed, what it complained of."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(watch, "LINE_SECONDS", 1e6)  # a busy machine may take more than a minute

    def call(*arguments):
        try:
            code = main([str(a) for a in arguments])
        except SystemExit as end:  # tyro ends the program for help and for wrong flags
            code = end.code
        out, err = capfd.readouterr()
        return code, out, err

    return call


@pytest.fixture
def study(tmp_path):
    file = tmp_path / "rivers.toml"
    file.write_text(STUDY)
    return file


@pytest.fixture
def done(optimist, study):
    """The folder of the study, finished."""
    code, _, err = optimist("sweep", study, "--out", "rivers", "--jobs", 1)
    assert code == 0, err
    return study.parent / "rivers"


@pytest.fixture
def as_json(optimist):
    def call(*arguments):
        code, out, err = optimist(*arguments, "--json")
        assert code == 0, err

        def refuse(constant):
            raise AssertionError(f"{constant} is not JSON")

        return json.loads(out, parse_constant=refuse)

    return call
