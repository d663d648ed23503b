"""Compiled code is compiled anew when any file of its room has changed.

The compiler's cache looks at the file of a function alone, and not at those it calls elsewhere.
"""

from pathlib import Path

import optimist

CORE = Path(optimist.__file__).parent / "core"


def pytest_configure(config):
    if hasattr(config, "workerinput"):  # the workers of a parallel run begin after this
        return
    changed = max(file.stat().st_mtime for file in CORE.glob("*.py"))
    for cached in CORE.glob("__pycache__/*.nb[ic]"):
        if cached.stat().st_mtime < changed:
            cached.unlink()
