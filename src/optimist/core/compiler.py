# mypy: disable-error-code="no-untyped-call"
"""Compilation of kernels: cached on disk, repeated whenever a file that they use has changed.

Numba's cache notices a changed function but not a changed callee in another file. The folder of the
cache is therefore named after a digest of the function's package and of core: its kernels may use
whatever is in these two.
"""

import gc
import os
from collections.abc import Callable
from functools import cache, wraps
from importlib import import_module
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

import numba
from llvmlite import binding
from numba.core import cgutils, event
from numba.core.types import unliteral
from numba.extending import intrinsic

from optimist.core.frame import APART, address_of, call_function, frame
from optimist.digests import digest
from optimist.display.notebook import announce

F = TypeVar("F", bound=Callable[..., Any])

CORE = Path(__file__).parent

ABOUT_SECONDS = 10
"""How long the first `learn` in a finite world compiles (docs/results/speed.md)."""


def cache_folder(package: Path = CORE, *used: Path) -> Path:
    """The folder of the compiled code of a package.

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


class _Compiling(event.Listener):
    """Announces once that code is compiled, unless the cache has it.

    Meanwhile Python looks for no garbage: among the compiler's many objects there is little, and
    the search takes a fifth of its time.
    """

    said = False
    depth, collects = 0, False

    def on_start(self, event: Any) -> None:
        if self.depth == 0:
            self.collects = gc.isenabled()
            gc.disable()
        self.depth += 1
        function = event.data["dispatcher"].py_func
        if self.said or not function.__module__.startswith("optimist."):
            return
        self.said = True
        folder = _folder_of(Path(function.__code__.co_filename).parent)
        announce(f"Compiling, once: about {ABOUT_SECONDS} s; kept in {folder}")

    def on_end(self, event: Any) -> None:
        self.depth -= 1
        if self.depth == 0 and self.collects:
            gc.enable()


events: Any = event
events.register("numba:compile", _Compiling())


def compiled(**options: Any) -> Callable[[F], F]:
    """Compile a function when it is first called, and keep the result on disk.

    Divisions by zero are infinite or nan, as in NumPy: no loop tests for them.

    A function is optimised once by itself and again in every function that calls it, whatever lies
    between. So it is small; larger ones are compiled `apart`, and those with one caller `inlined`.
    It is compiled once for all whole numbers, not again for each that is written in a call.
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
        _remember_callees(made._cache)
        template = made.get_call_template
        made.get_call_template = lambda given, named: template(map(unliteral, given), named)
        return cast(F, made)

    return decorate


def _remember_callees(cache: Any) -> None:
    """Let code that comes from the cache name its callees to code that is compiled with it.

    Numba makes them known when that code is loaded, and forgets them for the functions that the
    code is then compiled into: from the cache these would call nothing.
    """
    load = cache.load_overload

    def load_overload(*given: Any) -> Any:
        found = load(*given)
        if found is not None:
            found.library._reload_init.update(found.reload_init)
        return found

    cache.load_overload = load_overload


class _Callee(NamedTuple):
    """A function that is compiled apart, for arguments of these types."""

    module: str
    function: str
    kinds: tuple[Any, ...]

    def __call__(self) -> None:
        """Make it known to the code that calls it, before that is loaded."""
        import_module(self.module)
        binding.add_symbol(self.symbol, address_of(APART[self.module, self.function], self.kinds))

    @property
    def symbol(self) -> str:
        """Its name among all symbols, the same in every process."""
        return f"{self.module}.{self.function}.{digest(repr(self.kinds))[:12]}"


def apart(function: F) -> F:
    """Compile a function by itself, once: those that call it do not optimise it again.

    Compiled code calls it as any other function, or through a frame; Python cannot.
    """
    made: Any = compiled(no_cpython_wrapper=True)(function)
    where = function.__module__, function.__name__
    APART[where] = made

    def call(_: Any, *given: Any) -> Any:
        callee = _Callee(*where, tuple(map(unliteral, given)))
        callee()

        def generate(context: Any, builder: Any, types: Any, values: Any) -> Any:
            kind = context.call_conv.get_function_type(types.return_type, types.args)
            there = cgutils.get_or_insert_function(builder.module, kind, callee.symbol)
            context.active_code_library._reload_init.add(callee)
            return call_function(context, builder, there, types, values)

        return made.overloads[callee.kinds].signature, generate

    given = signature(function).parameters.values()
    first = Parameter("_", Parameter.POSITIONAL_OR_KEYWORD)
    vars(call)["__signature__"] = Signature([first, *given])  # as numba reads it
    return cast(F, intrinsic(call))


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
