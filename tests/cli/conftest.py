"""The command line as its users call it, in this process; and one small study."""

import json
import shutil

import pytest

from optimist.cli import main
from optimist.experiments import Study, run, watch

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


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("finished") / "rivers"
    run(Study.parse(STUDY), folder, jobs=1)
    return folder


@pytest.fixture
def done(study, finished):
    """The folder of the study, finished: a copy for each test."""
    return shutil.copytree(finished, study.parent / "rivers")


@pytest.fixture
def as_json(optimist):
    def call(*arguments):
        code, out, err = optimist(*arguments, "--json")
        assert code == 0, err

        def refuse(constant):
            raise AssertionError(f"{constant} is not JSON")

        return json.loads(out, parse_constant=refuse)

    return call


@pytest.fixture
def refused(optimist):
    """Check for each command of a table that it ends with exit code 2 and this sentence."""

    def check(table):
        for arguments, sentence in table:
            code, out, err = optimist(*arguments)
            assert (code, out) == (2, ""), arguments
            assert sentence in err, arguments
            assert "Traceback" not in err, arguments

    return check
