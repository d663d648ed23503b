"""How kernels are compiled: cached on disk, and again whenever a file that they use has changed.

Numba's cache notices a changed function but not a changed callee in another file. The folder of the
cache is therefore named after a digest of the function's package and of core: its kernels may use
whatever is in these two.
"""

import os
from collections.abc import Callable
from functools import cache, wraps
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core import event
from numba.core.types import unliteral

from optimist.core.frame import frame
from optimist.digests import digest
from optimist.display.notebook import announce

F = TypeVar("F", bound=Callable[..., Any])

CORE = Path(__file__).parent

ABOUT_SECONDS = 20
"""How long the first `learn` in a finite world compiles (docs/speed.md)."""


def cache_folder(package: Path = CORE, *used: Path) -> Path:
    """Where the compiled code of a package is kept, which uses itself and others.

    It is below NUMBA_CACHE_DIR if that is set, else beside the source; if nothing can be written
    there, in the user's folder of caches, XDG_CACHE_HOME or ~/.cache.
    """
    files = [file for folder in (package, *used) for file in sorted(folder.glob("*.py"))]
    above, beside = os.environ.get("NUMBA_CACHE_DIR"), package / "__pycache__"
    if not above and not _can_write(beside):
        users = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        above = str(Path(users) / "optimist")
    return Path(above or beside) / f"kernels-{digest(*(file.read_bytes() for file in files))[:16]}"


def _can_write(folder: Path) -> bool:
    """Whether files can be made in a folder, or the folder itself."""
    place = folder if folder.exists() else folder.parent
    return place.is_dir() and os.access(place, os.W_OK)


@cache
def _folder_of(package: Path) -> str:
    return str(cache_folder(*dict.fromkeys((package, CORE))))


class _Announcement(event.Listener):
    """Says once that code is being compiled: what the cache has is not."""

    said = False

    def on_start(self, event: Any) -> None:
        function = event.data["dispatcher"].py_func
        if self.said or not function.__module__.startswith("optimist."):
            return
        self.said = True
        folder = _folder_of(Path(function.__code__.co_filename).parent)
        announce(f"Compiling, once: about {ABOUT_SECONDS} s; kept in {folder}")

    def on_end(self, event: Any) -> None:
        pass


events: Any = event
events.register("numba:compile", _Announcement())


def compiled(**options: Any) -> Callable[[F], F]:
    """Compile a function when it is first called, and keep the result on disk.

    Divisions by zero are infinite or nan, as in NumPy: no loop tests for them.

    A function is optimised once by itself and again in every function that calls it, whatever lies
    between. So chains of calls are short, and functions with one caller are `inlined`. It is
    compiled once for all whole numbers, not again for each that is written in a call.
    """

    def decorate(function: F) -> F:
        settings: Any = numba.config
        how: Any = {"cache": True, "error_model": "numpy", "no_cfunc_wrapper": True}
        folder = _folder_of(Path(function.__code__.co_filename).parent)
        before, settings.CACHE_DIR = settings.CACHE_DIR, folder
        try:  # numba reads the folder once, when a function is decorated
            made: Any = numba.njit(**how, **options)(function)
        finally:
            settings.CACHE_DIR = before
        template = made.get_call_template
        made.get_call_template = lambda given, named: template(map(unliteral, given), named)
        return cast(F, made)

    return decorate


def entry_point(function: F) -> F:
    """Compile a function that Python calls, which takes named tuples as frames.

    It holds no lock of the interpreter, so that an interruption is heard meanwhile.
    """
    made: Any = compiled(nogil=True)(function)

    @wraps(function)
    def call(*given: Any) -> Any:
        return made(*[frame(value) if isinstance(value, tuple) else value for value in given])

    return cast(F, call)


def inlined(function: F) -> F:
    """Put the body of a function in the place of each call from compiled code."""
    made: Any = numba.njit(inline="always")(function)
    return cast(F, made)
