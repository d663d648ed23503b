"""Exit codes, outputs that cannot be written, and readers that close their end of a pipe."""

import os
import subprocess
import sys
from dataclasses import replace

import pytest

import optimist as opt
from optimist.cli import BAD_INPUT, DISK, OK, SOME_FAILED


def command(*words, **how):
    words = [sys.executable, "-m", "optimist", *map(str, words)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **how)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("agents",), OK),
        (("--help",), OK),
        (("report", "nowhere"), BAD_INPUT),
        (("compare", "damaged"), SOME_FAILED),
    ],
)
def test_a_closed_pipe_changes_no_exit_code(words, code, done, study):
    if "damaged" in words:
        run = opt.open_results(done).finished[0]
        (done / "runs" / run.spec.id / "curves.parquet").write_bytes(b"nothing")
        done.rename(study.parent / "damaged")
    with command(*words, cwd=study.parent) as process:
        process.stdout.close()
        errors = process.stderr.read().decode()
    assert process.returncode == code
    assert "Traceback" not in errors
    assert "Error" not in errors
    with command(*words, cwd=study.parent) as process:
        process.stdout.close()
        process.stderr.close()
    assert process.returncode == code


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a full device")
def test_a_full_disk_is_reported():
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "optimist", "agents"], stdout=full, stderr=subprocess.PIPE
        )
    assert done.returncode == DISK
    assert done.stderr.decode() == "optimist: [Errno 28] No space left on device\n"


def test_an_output_that_cannot_be_written_is_noticed_before_the_work(
    optimist, done, tmp_path, monkeypatch
):
    monkeypatch.setattr("optimist.experiments.sweep.execute", None)
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    learn, last = ("learn", "RiverSwim"), ("--jobs", 1)
    for words, code, sentence in [
        ((*learn, "--policy", "no/p"), BAD_INPUT, "cannot write no/p: there is no folder no"),
        ((*learn, "--policy", "folder"), BAD_INPUT, "cannot write folder: it is a folder"),
        ((*learn, "--out", "file"), DISK, "file cannot be written"),
        ((*learn, "--tensorboard", "file/logs"), DISK, "file is not a folder"),
        (("sweep", "quick", "--out", "file/runs"), DISK, "cannot be written"),
    ]:
        found, out, err = optimist(*words, *last)
        assert (found, out) == (code, ""), words
        assert sentence in err
    assert optimist("report", done, "--out", "no/report.html")[0] == BAD_INPUT

    def refuse(*a, **b):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.TemporaryFile", refuse)
    for words in ((*learn, "--policy", "p", *last), ("report", done, "--out", "here.html")):
        found, out, err = optimist(*words)
        assert (found, out) == (DISK, "")
        assert "Permission denied" in err


def test_a_missing_extra_is_a_sentence_with_its_command(refused, monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorboardX", None)
    monkeypatch.setitem(sys.modules, "distributed", None)
    learn = ("learn", "RiverSwim", "--episodes", 3)
    refused(
        [
            ((*learn, "--tensorboard", "logs"), "pip install 'optimist[tensorboard]'"),
            ((*learn, "--executor", "dask"), "pip install 'optimist[dask]'"),
        ]
    )


def test_a_quick_look_is_kept_with_its_runs(as_json, study):
    look = ("sweep", study, "--seeds", 2, "--episodes", 30, "--out", "look", "--jobs", 1)
    assert as_json(*look)["finished"] == 8
    usual, kept = opt.Study.read(study), opt.open_results("look").study
    assert kept.runs == replace(usual, seeds=2, episodes=30, stride=None).runs
    assert (kept.numbers, set(kept.lengths.values())) == ((0, 1), {30})
    assert (kept.title, kept.configurations) == (usual.title, usual.configurations)
    run = opt.open_results("look").finished[0]
    (study.parent / "look" / "runs" / run.spec.id / "result.json").unlink()
    assert as_json("resume", "look", "--jobs", 1)["finished"] == 8
    assert len(list((study.parent / "look" / "runs").glob("*/result.json"))) == 8
