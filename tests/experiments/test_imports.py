"""A study may name a module of somebody else: it is imported only if one says so."""

import sys

import gymnasium
import numpy as np
import pytest

from optimist import envs, open_results, run
from optimist.cli import BAD_INPUT, OK, main
from optimist.errors import StudyError
from optimist.experiments import Study
from optimist.experiments.execute import Task, execute

MODULE = "somebodys_cars"

STUDY = f"""
episodes = 2
seeds = 1
[worlds.car]
world = "Gym"
id = "{MODULE}:TheirCar-v0"
features = "tiles:4"
low = -1
high = 0
[agents.bold]
agent = "Rmax"
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A module that leaves a mark when it is imported; how often it was, and how to forget it."""
    mark = tmp_path / "mark"
    (tmp_path / f"{MODULE}.py").write_text(
        f"import gymnasium\n"
        f"with open({str(mark)!r}, 'a') as mark:\n    mark.write('x')\n"
        "gymnasium.register('TheirCar-v0', max_episode_steps=20,\n"
        "    entry_point='gymnasium.envs.classic_control:MountainCarEnv')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)

    def forget():
        sys.modules.pop(MODULE, None)
        gymnasium.registry.pop("TheirCar-v0", None)

    yield lambda: len(mark.read_text()) if mark.exists() else 0, forget
    forget()


def test_only_running_imports_and_only_if_asked(module, tmp_path, capsys):
    imported, forget = module
    (tmp_path / "cars.toml").write_text(STUDY)
    sweep = ["sweep", "cars.toml", "--out", "out", "--jobs", "1"]
    assert main(sweep) == BAD_INPUT
    (sentence,) = capsys.readouterr().err.splitlines()
    assert f"--import {MODULE}" in sentence
    assert imported() == 0
    assert main([*sweep, "--import", MODULE]) == OK
    assert imported() == 1
    forget()
    assert main(["report", "out", "--png"]) == OK
    assert main(["compare", "out"]) == OK
    assert main(["resume", "out"]) == OK
    results = open_results("out")
    (world,) = results.data.worlds
    assert world.actions == 3
    np.testing.assert_allclose(world.picture.axes, [[-1.2, 0.6], [-0.07, 0.07]], rtol=1e-6)
    assert imported() == 1
    (results.folder.of(results.finished[0]).path / "result.json").unlink()
    capsys.readouterr()
    assert main(["resume", "out", "--jobs", "1"]) == BAD_INPUT
    (sentence,) = capsys.readouterr().err.splitlines()
    assert f"--import {MODULE}" in sentence
    assert imported() == 1
    (results.folder.of(results.finished[0]).path / "agent.safetensors").unlink()
    assert main(["resume", "out", "--jobs", "1", "--import", MODULE]) == OK
    assert imported() == 2


def test_in_python(module, tmp_path):
    imported, forget = module
    study = Study.parse(STUDY)
    with pytest.raises(StudyError, match=rf"trust=\['{MODULE}'\]"):
        run(study, jobs=1)
    with pytest.raises(StudyError, match="which is not imported"):
        study.worlds["car"].make()
    assert imported() == 0
    assert len(run(study, jobs=1, trust=MODULE).finished) == 1
    forget()
    spec = study.runs[0].spec
    task = Task(spec, str(tmp_path / spec.id), trust=(MODULE,))  # as a new worker is told
    assert execute(task).state == "finished"
    assert imported() == 2
    with pytest.raises(StudyError, match="'no_such_module' cannot be imported: ModuleNotFound"):
        run(study, trust=["no_such_module"])


def test_toy_text_imports_nothing_either(module):
    with pytest.raises(ValueError, match=f"--import {MODULE}"):
        envs.ToyText(f"{MODULE}:TheirCar-v0")
    assert module[0]() == 0
