"""The folder of the compiler's cache depends on the content of every file of core."""

import io
import os
import shutil
import subprocess
import sys
from pathlib import Path

from optimist.core.compiler import CORE, cache_folder
from optimist.display.notebook import announce


def test_any_change_of_core_is_another_folder(tmp_path, monkeypatch):
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    copy = tmp_path / "core"
    shutil.copytree(CORE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    assert cache_folder(copy) == copy / "__pycache__" / cache_folder().name
    names = {cache_folder(copy).name}
    files = sorted(copy.glob("*.py"))
    for file in files:
        file.write_text(file.read_text() + "#")
        names.add(cache_folder(copy).name)
    assert len(names) == len(files) + 1
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "elsewhere"))
    assert cache_folder(copy).parent == tmp_path / "elsewhere"


def test_where_nothing_can_be_written_the_cache_is_the_users(tmp_path, monkeypatch):
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    package = tmp_path / "package"
    package.mkdir()
    assert cache_folder(package).parent == package / "__pycache__"
    (package / "__pycache__").write_text("a file in the place of the folder")
    assert cache_folder(package).parent == tmp_path / "caches" / "optimist"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder(package).parent == Path.home() / ".cache" / "optimist"


COLD = """
import logging, sys
logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stdout)
from optimist.core.linalg import dot
import numpy as np
for _ in range(2):
    print(dot(np.ones(3), np.ones(3)))
"""


def test_compiling_is_announced_once_and_not_if_the_cache_has_it(tmp_path):
    where = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    run = [sys.executable, "-c", COLD]
    first, again = (
        subprocess.run(run, env=where, capture_output=True, text=True, check=True).stdout.split(
            "\n"
        )
        for _ in range(2)
    )
    assert first[0].startswith("Compiling, once: about")
    assert str(tmp_path) in first[0]
    assert first[1:] == again == ["3.0", "3.0", ""]


def test_announcements_are_seen_in_a_terminal(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stderr", Terminal())
    announce("Compiling")
    assert sys.stderr.getvalue() == "Compiling\n"


def test_a_package_that_uses_core_has_a_folder_of_its_own(tmp_path):
    """Its kernels depend on its own files, among them enums that they compare with, and on core."""
    package, core = tmp_path / "package", tmp_path / "core"
    for folder in (package, core):
        folder.mkdir()
        (folder / "kernels.py").write_text("x = 1\n")
    names = {cache_folder(package, core).name}
    for folder in (package, core):
        (folder / "kernels.py").write_text("x = 2\n")
        names.add(cache_folder(package, core).name)
    assert len(names) == 3


def test_kernels_outside_core_are_kept_by_the_digest_of_their_own_package():
    from optimist.imitation.loop import project

    package = CORE.parent / "imitation"
    assert project.stats.cache_path.startswith(str(cache_folder(package, CORE)))
