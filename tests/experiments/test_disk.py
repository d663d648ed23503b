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

from optimist import Rmax, envs
from optimist.agents import VariantAgent
from optimist.cli import DISK, main
from optimist.errors import FailureWarning
from optimist.experiments import DiskError, Study, open_results, run
from optimist.experiments.curves import read_curves, write_curves
from optimist.experiments.execute import Task, execute
from optimist.experiments.run_folder import RunFolder
from optimist.experiments.study import named

STUDY = Study({"river": envs.RiverSwim(4)}, {"R-max": Rmax}, episodes=4, stride=2, seeds=1)
MORE = Study({"river": envs.RiverSwim(4)}, {"R-max": Rmax}, episodes=4, stride=2, seeds=2)


NUMBERS = [
    getattr(errno, name) for name in ("ENOSPC", "EDQUOT", "EFBIG", "EACCES", "EPERM", "EROFS")
]


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
            run(STUDY, out, executor="serial", checkpoint_seconds=0)
            break
        except DiskError as error:
            told = str(error)
        assert str(out) in told
        assert told.endswith(f"cannot be written: {os.strerror(number)}")
        failing(None, 0)
        results = run(STUDY, out, executor="serial", checkpoint_seconds=0)
        assert results.failures == {}
        assert bytes_of(results.folder.of(STUDY.runs[0]).path) == whole(STUDY.runs[0].spec), n
    assert n > 25


def test_a_full_disk_does_not_touch_what_has_finished(
    failing, whole, bytes_of, run_folders, tmp_path
):
    run(STUDY, tmp_path, executor="serial")
    done, new = run_folders(MORE, tmp_path)
    before = {path: path.stat().st_mtime_ns for path in done.iterdir()}
    failing(new, 8)
    with pytest.raises(DiskError, match=f"{new} cannot be written: No space left on device"):
        run(MORE, tmp_path, executor="serial")
    assert {path: path.stat().st_mtime_ns for path in done.iterdir()} == before
    assert not RunFolder(new).finished
    assert len(open_results(tmp_path).finished) == 1
    failing(None, 0)
    run(MORE, tmp_path, executor="serial")
    assert [bytes_of(path) for path in (done, new)] == [whole(r.spec) for r in MORE.runs]


def test_what_does_not_fit_is_no_failure_of_the_run(failing, run_folders, tmp_path):
    """Even if a note of the failure would still have fitted."""
    (folder,) = run_folders(STUDY, tmp_path)
    for number in NUMBERS:
        failing(folder / "checkpoint", 1, number)
        with pytest.raises(DiskError, match=f"{folder} cannot be written: {os.strerror(number)}"):
            run(STUDY, tmp_path, executor="serial")
        assert RunFolder(folder).failure is None


def limited(size):
    """Files of at most so many bytes, by the system's own limit."""
    resource = pytest.importorskip("resource")
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def test_a_write_that_really_fails(optimist, complaints, whole, bytes_of, run_folders, tmp_path):
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
    assert bytes_of(run_folders(STUDY, tmp_path / "out")[0]) == whole(STUDY.runs[0].spec)
    with optimist("resume", tmp_path / "out", "--jobs", 1) as resume:
        _, errors = resume.communicate(timeout=600)
    assert (resume.returncode, complaints(errors)) == (0, [])
    for study in (STUDY, large):
        for r, path in zip(study.runs, run_folders(study, tmp_path / "out"), strict=True):
            assert bytes_of(path) == whole(r.spec)


# Folders that cannot be


def test_a_file_where_a_folder_should_be(run_folders, tmp_path, capsys):
    study, out = tmp_path / "study.toml", tmp_path / "out"
    study.write_text(STUDY.text)
    for file in (out, out / "runs", *run_folders(STUDY, out)):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
        with pytest.raises(DiskError, match=r"out.* cannot be written: (Not a dir|File exists)"):
            run(STUDY, out, jobs=1)
        assert main(["sweep", str(study), "--out", str(out), "--jobs", "1"]) == DISK
        (sentence,) = capsys.readouterr().err.splitlines()
        assert sentence.startswith("optimist: ")
        file.unlink()
        assert len(run(STUDY, out, jobs=1).finished) == 1
        shutil.rmtree(out)


def test_a_folder_that_may_not_be_written(whole, bytes_of, run_folders, tmp_path):
    out = tmp_path / "out"
    (folder,) = run_folders(STUDY, out)
    for locked, made in [(out, folder), (out / "runs", out / "runs"), (folder, folder)]:
        made.mkdir(parents=True)
        locked.chmod(0o555)
        if os.access(locked, os.W_OK):
            pytest.skip("root writes anywhere")
        try:
            with pytest.raises(DiskError, match="cannot be written: Permission denied"):
                run(STUDY, out, jobs=1)
        finally:
            locked.chmod(0o755)
        run(STUDY, out, jobs=1)
        assert bytes_of(folder) == whole(STUDY.runs[0].spec)
        shutil.rmtree(out)


def test_an_error_that_is_not_of_the_disk_is_a_failure_of_its_run(failing, run_folders, tmp_path):
    first, second = run_folders(MORE, tmp_path)
    failing(first / "checkpoint", 1, errno.EIO)
    with pytest.warns(FailureWarning, match="1 of 2 runs failed"):
        results = run(MORE, tmp_path, executor="serial", checkpoint_seconds=0)
    assert [results.folder.of(r).path for r in results.finished] == [second]
    (message,) = results.failures.values()
    assert message.startswith("OSError: [Errno 5] Input/output error")


