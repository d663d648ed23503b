"""Frozen dataclasses as plain data and back: what TOML and JSON hold of a world or an agent.

Plain data are texts, numbers, booleans and tables of them. A dataclass among the parameters of
another is a table with its ``kind``, or that name alone; the kind of the configuration of an agent
is the agent's name. Infinity is ``inf`` in TOML and the text "inf" in JSON; None, which TOML does
not have, is the text "none".
"""

import dataclasses
import difflib
import math
import types
from collections.abc import Iterable, Mapping
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from optimist.errors import DataError

Plain = dict[str, Any]


def to_plain(instance: Any) -> Plain:
    """The parameters of a dataclass as plain data.

    Examples
    --------
    >>> from optimist import envs, imitation
    >>> to_plain(envs.RiverSwim(6))
    {'n': 6, 'gamma': 0.99}
    >>> to_plain(imitation.FraIL.Config())["player"]
    {'kind': 'Optimist', 'r_max': 1.0, 'v_max': 'none'}
    """
    types_of = get_type_hints(type(instance))
    found = {}
    for f in dataclasses.fields(instance):
        value = getattr(instance, f.name)
        if f.metadata.get("plain", True):
            found[f.name] = plain_value(value, types_of[f.name])
        elif callable(value):
            raise DataError((f.name,), f"{f.name} is a function: it cannot be written as data")
    return found


def kind_of(kind: type[Any]) -> str:
    """The name of a dataclass in plain data."""
    return kind.__name__.removesuffix("Config")


def plain_value(value: Any, wanted: Any) -> Any:
    """A parameter as plain data: equal parameters are the same text, 1 for 1.0 or -0.0 for 0.0."""
    if dataclasses.is_dataclass(value):
        return {"kind": kind_of(type(value)), **to_plain(value)}
    if value is None:
        return "none"
    if isinstance(value, np.generic):
        value = value.item()
    if float in _options(wanted) and not isinstance(value, bool):
        value = float(value) + 0.0
    if isinstance(value, float) and math.isinf(value):
        return str(value)
    return value


def from_plain(
    kind: type[Any],
    data: Mapping[str, Any],
    path: tuple[str, ...] = (),
    name: str = "",
) -> Any:
    """The dataclass of plain data. Parameters that are not given have their default values.

    Errors name the key by its ``path`` from the top, and the dataclass by ``name``.

    Examples
    --------
    >>> from optimist import envs
    >>> from_plain(envs.RiverSwim, {"n": 20})
    RiverSwim(n=20, gamma=0.99)
    >>> from_plain(envs.RiverSwim, {"gama": 0.9})
    Traceback (most recent call last):
    ...
    optimist.errors.DataError: RiverSwim has no parameter 'gama': did you mean
    'gamma'? It has n, gamma
    """
    title = name or kind_of(kind)
    names = [f.name for f in dataclasses.fields(kind) if f.metadata.get("plain", True)]
    types_of = get_type_hints(kind)
    given = {}
    for key, value in data.items():
        if key not in names:
            message = f"{title} has no parameter {key!r}: {did_you_mean(key, names)}"
            raise DataError((*path, key), message)
        given[key] = from_plain_value(types_of[key], value, (*path, key))
    missing = [f.name for f in dataclasses.fields(kind) if _needed(f) and f.name not in given]
    if missing:
        raise DataError(path, f"{title} needs {' and '.join(missing)}")
    try:
        return kind(**given)
    except MemoryError as error:
        raise DataError(path, str(error) or f"{title} is too large for this machine") from error
    except (ValueError, TypeError) as error:
        # A message that begins with a parameter's name is about that parameter.
        about = [n for n in given if str(error).startswith((f"{n} ", f"{n}[", f"{n}:"))]
        raise DataError((*path, *about[:1]), f"{title}: {error}") from error


def _needed(field: dataclasses.Field[Any]) -> bool:
    return field.default is field.default_factory is dataclasses.MISSING


def from_plain_value(wanted: Any, value: Any, path: tuple[str, ...]) -> Any:
    """A plain value as the type of its parameter."""
    options = _options(wanted)
    if type(None) in options and isinstance(value, str) and value.lower() == "none":
        return None
    classes = {kind_of(o): o for o in options if _is_dataclass(o)}
    if classes and isinstance(value, str | Mapping):
        table = {"kind": value} if isinstance(value, str) else dict(value)
        chosen = table.pop("kind", None)
        if not isinstance(chosen, str) or chosen not in classes:
            if not chosen:
                raise DataError(path, f"{path[-1]} needs a kind: one of {', '.join(classes)}")
            hint = did_you_mean(str(chosen), classes, "there are")
            raise DataError(path, f"{path[-1]} must be one of its kinds; got {chosen!r}: {hint}")
        return from_plain(classes[chosen], table, path)
    if float in options and value in ("inf", "-inf"):
        return float(value)
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if float in options and number:
        try:
            return float(value)
        except OverflowError:
            raise DataError(path, f"{path[-1]} = {str(value)[:20]}... is too large") from None
    if any(type(value) is option for option in options) or value in _literals(options):
        return value
    raise DataError(path, f"{path[-1]} must be {_in_words(options)}; got {value!r}")


def _options(wanted: Any) -> tuple[Any, ...]:
    return get_args(wanted) if get_origin(wanted) in (Union, types.UnionType) else (wanted,)


def _literals(options: Iterable[Any]) -> list[Any]:
    return [value for o in options if get_origin(o) is Literal for value in get_args(o)]


def _is_dataclass(option: Any) -> bool:
    return isinstance(option, type) and dataclasses.is_dataclass(option)


def _in_words(options: Iterable[Any]) -> str:
    words = {float: "a number", int: "a whole number", bool: "true or false", str: "text"}
    words[type(None)] = '"none"'
    known = [words.get(o, getattr(o, "__name__", str(o))) for o in options if not _literals([o])]
    return " or ".join(known + [repr(value) for value in _literals(options)])


def did_you_mean(name: str, names: Iterable[str], listed: str = "it has") -> str:
    """The nearest of some names and a list of all, for the end of a sentence.

    Examples
    --------
    >>> did_you_mean("Riverswim", ["DeepSea", "RiverSwim"])
    "did you mean 'RiverSwim'? It has DeepSea, RiverSwim"
    """
    names = list(names)
    lower = {n.lower(): n for n in names}
    close = difflib.get_close_matches(name.lower(), lower, n=1, cutoff=0.5)
    if not close:
        return f"{listed} {', '.join(names)}"
    listed = listed[0].upper() + listed[1:]
    return f"did you mean {lower[close[0]]!r}? {listed} {', '.join(names)}"
