"""Several processes at one study share its runs, and whoever watches sees what all of them do."""

import gc
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections import Counter
from types import SimpleNamespace

import pytest

from optimist import OptimisticVI, Rmax, envs
from optimist.errors import Busy
from optimist.experiments import Study, open_results, run, sweep, watch
from optimist.experiments.execute import Task, execute
from optimist.experiments.run_folder import RunFolder
from optimist.experiments.study_folder import StudyFolder

STUDY = Study(
    worlds={"river": envs.RiverSwim(5), "sea": envs.DeepSea(4)},
    agents={"R-max": Rmax, "optimistic": OptimisticVI},
    episodes=1000,
    seeds=2,
)

COUNTING = """
import os, sys

def heard(event, arguments):
    if event == "os.rename" and str(arguments[1]).endswith(("specification.json", "result.json")):
        log = os.open(os.environ["RENAMED"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(log, (str(arguments[1]) + "\\n").encode())
        os.close(log)

sys.addaudithook(heard)
"""


def test_two_sweeps_of_one_study(optimist, whole, bytes_of, run_folders, tmp_path, monkeypatch):
    """Every process notes which runs it begins and ends: each is begun and ended once."""
    (tmp_path / "sitecustomize.py").write_text(COUNTING)
    before = os.environ.get("PYTHONPATH")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(tmp_path), before])))
    monkeypatch.setenv("RENAMED", str(tmp_path / "log"))
    (tmp_path / "study.toml").write_text(STUDY.text)
    out = tmp_path / "out"
    words = ("sweep", tmp_path / "study.toml", "--out", out, "--jobs", 1, "--json")
    with optimist(*words) as one, optimist(*words) as other:
        said = [process.communicate(timeout=600) for process in (one, other)]
    assert (one.returncode, other.returncode) == (0, 0), said
    assert said[0][0] == said[1][0]
    paths = run_folders(STUDY, out)
    log = Counter((tmp_path / "log").read_text().splitlines())
    names = ("specification.json", "result.json")
    assert log == dict.fromkeys([str(path / name) for path in paths for name in names], 1)
    for r, path in zip(STUDY.runs, paths, strict=True):
        assert bytes_of(path) == whole(r.spec)
    assert sorted(path.name for path in out.iterdir()) == ["runs", "study.toml"]