def test_a_folder_that_is_taken_away_from_a_run(tmp_path, monkeypatch):
    def forget(agent):
        shutil.rmtree(tmp_path / "runs", ignore_errors=True)

    monkeypatch.setattr(Rmax, "forget", forget, raising=False)
    with pytest.raises(DiskError, match="cannot be written: No such file or directory"):
        run(STUDY, tmp_path, executor="serial")


# Damaged files


@pytest.fixture
def spec(specs):
    return specs["river"]


@pytest.fixture
def interrupted(spec, tmp_path, monkeypatch):
    """The folder of a run that was stopped half way; each call makes a new one."""
    usual = VariantAgent.learn

    def learn(agent, episodes, **options):
        if agent.episodes >= 4:
            raise KeyboardInterrupt
        return usual(agent, episodes, **options)

    def stopped(spec=spec):
        folder = tmp_path / spec.id
        with monkeypatch.context() as patch:
            patch.setattr(VariantAgent, "learn", learn)
            with pytest.raises(KeyboardInterrupt):
                execute(Task(spec, str(folder), checkpoint_seconds=0))
        return folder

    return stopped


@pytest.fixture
def resumed(spec, tmp_path):
    """Go on with a copy of a folder in which some files are replaced; the copy, and the message."""

    def carried_out(folder, files):
        copy = tmp_path / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(folder, copy)
        for name, data in files.items():
            (copy / name).write_bytes(data)
        return copy, execute(Task(spec, str(copy))).message

    return carried_out


CHECKPOINT = ("agent.safetensors", "checkpoint.parquet", "snapshots.safetensors")


def test_an_interrupted_run_goes_on(interrupted, resumed, spec, whole, bytes_of):
    """So that what follows is the fault of the damage."""
    folder = interrupted()
    assert set(CHECKPOINT) <= {path.name for path in folder.iterdir()}
    copy, message = resumed(folder, {})
    assert (bytes_of(copy), message) == (whole(spec), "")


@pytest.mark.parametrize("name", CHECKPOINT)
def test_a_damaged_checkpoint_is_refused(interrupted, resumed, spec, name, whole, bytes_of):
    """It is cut short, empty, garbage, or of another run; the run begins anew."""
    folder, other = interrupted(), interrupted(replace(spec, seed=17))
    data = (folder / name).read_bytes()
    for damaged, said in [
        (data[: len(data) // 2], ".* damaged"),
        (b"", ".* damaged"),
        (bytes(len(data)), ".* damaged"),
        ((other / name).read_bytes(), " (is of the run|belongs to another)"),
    ]:
        copy, message = resumed(folder, {name: damaged})
        assert re.search(name + said, message)
        assert bytes_of(copy) == whole(spec)


@pytest.mark.parametrize("name", CHECKPOINT)
def test_no_byte_of_a_checkpoint_can_be_altered(interrupted, resumed, spec, name, whole, bytes_of):
    """It is refused and the run begins anew, or it has no influence."""
    folder = interrupted()
    data = (folder / name).read_bytes()
    for at in np.linspace(0, len(data) - 1, 40).astype(int):
        changed = data[:at] + bytes([data[at] ^ 0x15]) + data[at + 1 :]
        copy, _ = resumed(folder, {name: changed})
        assert bytes_of(copy) == whole(spec), at


def test_curves_that_end_before_their_agent_are_refused(interrupted, resumed, spec):
    folder = interrupted()
    curves = read_curves(folder / "checkpoint.parquet", spec.id)
    shorter = {name: column[:-1] for name, column in curves.items()}
    write_curves(folder / "checkpoint.parquet", shorter, spec.id)
    assert "the curves end before the agent's checkpoint" in resumed(folder, {})[1]


def test_rows_later_than_the_agent_are_dropped(interrupted, resumed, spec, whole, bytes_of):
    """An interrupted checkpoint leaves such rows; the run is resumed, and does not restart."""
    folder = interrupted()
    curves = read_curves(folder / "checkpoint.parquet", spec.id)
    longer = {name: np.append(column, column[-1:]) for name, column in curves.items()}
    longer["episode"][-1] += spec.stride
    write_curves(folder / "checkpoint.parquet", longer, spec.id)
    copy, message = resumed(folder, {})
    assert (bytes_of(copy), message) == (whole(spec), "")


def test_garbage_that_does_not_matter_is_replaced(interrupted, resumed, spec, whole, bytes_of):
    folder = interrupted()
    before = RunFolder(folder).environments
    for garbage in (b"[{\xff", b"{}", b"[3]", b'[{"cpu": 3}]', b"[" * 100_000):
        files = dict.fromkeys(("environment.json", "specification.json"), garbage)
        copy, _ = resumed(folder, files)
        assert RunFolder(copy).environments == before
        assert bytes_of(copy) == whole(spec)


def test_a_run_whose_checkpoint_is_damaged_begins_anew(run_folders, tmp_path, capsys):
    damaged, sound = run_folders(MORE, tmp_path)
    damaged.mkdir(parents=True)
    (damaged / "agent.safetensors").write_bytes(b"?")
    (tmp_path / "study.toml").write_text(MORE.text)
    assert main(["resume", str(tmp_path), "--jobs", "1", "--json"]) == 0
    told = capsys.readouterr()
    assert json.loads(told.out)["finished"] == 2
    (sentence,) = told.err.splitlines()
    assert sentence.startswith(f"optimist: {named(MORE.runs[0])}, restarts: {damaged}")
    assert RunFolder(sound).finished
