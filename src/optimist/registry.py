"""Names of classes: shipped ones, ``module:Class``, and entry points of packages that extend us.

Code is never imported because a file names it. A module is trusted if it is imported already, if
it was given to `import_trusted`, or if an installed package declares it as an entry point.
"""

import inspect
import sys
from collections.abc import Iterable, Mapping
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from optimist.digests import digest
from optimist.errors import DataError, StudyError
from optimist.parameters import did_you_mean

DIGITS = 16
"""Length of the digests of sources and arrays."""


def import_trusted(modules: str | Iterable[str]) -> None:
    """Import modules whose code is trusted, for the classes and environments in them."""
    for name in [modules] if isinstance(modules, str) else modules:
        try:
            import_module(name)
        except Exception as error:  # any error of the module's code
            said = f"{type(error).__name__}: {error}"
            raise StudyError(f"the module {name!r} cannot be imported: {said}") from error


class Registry:
    """The classes of one kind by name.

    Parameters
    ----------
    kind
        Their name in messages.
    shipped
        The classes of this library.
    groups
        The groups of entry points in which packages declare theirs.

    Examples
    --------
    >>> from optimist.envs import WORLDS
    >>> worlds = Registry("world", WORLDS, ("optimist.worlds",))
    >>> worlds.find("RiverSwim").__name__, worlds.name_of(worlds.find("RiverSwim"))
    ('RiverSwim', 'RiverSwim')
    """

    def __init__(self, kind: str, shipped: Mapping[str, Any], groups: tuple[str, ...]) -> None:
        self.kind, self.shipped, self.groups = kind, dict(shipped), groups

    @property
    def names(self) -> list[str]:
        """The names of shipped classes and of entry points."""
        return list(dict.fromkeys([*self.shipped, *(e.name for e in _entry_points(self.groups))]))

    def find(self, name: Any, path: tuple[str, ...] = ()) -> Any:
        """The class of a name; a `DataError` with this path if there is none."""
        if isinstance(name, str) and name in self.shipped:
            return self.shipped[name]
        if (entry := self.declared(name)) is not None:
            return _load(entry, path)
        if isinstance(name, str) and is_reference(name):
            return locate(name, path)
        hint = did_you_mean(str(name), self.names, "there are")
        own = "one of your own is named module:Class"
        raise DataError(path, f"there is no {self.kind} {name!r}: {hint}; {own}")

    def knows(self, name: Any) -> bool:
        """Whether the class of a name is there, without importing anything."""
        return isinstance(name, str) and (name in self.shipped or is_there(name))

    def declared(self, name: Any) -> EntryPoint | None:
        """The entry point of a name, or of ``module:Class``."""
        found = (e for e in _entry_points(self.groups) if name in (e.name, e.value))
        return next(found, None)

    def name_of(self, kind: Any) -> str:
        """The name of a class: as it is shipped, or as ``module:Class``."""
        for name, shipped in self.shipped.items():
            if kind is shipped:
                return name
        return origin(kind)


def is_reference(name: str) -> bool:
    """Whether a name is ``module:Class``.

    Examples
    --------
    >>> is_reference("my_pkg.worlds:Ring"), is_reference("RiverSwim"), is_reference("gym:Taxi-v4")
    (True, False, False)
    """
    module, colon, attribute = name.partition(":")
    parts = (*module.split("."), *attribute.split("."))
    return bool(colon) and all(part.isidentifier() for part in parts)


def locate(name: str, path: tuple[str, ...] = ()) -> Any:
    """What ``module:Class`` names, if its module is imported."""
    module, _, attribute = name.partition(":")
    found = sys.modules.get(module)
    if module == "__main__" and not hasattr(found, attribute.partition(".")[0]):
        raise DataError(path, f"{name!r} was defined in a script or notebook: run that again")
    if found is None:
        raise DataError(
            path,
            f"{name!r} needs the module {module}, which is not imported: if you trust it, give "
            f"--import {module} on the command line, or trust=[{module!r}] in Python",
        )
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise DataError(path, f"the module {module} has no {attribute!r}")
        found = getattr(found, part)
    return found


def is_there(name: str) -> bool:
    """Whether ``module:Class`` names something that is imported."""
    try:
        return is_reference(name) and locate(name) is not None
    except DataError:
        return False


def origin(thing: Any) -> str:
    """Where a class or function came from, as ``module:name``.

    Examples
    --------
    >>> origin(Registry)
    'optimist.registry:Registry'
    """
    return f"{thing.__module__}:{thing.__qualname__}"


def is_ours(thing: Any) -> bool:
    """Whether a class or function is part of this library."""
    return str(thing.__module__).partition(".")[0] == "optimist"


def source_digest(thing: Any) -> str:
    """A digest of the source of a class or function, and of its bases outside this library.

    Where there is no source, as in an interactive session, it is one of the compiled code.
    """
    own = [thing, getattr(thing, "Config", thing), *getattr(thing, "__mro__", ())]
    parts = dict.fromkeys(one for one in own if one is not object and not is_ours(one))
    return digest("\n".join(_source(part) for part in parts))[:DIGITS]


def _source(thing: Any) -> str:
    if isinstance(thing, type):
        try:
            return inspect.getsource(thing)
        except (OSError, TypeError):  # a class of a notebook has no file, but its methods have one
            members = sorted((n, v) for n, v in vars(thing).items() if not isinstance(v, type))
            return "\n".join(f"{name} {_source(value)}" for name, value in members)
    function = inspect.unwrap(getattr(thing, "__func__", getattr(thing, "fget", thing)))
    code = getattr(function, "__code__", None)
    if code is None:
        return repr(thing) if isinstance(thing, str | int | float | tuple) else ""
    try:
        return inspect.getsource(function)
    except OSError:
        return _code(code)


def _code(code: Any) -> str:
    """Compiled code as text that does not depend on where it lies in memory."""
    consts = [
        _code(c)
        if hasattr(c, "co_code")
        else repr(sorted(map(repr, c)) if isinstance(c, frozenset) else c)
        for c in code.co_consts
    ]
    return f"{code.co_code.hex()} {consts} {code.co_names}"


def _entry_points(groups: tuple[str, ...]) -> list[EntryPoint]:
    return [entry for group in groups for entry in entry_points(group=group)]


def _load(entry: EntryPoint, path: tuple[str, ...]) -> Any:
    try:
        return entry.load()
    except Exception as error:  # any error of the package's code
        said = f"{type(error).__name__}: {error}"
        raise DataError(path, f"{entry.value} cannot be loaded: {said}") from error
