"""Functions that are compiled in several processes, each with what the cache has of the others."""

import os
import subprocess
import sys

MODULE = """
from optimist.core.compiler import apart, compiled, entry_point

@apart
def leaf(x: float) -> float:
    return x + 1.0

@compiled()
def middle(x: float) -> float:
    return 2.0 * leaf(x)

@entry_point
def outer(x: float) -> float:
    return middle(x) + 0.5
"""


def test_what_a_function_from_the_cache_calls_is_there_in_later_processes(tmp_path):
    """`outer` is compiled when `middle` comes from the cache, and then comes from it as well."""
    (tmp_path / "pieces.py").write_text(MODULE)
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    for call, found in (("middle", "4.0"), ("outer", "4.5"), ("outer", "4.5")):
        done = subprocess.run(
            [sys.executable, "-c", f"import pieces; print(pieces.{call}(1.0))"],
            cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stdout.strip()) == (0, found), done.stderr
