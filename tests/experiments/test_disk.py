"""A full disk, a folder that cannot be written, damaged files: a sentence, and nothing is lost."""

import errno
import io
import json
import os
import re
import shutil
from dataclasses import replace

import numpy as np
import pytest

from optimist import Rmax, RmaxRaviUcb, envs
from optimist.cli import DISK, main
from optimist.errors import FailureWarning
from optimist.experiments import DiskError, Study, open_results, run
from optimist.experiments.curves import read_curves, write_curves
from optimist.experiments.execute import Task, execute
from optimist.experiments.run_folder import RunFolder
from optimist.experiments.study import named
from optimist.experiments.study_folder import StudyFolder

STUDY = Study({"river": envs.RiverSwim(4)}, {"R-max": Rmax}, episodes=4, stride=2, seeds=1)
MORE = Study({"river": envs.RiverSwim(4)}, {"R-max": Rmax}, episodes=4, stride=2, seeds=2)


NUMBERS = [
    getattr(errno, name) for name in ("ENOSPC", "EDQUOT", "EFBIG", "EACCES", "EPERM", "EROFS")
]


def folders(study, out):
    return [StudyFolder(out).of(r).path for r in study.runs]


@pytest.fixture
def failing(monkeypatch):
    """From its n-th change on a folder cannot be changed, until it is repaired."""
    state = {"folder": None, "left": 0, "number": 0}

    def checked(usual, changes):
        def call(path, *arguments, **options):
            broken = state["folder"] and str(path).startswith(state["folder"])
            if broken and changes(arguments):
                state["left"] -= 1
                if state["left"] <= 0:
                    raise OSError(state["number"], os.strerror(state["number"]), str(path))
            return usual(path, *arguments, **options)

        return call

    monkeypatch.setattr(os, "fsync", lambda handle: None)
    opens = checked(os.open, lambda arguments: arguments[0] & (os.O_WRONLY | os.O_RDWR))
    monkeypatch.setattr(os, "open", opens)
    monkeypatch.setattr(io, "open", checked(io.open, lambda arguments: "w" in arguments[0]))
    for name in ("replace", "mkdir", "unlink"):
        monkeypatch.setattr(os, name, checked(getattr(os, name), lambda arguments: True))

    def fail(folder, left, number=errno.ENOSPC):
        state.update(folder=str(folder) if folder else None, left=left, number=number)

    return fail


def test_a_disk_that_fails_at_any_change_loses_nothing(failing, whole, bytes_of, tmp_path):
    for n in range(1, 100):
        out, number = tmp_path / str(n), NUMBERS[n % len(NUMBERS)]
        failing(out, n, number)
        try:
            run(STUDY, out, engine="serial", checkpoint_seconds=0)
            break
        except DiskError as error:
            told = str(error)
        assert str(out) in told
        assert told.endswith(f"cannot be written: {os.strerror(number)}")
        failing(None, 0)
        results = run(STUDY, out, engine="serial", checkpoint_seconds=0)
        assert results.failures == {}
        assert bytes_of(results.folder.of(STUDY.runs[0]).path) == whole(STUDY.runs[0].spec), n
    assert n > 25


def test_a_full_disk_does_not_touch_what_has_finished(failing, whole, bytes_of, tmp_path):
    run(STUDY, tmp_path, engine="serial")
    done, new = folders(MORE, tmp_path)
    before = {path: path.stat().st_mtime_ns for path in done.iterdir()}
    failing(new, 8)
    with pytest.raises(DiskError, match=f"{new} cannot be written: No space left on device"):
        run(MORE, tmp_path, engine="serial")
    assert {path: path.stat().st_mtime_ns for path in done.iterdir()} == before
    assert not RunFolder(new).finished
    assert len(open_results(tmp_path).finished) == 1
    failing(None, 0)
    run(MORE, tmp_path, engine="serial")
    assert [bytes_of(path) for path in (done, new)] == [whole(r.spec) for r in MORE.runs]


@pytest.mark.parametrize("number", NUMBERS)
def test_what_does_not_fit_is_no_failure_of_the_run(failing, number, tmp_path):
    """Even if a note of the failure would still have fitted."""
    (folder,) = folders(STUDY, tmp_path)
    failing(folder / "checkpoint", 1, number)
    with pytest.raises(DiskError, match=f"{folder} cannot be written: {os.strerror(number)}"):
        run(STUDY, tmp_path, engine="serial")
    assert RunFolder(folder).failure is None


