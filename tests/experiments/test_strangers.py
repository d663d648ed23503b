"""Folders that somebody else made: they show nothing false, and lead nowhere else."""

import itertools
import os
import shutil

import pytest

from optimist import Rmax, envs
from optimist.cli import BAD_INPUT, OK, SOME_FAILED, main
from optimist.errors import DamageWarning, FileError
from optimist.experiments import Study, open_results, run
from optimist.experiments.curves import read_curves, write_curves
from optimist.experiments.toml import write_toml

STUDY = Study({"river": envs.RiverSwim(4)}, {"R-max": Rmax}, episodes=4, stride=2, seeds=2)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    out = tmp_path_factory.mktemp("finished") / "out"
    run(STUDY, out, executor="serial")
    return out


@pytest.fixture
def out(finished, tmp_path):
    """A folder in which everything has finished."""
    return shutil.copytree(finished, tmp_path / "out")


@pytest.fixture
def runs(out, run_folders):
    return run_folders(STUDY, out)


def swap(one, other):
    between = one.with_name("between")
    one.rename(between)
    other.rename(one)
    between.rename(other)


# Damaged files, and those of other runs


@pytest.mark.parametrize("name", ["curves.parquet", "result.json"])
def test_swapped_numbers_are_refused_and_run_anew(name, out, runs, whole, bytes_of, capsys):
    swap(*(path / name for path in runs))
    assert main(["report", str(out)]) == BAD_INPUT
    damaged = [f"optimist: R-max in river, seed {i}, is damaged: {runs[i] / name}" for i in (0, 1)]
    *lines, last = capsys.readouterr().err.splitlines()
    assert all(line.startswith(start) for line, start in zip(lines, damaged, strict=True))
    assert f"no run of {out} has finished" in last
    assert main(["resume", str(out), "--jobs", "1"]) == OK
    for line in capsys.readouterr().err.splitlines():
        assert f"{name} is of the run" in line
    assert [bytes_of(path) for path in runs] == [whole(r.spec) for r in STUDY.runs]


def test_damaged_numbers_of_one_run(out, runs, capsys):
    data = (runs[0] / "curves.parquet").read_bytes()
    (runs[0] / "curves.parquet").write_bytes(data[:-1])
    with pytest.warns(DamageWarning, match=r"curves\.parquet holds no curves, or it is damaged"):
        assert [r.index for r in open_results(out).finished] == [1]
    assert main(["report", str(out)]) == SOME_FAILED
    assert main(["compare", str(out), "--json"]) == SOME_FAILED
    page = (out / "report.html").read_text()
    assert "1 run is damaged." in page
    assert "seed 0: <code>" in page
    assert "Traceback" not in capsys.readouterr().err


def test_signed_curves_that_are_not_those_of_the_run(out, runs):
    file, id = runs[0] / "curves.parquet", runs[0].name
    curves = read_curves(file, id)
    for changed in (
        {name: column[:-1] for name, column in curves.items()},
        {name: column for name, column in curves.items() if name != "regret"},
        {**curves, "regret": curves["regret"].astype("int64")},
        {**curves, "steps": curves["steps"].astype("float64")},
        {**curves, "suboptimality": curves["suboptimality"] * float("nan")},
    ):
        write_curves(file, changed, id)
        with pytest.warns(DamageWarning, match="its rows do not match the run"):
            assert len(open_results(out).finished) == 1


@pytest.mark.parametrize("how", ["missing", "swapped"])
def test_snapshots_cost_their_picture_only(how, out, runs, capsys):
    files = [path / "snapshots.safetensors" for path in runs]
    swap(*files) if how == "swapped" else files[0].unlink()
    assert main(["report", str(out)]) == SOME_FAILED
    with pytest.warns(DamageWarning, match=r"snapshots\.safetensors"):
        data = open_results(out).data
    (world,) = data.worlds
    assert (world.seeds, world.picture.runs) == (2, ())
    assert main(["resume", str(out), "--jobs", "1"]) == OK
    assert main(["report", str(out)]) == OK


