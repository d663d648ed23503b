"""Ctrl-C ends the command line with a line and its exit code, whenever it comes."""

import os
import signal
import subprocess
import sys
import time

import pytest

# It prints the name of each module that is looked for, and waits there for the interruption.
STOP_AT = """
import sys, time

class At:
    def find_spec(self, name, path=None, target=None):
        if name == MODULE:
            print("here", flush=True)
            time.sleep(600)

sys.meta_path.insert(0, At())
"""


@pytest.mark.skipif(os.name != "posix", reason="signals as on POSIX")
@pytest.mark.parametrize("module", ["gymnasium", "tyro", "optimist.cli.learn", "numba"])
def test_an_interruption_while_modules_are_imported(module, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(f"MODULE = {module!r}\n{STOP_AT}")
    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
    words = ["learn", "RiverSwim", "--episodes", "1000000", "--jobs", "2"]
    with subprocess.Popen(
        [sys.executable, "-m", "optimist", *words],
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # Tests that run in the background of a shell are told to ignore it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:
        assert process.stdout.readline() == "here\n"
        time.sleep(0.1)  # until it sleeps
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=300)
    assert process.returncode == 130, errors
    assert len(errors.strip().splitlines()) == 1, errors
    assert "interrupted" in errors