def limited(size):
    """Files of at most so many bytes, by the system's own limit."""
    resource = pytest.importorskip("resource")
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def test_a_write_that_really_fails(optimist, complaints, whole, bytes_of, tmp_path):
    """Earlier runs are kept, and the sweep goes on when there is room again."""
    run(STUDY, tmp_path / "out", jobs=1)
    large = Study(
        {**STUDY.worlds, "sea": envs.DeepSea(4)}, STUDY.agents, episodes=400, stride=1, seeds=1
    )
    (tmp_path / "study.toml").write_text(large.text)
    arguments = ("sweep", tmp_path / "study.toml", "--out", tmp_path / "out", "--jobs", 2)
    with optimist(*arguments, preexec_fn=limited(4000)) as sweep:
        _, errors = sweep.communicate(timeout=600)
    assert sweep.returncode == DISK
    (sentence,) = complaints(errors)
    assert sentence.startswith(f"optimist: {tmp_path}")
    assert sentence.endswith("cannot be written: File too large")
    assert bytes_of(folders(STUDY, tmp_path / "out")[0]) == whole(STUDY.runs[0].spec)
    with optimist("resume", tmp_path / "out", "--jobs", 1) as resume:
        _, errors = resume.communicate(timeout=600)
    assert (resume.returncode, complaints(errors)) == (0, [])
    for study in (STUDY, large):
        for r, path in zip(study.runs, folders(study, tmp_path / "out"), strict=True):
            assert bytes_of(path) == whole(r.spec)


# Folders that cannot be


@pytest.mark.parametrize("name", ["out", "out/runs", "out/runs/run"])
def test_a_file_where_a_folder_should_be(name, tmp_path, capsys):
    out = tmp_path / "out"
    file = folders(STUDY, out)[0] if name.endswith("run") else tmp_path / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch()
    with pytest.raises(DiskError, match=r"out.* cannot be written: (Not a dir|File exists)"):
        run(STUDY, out, jobs=1)
    (tmp_path / "study.toml").write_text(STUDY.text)
    assert main(["sweep", str(tmp_path / "study.toml"), "--out", str(out), "--jobs", "1"]) == DISK
    (sentence,) = capsys.readouterr().err.splitlines()
    assert sentence.startswith("optimist: ")
    file.unlink()
    assert len(run(STUDY, out, jobs=1).finished) == 1


@pytest.mark.parametrize("which", ["study", "runs", "run"])
def test_a_folder_that_may_not_be_written(which, whole, bytes_of, tmp_path):
    out = tmp_path / "out"
    run_folder = folders(STUDY, out)[0]
    run_folder.mkdir(parents=True)
    locked = {"study": out, "runs": out / "runs", "run": run_folder}[which]
    if which == "runs":
        run_folder.rmdir()
    locked.chmod(0o555)
    if os.access(locked, os.W_OK):
        pytest.skip("root writes anywhere")
    try:
        with pytest.raises(DiskError, match="cannot be written: Permission denied"):
            run(STUDY, out, jobs=1)
    finally:
        locked.chmod(0o755)
    run(STUDY, out, jobs=1)
    assert bytes_of(run_folder) == whole(STUDY.runs[0].spec)


def test_an_error_that_is_not_of_the_disk_is_a_failure_of_its_run(failing, tmp_path):
    first, second = folders(MORE, tmp_path)
    failing(first / "checkpoint", 1, errno.EIO)
    with pytest.warns(FailureWarning, match="1 of 2 runs failed"):
        results = run(MORE, tmp_path, engine="serial", checkpoint_seconds=0)
    assert [results.folder.of(r).path for r in results.finished] == [second]
    (message,) = results.failures.values()
    assert message.startswith("OSError: [Errno 5] Input/output error")


def test_a_folder_that_is_taken_away_from_a_run(tmp_path, monkeypatch):
    def forget(agent):
        shutil.rmtree(tmp_path / "runs", ignore_errors=True)

    monkeypatch.setattr(Rmax, "forget", forget, raising=False)
    with pytest.raises(DiskError, match="cannot be written: No such file or directory"):
        run(STUDY, tmp_path, engine="serial")


# Damaged files


@pytest.fixture
def interrupted(specs, tmp_path, monkeypatch):
    """The folder of a run that was stopped half way, and what goes on with it."""
    spec, usual = specs["river"], RmaxRaviUcb.learn

    def stopped(spec, folder):
        def learn(agent, episodes, **options):
            if agent.episodes >= 4:
                raise KeyboardInterrupt
            return usual(agent, episodes, **options)

        task = Task(spec.plain, str(folder), checkpoint_seconds=0)
        with monkeypatch.context() as patch:
            patch.setattr(RmaxRaviUcb, "learn", learn)
            with pytest.raises(KeyboardInterrupt):
                execute(task)
        return folder, lambda: execute(task)

    stopped.spec = spec
    return stopped


