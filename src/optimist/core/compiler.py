"""How kernels are compiled: cached on disk, and again whenever any file of core has changed.

Numba's cache notices a changed function but not a changed callee in another file. The folder of the
cache is therefore named after a digest of all of core, and kernels may call each other freely.
"""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])

CORE = Path(__file__).parent


def cache_folder(core: Path = CORE) -> Path:
    """Where compiled code is kept: below NUMBA_CACHE_DIR if that is set, else beside the source."""
    sha = hashlib.sha256()
    for file in sorted(core.glob("*.py")):
        sha.update(file.read_bytes())
    above = os.environ.get("NUMBA_CACHE_DIR") or core / "__pycache__"
    return Path(above) / f"kernels-{sha.hexdigest()[:16]}"


_FOLDER = str(cache_folder())


def compiled(**options: Any) -> Callable[[F], F]:
    """Compile a function when it is first called, and keep the result on disk.

    Divisions by zero are infinite or nan, as in NumPy: no loop tests for them.
    Functions that take named tuples of arrays are `inlined` where they are called in loops: passing
    a tuple costs more than most of what they do.
    """

    def decorate(function: F) -> F:
        settings: Any = numba.config
        before, settings.CACHE_DIR = settings.CACHE_DIR, _FOLDER
        try:  # numba reads the folder once, when a function is decorated
            made: Any = numba.njit(cache=True, error_model="numpy", **options)(function)
        finally:
            settings.CACHE_DIR = before
        return cast(F, made)

    return decorate


def inlined(function: F) -> F:
    """Put the body of a function in the place of each call from compiled code."""
    made: Any = numba.njit(inline="always")(function)
    return cast(F, made)