def test_small_damage_costs_its_part_of_the_page(out, runs, capsys):
    (runs[1] / "result.json").unlink()
    for garbage in ("{", "3", "[3]", '[{"cpu": 3}]', "[" * 100_000, '"\x1b[31m"'):
        (runs[0] / "environment.json").write_text(garbage)
        (runs[1] / "failure.json").write_text(garbage)
        assert main(["report", str(out)]) == SOME_FAILED
        told = capsys.readouterr()
        assert "environment.json is damaged" in told.err
        assert "\x1b" not in told.err
        with pytest.warns(DamageWarning):
            data = open_results(out).data
        assert data.failures[0].message == "unknown: failure.json is damaged"
        assert data.worlds[0].seeds == 1


# Links


@pytest.mark.parametrize("name", ["study.toml", "runs", "id", "curves.parquet", "lock", "progress"])
def test_nothing_is_read_or_written_through_a_link(name, out, runs, tmp_path, capsys):
    inside = {"study.toml": out / name, "runs": out / name, "id": runs[0]}.get(name, runs[0] / name)
    elsewhere = tmp_path / "elsewhere"
    if not inside.exists():
        inside.write_text("17")
    shutil.move(inside, elsewhere)
    inside.symlink_to(elsewhere)
    if name in ("lock", "progress"):
        (runs[0] / "result.json").unlink()
    before = tree(elsewhere)
    commands = [["resume", str(out), "--jobs", "1"]]
    commands += [["report", str(out)]] if name not in ("lock", "progress") else []
    for command in commands:
        assert main(command) in (BAD_INPUT, SOME_FAILED)
        assert f"{inside} must not be a symbolic link" in capsys.readouterr().err
    assert tree(elsewhere) == before


def tree(path):
    files = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())
    return {file: file.read_bytes() for file in files}


def test_a_pipe_is_not_waited_for(out, runs):
    (runs[0] / "result.json").unlink()
    os.mkfifo(runs[0] / "result.json")
    with pytest.raises(FileError, match="must be a file; it is something else"):
        _ = open_results(out).finished


def test_figures_stay_in_the_folder(out, tmp_path, capsys):
    (tmp_path / "elsewhere").mkdir()
    (out / "figures").symlink_to(tmp_path / "elsewhere")
    assert main(["report", str(out), "--png"]) == BAD_INPUT
    assert list((tmp_path / "elsewhere").iterdir()) == []


# Names


def test_names_are_text(tmp_path, capsys):
    names = ("[bold]river[/red]", "$x_$ :smile:", "_under <b>")
    study = Study(
        {names[0]: envs.RiverSwim(4)}, {names[1]: Rmax, names[2]: Rmax.Config(visits=2)}, 4
    )
    (tmp_path / "study.toml").write_text(study.text)
    out = str(tmp_path / "out")
    assert main(["sweep", str(tmp_path / "study.toml"), "--out", out, "--jobs", "1"]) == OK
    assert main(["compare", out]) == OK
    told = capsys.readouterr()
    assert all(told.out.count(name) >= 2 for name in names)
    assert main(["report", out, "--pdf"]) == OK


def test_names_that_are_not_seen_are_refused(tmp_path, capsys):
    study = tmp_path / "study.toml"
    text = """
        title = "look"
        worlds."river" = {world = "RiverSwim", episodes = 4}
        agents."bold" = {agent = "Rmax"}
    """
    hidden = ("a\x1b[31mb", "a\u202eb", "a\u200bb", "a\nb", "a\x7fb")
    for usual, name in itertools.product(("river", "bold", "look"), hidden):
        written = write_toml({"x": name}).removeprefix("x = ").strip()
        study.write_text(text.replace(f'"{usual}"', written))
        assert main(["sweep", str(study), "--out", str(tmp_path / "out")]) == BAD_INPUT
        (sentence,) = capsys.readouterr().err.splitlines()
        assert "must be text that can be seen; got" in sentence
        assert "line" in sentence
        assert sentence.isprintable()


def test_errors_are_printable(tmp_path, capsys):
    (tmp_path / "study.toml").write_text('title = "\x1b[31m"\n')
    assert main(["sweep", str(tmp_path / "study.toml")]) == BAD_INPUT
    assert main(["report", str(tmp_path / "a\x1b]0;b\x07")]) == BAD_INPUT
    assert "\x1b" not in capsys.readouterr().err
