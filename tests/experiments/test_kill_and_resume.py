"""Killed at any moment and gone on with, a run gives the same bytes."""

import os
import random
import signal
import time
from dataclasses import replace

import pytest

from optimist import RmaxRaviUcb, envs
from optimist.experiments import Study, open_results
from optimist.experiments.execute import Task, execute

KILLS = 20


def resumed(spec, folder):
    assert execute(Task(spec, str(folder), checkpoint_seconds=0)).state == "finished"


@pytest.mark.usefixtures("hasty_disk")
@pytest.mark.parametrize("name", ["river", "linear"])  # with snapshots, and without
def test_a_kill_before_every_change_of_the_folder(name, specs, start, whole, bytes_of, tmp_path):
    """Not one moment between two writes is left out."""
    spec = specs[name]
    for n in range(1, 100):
        folder = tmp_path / str(n)
        first = start(spec, folder, at=n)
        if first.state == "finished":
            break
        assert first.state == "killed", first.message
        resumed(spec, folder)
        assert bytes_of(folder) == whole(spec), n
    assert n > 30


@pytest.mark.usefixtures("hasty_disk")
def test_a_kill_at_random_moments(specs, start, whole, bytes_of, tmp_path):
    rng = random.Random(0)
    long = [replace(spec, episodes=spec.stride * 200) for spec in specs.values()]
    lives = [start(spec, tmp_path / spec.id).seconds for spec in long]
    kills = 0
    for attempt in range(5 * KILLS):
        at = attempt % len(long)
        spec, folder = long[at], tmp_path / str(attempt)
        first = start(spec, folder, after=rng.uniform(0, lives[at]))
        if first.state == "finished":  # the machine is faster than it was
            lives[at] = min(lives[at], first.seconds)
            continue
        assert first.state == "killed", first.message
        resumed(spec, folder)
        assert bytes_of(folder) == whole(spec)
        kills += 1
        if kills == KILLS:
            return
    pytest.fail(f"only {kills} of the runs were killed before their end")


@pytest.mark.parametrize("name", ["grid", "anytime", "posterior", "noise", "certified"])
def test_many_kills_in_a_row(name, specs, start, whole, bytes_of, tmp_path):
    spec, rng = specs[name], random.Random(1)
    for kills in range(50):
        if start(spec, tmp_path / "run", at=15 * kills + rng.randrange(1, 15)).state == "finished":
            break
    assert kills > 3
    assert bytes_of(tmp_path / "run") == whole(spec)


def test_a_sweep_killed_with_its_workers(optimist, complaints, whole, bytes_of, tmp_path):
    study = Study(
        worlds={"short": envs.RiverSwim(6), "long": envs.DeepSea(4)},
        agents={"twice": RmaxRaviUcb},
        episodes={"short": 40, "long": 40_000},
        seeds=1,
    )
    (tmp_path / "study.toml").write_text(study.text)
    out = tmp_path / "out"
    short, long = (out / "runs" / r.spec.id for r in study.runs)
    arguments = ("sweep", tmp_path / "study.toml", "--out", out, "--jobs", 2)
    with optimist(*arguments, start_new_session=True) as sweep:
        deadline = time.monotonic() + 600
        while not ((short / "result.json").exists() and (long / "agent.safetensors").exists()):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        os.killpg(sweep.pid, signal.SIGKILL)
    assert sweep.returncode == -signal.SIGKILL
    with optimist("resume", out) as resume:
        _, errors = resume.communicate(timeout=600)
    assert (resume.returncode, complaints(errors)) == (0, [])
    for r in study.runs:
        assert bytes_of(open_results(out).folder.of(r).path) == whole(r.spec)
