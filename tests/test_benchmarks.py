"""Benchmarks are run by hand: they must at least find all that they import."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]

LOAD = """
from importlib import import_module
for name in sys.argv[1:]:
    import_module(f"benchmarks.{name}")
import_module("benchmarks.engine").transcription().Transcription
"""


def test_every_benchmark_can_be_imported():
    names = sorted(path.stem for path in (ROOT / "benchmarks").glob("*.py"))
    assert "engine" in names
    command = [sys.executable, "-c", f"import sys{LOAD}", *names]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