CHECKPOINT = ("agent.safetensors", "checkpoint.parquet", "snapshots.safetensors")


def test_an_interrupted_run_goes_on(interrupted, whole, bytes_of, tmp_path):
    """So that what follows is the fault of the damage."""
    folder, resume = interrupted(interrupted.spec, tmp_path / "run")
    assert set(CHECKPOINT) <= {path.name for path in folder.iterdir()}
    resume()
    assert bytes_of(folder) == whole(interrupted.spec)


@pytest.mark.parametrize("name", CHECKPOINT)
@pytest.mark.parametrize("damage", ["truncated", "empty", "garbage"])
def test_a_damaged_checkpoint_is_refused(interrupted, name, damage, whole, bytes_of, tmp_path):
    folder, resume = interrupted(interrupted.spec, tmp_path / "run")
    data = (folder / name).read_bytes()
    changed = {"truncated": data[: len(data) // 2], "empty": b"", "garbage": bytes(len(data))}
    (folder / name).write_bytes(changed[damage])
    assert re.search(rf"{name}.* damaged", resume().message)
    assert bytes_of(folder) == whole(interrupted.spec)  # begun anew


@pytest.mark.parametrize("name", CHECKPOINT)
def test_no_byte_of_a_checkpoint_can_be_altered(interrupted, name, whole, bytes_of, tmp_path):
    """It is refused and the run begins anew, or it has no influence."""
    folder, resume = interrupted(interrupted.spec, tmp_path / "run")
    data = (folder / name).read_bytes()
    for at in np.linspace(0, len(data) - 1, 40).astype(int):
        copy = tmp_path / f"{at}"
        shutil.copytree(folder, copy)
        (copy / name).write_bytes(data[:at] + bytes([data[at] ^ 0x15]) + data[at + 1 :])
        execute(Task(interrupted.spec.plain, str(copy)))
        assert bytes_of(copy) == whole(interrupted.spec), at
    resume()


@pytest.mark.parametrize("name", CHECKPOINT)
def test_a_checkpoint_of_another_run_is_refused(interrupted, name, tmp_path):
    folder, resume = interrupted(interrupted.spec, tmp_path / "run")
    other, _ = interrupted(replace(interrupted.spec, seed=17), tmp_path / "other")
    shutil.copy(other / name, folder / name)
    assert re.search(rf"{name} is of (the|another) run", resume().message)


def test_curves_that_end_before_their_agent_are_refused(interrupted, tmp_path):
    folder, resume = interrupted(interrupted.spec, tmp_path / "run")
    curves = read_curves(folder / "checkpoint.parquet", interrupted.spec.id)
    shorter = {name: column[:-1] for name, column in curves.items()}
    write_curves(folder / "checkpoint.parquet", shorter, interrupted.spec.id)
    assert "lacks curves up to its agent" in resume().message


@pytest.mark.parametrize("garbage", [b"[{\xff", b"{}", b"[3]", b'[{"cpu": 3}]', b"[" * 100_000])
def test_garbage_for_an_environment_is_replaced(interrupted, garbage, tmp_path):
    folder, resume = interrupted(interrupted.spec, tmp_path / "run")
    before = RunFolder(folder).environments
    (folder / "environment.json").write_bytes(garbage)
    resume()
    assert RunFolder(folder).environments == before


def test_a_damaged_specification_is_written_again(interrupted, whole, bytes_of, tmp_path):
    folder, resume = interrupted(interrupted.spec, tmp_path / "run")
    (folder / "specification.json").write_text("{")
    resume()
    assert bytes_of(folder) == whole(interrupted.spec)


def test_a_run_whose_checkpoint_is_damaged_begins_anew(tmp_path, capsys):
    damaged, sound = folders(MORE, tmp_path)
    damaged.mkdir(parents=True)
    (damaged / "agent.safetensors").write_bytes(b"?")
    (tmp_path / "study.toml").write_text(MORE.text)
    assert main(["resume", str(tmp_path), "--jobs", "1", "--json"]) == 0
    told = capsys.readouterr()
    assert json.loads(told.out)["finished"] == 2
    (sentence,) = told.err.splitlines()
    assert sentence.startswith(f"optimist: {named(MORE.runs[0])}, begins anew: {damaged}")
    assert RunFolder(sound).finished