HOLD = """
import sys
from filelock import FileLock
with FileLock(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path):
    """Another process that holds the lock of a run."""
    folder = tmp_path / "runs" / STUDY.runs[0].spec.id
    folder.mkdir(parents=True)
    command = [sys.executable, "-c", HOLD, str(folder / "lock")]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_a_run_that_another_process_is_at_is_busy(holder, tmp_path, monkeypatch):
    """Nobody waits who could carry out another run; what the other process writes is left alone."""
    first = STUDY.runs[0].spec
    folder, id = RunFolder(tmp_path / "runs" / first.id), uuid.uuid4().hex
    ours = f"curves.parquet.{id}.part"
    theirs = {"film.part", f"thesis.{id}.part", "lock.x.part"}  # only their owner knows these
    for name in (ours, *theirs):
        (folder.path / name).touch()
    with monkeypatch.context() as patch:
        patch.setattr(time, "sleep", lambda seconds: pytest.fail("it waits"))
        assert execute(Task(first, str(folder.path))).state == "busy"
        with pytest.raises(Busy), folder.locked():
            pass
    assert {path.name for path in folder.path.iterdir()} == {"lock", ours, *theirs}
    holder.kill()
    holder.wait()
    assert execute(Task(first, str(folder.path))).state == "finished"
    assert {path.name for path in folder.path.glob("*.part")} == theirs


def test_a_run_of_another_process_is_waited_for(
    holder, whole, bytes_of, tmp_path, monkeypatch, capsys
):
    """All others are carried out meanwhile; it is taken over when that process is killed."""
    waits = []
    first = RunFolder(tmp_path / "runs" / STUDY.runs[0].spec.id)
    (first.path / "holder").write_text("process 7 on here")

    def wait(seconds):
        waits.append(len(open_results(tmp_path).finished))
        if len(waits) == 3:
            holder.kill()
            holder.wait()

    monkeypatch.setattr(sweep, "time", SimpleNamespace(sleep=wait))
    results = run(STUDY, tmp_path, executor="serial")
    assert capsys.readouterr().err == "waiting for process 7 on here; runs left: 1\n"
    assert waits == [7, 7, 7]
    assert len(results.finished) == 8
    for r in STUDY.runs:
        assert bytes_of(results.folder.of(r).path) == whole(r.spec)


def test_what_another_process_has_finished_is_not_run_again(holder, whole, tmp_path, monkeypatch):
    mine = RunFolder(tmp_path / "runs" / STUDY.runs[0].spec.id)
    theirs = whole(STUDY.runs[0].spec)

    def wait(seconds):
        for name in sorted(theirs, key="result.json".__eq__):  # written last
            (mine.path / name).write_bytes(theirs[name])
        holder.kill()
        holder.wait()

    monkeypatch.setattr(sweep, "time", SimpleNamespace(sleep=wait))
    assert len(run(STUDY, tmp_path, executor="serial").finished) == 8
    assert {path.name for path in mine.path.iterdir()} == {"lock", *theirs}  # no environment


def test_what_a_kill_leaves_in_a_study_is_removed_at_the_next_start(whole, bytes_of, tmp_path):
    """Also in runs that have finished: a kill may come between their results and the rest."""
    results = run(STUDY, tmp_path, executor="serial")
    paths = [results.folder.of(r).path for r in STUDY.runs]
    for name in ("checkpoint.parquet", "progress", "failure.json", "holder"):
        (paths[0] / name).write_text("0")
    (paths[1] / f"result.json.{'9' * 32}.part").touch()
    (tmp_path / f"study.toml.{'b' * 32}.part").touch()
    run(STUDY, tmp_path, executor="serial")
    for r, path in zip(STUDY.runs, paths, strict=True):
        assert bytes_of(path) == whole(r.spec)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["runs", "study.toml"]


def test_the_temporary_folder_of_a_killed_process_is_removed(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    alive, kept = run(STUDY, executor="serial"), tmp_path / "optimist-my_study"
    (kept / "runs").mkdir(parents=True)
    (kept / "study.toml").touch()  # a folder that somebody has called like that
    script = (
        "import os, signal, optimist as opt; from optimist.experiments.temporary import *;"
        "path, _ = temporary_folder(); (path / 'study.toml').touch();"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", script], env=environment, check=False)
    assert len(list(tmp_path.iterdir())) == 3
    again = run(STUDY, executor="serial")
    left = {alive.folder.path, again.folder.path, kept}
    assert set(tmp_path.iterdir()) == left
    del again
    gc.collect()
    assert set(tmp_path.iterdir()) == {alive.folder.path, kept}


def test_a_run_names_the_process_that_holds_it(tmp_path):
    """Until it ends, even if it fails."""
    folder = RunFolder(tmp_path / "run")
    with folder.locked():
        assert folder.holder == f"process {os.getpid()} on {socket.gethostname()}"
        (folder.path / "holder").write_text("\x1b[2Jprocess 1 on here")
        assert folder.holder == "another process"
    for _ in range(2):  # the lock was given back
        assert [path.name for path in folder.path.iterdir()] == ["lock"]
        with pytest.raises(ZeroDivisionError), folder.locked():
            raise ZeroDivisionError


# Watching


@pytest.fixture
def tally(run_folders, tmp_path):
    """A tally of a study of eight runs in an empty folder, and a clock that is set by hand."""
    clock = SimpleNamespace(now=100.0)
    folder, paths = StudyFolder(tmp_path), run_folders(STUDY, tmp_path)
    for path in paths:
        path.mkdir(parents=True)

    def count():
        return watch.Tally(STUDY, folder, clock=lambda: clock.now)

    return SimpleNamespace(count=count, clock=clock, paths=paths)


def test_episodes_and_runs_are_counted(tally):
    found = tally.count()
    assert (found.finished, found.runs, found.done, found.total) == (0, 8, 0, 8000)
    assert found.seconds_left is None
    assert str(found).startswith("0/8 runs, 0%, starting")
    (tally.paths[0] / "progress").write_text("400")
    (tally.paths[1] / "progress").write_text("600")
    tally.clock.now += 10
    found.look()
    assert (found.finished, found.done, found.seconds_left) == (0, 1000, None)  # it was compiled
    assert str(found) == "0/8 runs, 12%"
    for path in tally.paths[:3]:
        (path / "result.json").touch()
    (tally.paths[0] / "progress").unlink()
    tally.clock.now += 30
    found.look()
    found.look()
    assert (found.finished, found.done) == (3, 3000)
    # Two processes spent 60 s on three runs of different kinds, which gained 600, 400 and 1000.
    pace = (20 / 600 + 20 / 400 + 20 / 1000) / 3
    assert found.seconds_left == pytest.approx(5000 * pace / 2)
    assert str(found) == "3/8 runs, 38%, about 1 min left"
    for path in tally.paths:
        (path / "result.json").touch()
    found.look()
    assert (found.finished, found.done, found.seconds_left) == (8, 8000, 0)
    assert str(found) == "8/8 runs, 100%, about 0 s left"


def test_the_pace_is_that_of_this_sweep_not_of_those_before(tally):
    for path in tally.paths[:4]:
        (path / "result.json").touch()
    (tally.paths[4] / "progress").write_text("500")
    found = tally.count()
    tally.clock.now += 20
    (tally.paths[4] / "progress").write_text("600")
    found.look()
    assert found.seconds_left is None
    tally.clock.now += 40
    (tally.paths[4] / "result.json").touch()
    found.look()
    assert found.seconds_left == pytest.approx(40 * 3000 / 400)


def test_times_in_words():
    found = [watch.in_words(seconds) for seconds in (0, 59, 60, 3540, 3600)]
    assert found == ["0 s", "59 s", "1 min", "59 min", "1 h 0 min"]


def test_lines_where_there_is_no_terminal(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(watch, "LINE_SECONDS", 0.1)
    printed, begin = "", time.monotonic()
    with watch.watching(STUDY, StudyFolder(tmp_path)):
        while printed.count("\n") < 3 and time.monotonic() < begin + 300:
            time.sleep(0.01)
            printed += capsys.readouterr().err
    assert 3 <= printed.count("\n") <= (time.monotonic() - begin) / 0.1
    assert all(line.startswith("0/8 runs, 0%") for line in printed.splitlines())


def test_the_end_of_the_block_ends_the_watching(tmp_path, capsys):
    """At once, also after an error; nothing is printed before the first line is due."""
    threads, begin = threading.active_count(), time.monotonic()
    with watch.watching(STUDY, StudyFolder(tmp_path)):
        time.sleep(0.1)
    with pytest.raises(ZeroDivisionError), watch.watching(STUDY, StudyFolder(tmp_path)):
        raise ZeroDivisionError
    assert threading.active_count() == threads
    assert time.monotonic() - begin < watch.LINE_SECONDS
    assert capsys.readouterr() == ("", "")


@pytest.mark.skipif(os.name != "posix", reason="terminals as on POSIX")
def test_a_bar_in_a_terminal_that_goes_away(tmp_path, monkeypatch):
    import pty

    folder = RunFolder(StudyFolder(tmp_path).of(STUDY.runs[0]).path)
    folder.path.mkdir(parents=True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "150")
    for name in ("NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(watch, "LOOK_SECONDS", 0.02)
    ours, theirs = pty.openpty()
    os.set_blocking(ours, False)
    shown, end = "", time.monotonic() + 300

    def read():
        time.sleep(0.01)
        try:
            return os.read(ours, 100_000).decode()
        except BlockingIOError:
            return ""

    with os.fdopen(theirs, "w") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        with watch.watching(STUDY, StudyFolder(tmp_path)):
            while "starting" not in shown and time.monotonic() < end:
                shown += read()
            (folder.path / "progress").write_text("800")
            while "10%" not in shown and time.monotonic() < end:
                shown += read()
        shown += read()
    os.close(ours)
    assert "0/8 runs, 0%, starting" in shown
    assert "0/8 runs, 10% " in shown
    end = shown[shown.rindex("runs,") :]
    assert re.search(r"\x1b\[1A\x1b\[2K$", end), repr(end)  # back up, and the line is wiped
