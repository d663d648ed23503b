"""A run that was begun on another kind of processor is gone on with, and says so."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from optimist import Rmax, envs
from optimist.experiments import Specification
from optimist.experiments.curves import read_curves
from optimist.experiments.execute import Task, execute

BEGIN = """
import json, os, sys
from optimist.experiments.execute import Specification, Task, execute

saved = 0


def leave_after_two_checkpoints(event, arguments):
    global saved
    if event == "os.rename" and str(arguments[1]).endswith("agent.safetensors"):
        saved += 1
        if saved == 3:
            os._exit(7)


sys.addaudithook(leave_after_two_checkpoints)
data, *rest = json.loads(sys.argv[1])
execute(Task(Specification.from_plain(data), *rest))
"""

CAR = envs.Gym("MountainCar-v0", features="rbf:4")


@pytest.fixture(scope="module")
def elsewhere():
    """The variables of another processor; compiled code stays, since compiling takes a minute."""
    path = Path(__file__).parents[1] / "other_processor.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    compiled = {"NUMBA_CPU_NAME", "NUMBA_CACHE_DIR"}
    return {name: text for name, text in module.environment().items() if name not in compiled}


@pytest.mark.parametrize("name", ["linear", "pairs", "played"])
def test_a_run_goes_on_here(name, specs, elsewhere, tmp_path):
    played = Specification(CAR, Rmax.Config(), 8, stride=1, seed=0)
    spec = played if name == "played" else specs[name]
    task = Task(spec, str(tmp_path / "moved"), checkpoint_seconds=0)
    command = [sys.executable, "-c", BEGIN, json.dumps([spec.plain, *task[1:]])]
    assert subprocess.run(command, env={**os.environ, **elsewhere}, check=False).returncode == 7
    execute(task)
    there, here = json.loads((tmp_path / "moved" / "environment.json").read_text())
    assert there["processor"] != here["processor"]
    assert {**there, "processor": ""} == {**here, "processor": ""}
    execute(task._replace(folder=str(tmp_path / "stayed")))
    moved, stayed = (
        read_curves(tmp_path / f / "curves.parquet", spec.id) for f in ("moved", "stayed")
    )
    for column, values in stayed.items():
        np.testing.assert_allclose(moved[column], values, rtol=1e-7, atol=1e-9, err_msg=column)
