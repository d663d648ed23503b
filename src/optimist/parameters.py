"""Frozen dataclasses as plain data and back: what TOML and JSON hold of a world or an agent.

Plain data are texts, numbers, booleans and tables of them. A dataclass among the parameters of
another is a table with its ``kind``, or that name alone; the kind of the configuration of an agent
is the agent's name. Infinity is ``inf`` in TOML and the text "inf" in JSON; None, which TOML does
not have, is the text "none".
"""

import difflib
import math
import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from optimist.errors import DataError

Plain = dict[str, Any]

_hints: Callable[..., dict[str, Any]] = cache(get_type_hints)  # a study reads a class many times


def to_plain(instance: Any) -> Plain:
    """The parameters of a dataclass as plain data.

    Examples
    --------
    >>> from optimist import envs, imitation
    >>> to_plain(envs.RiverSwim(6))
    {'n': 6, 'gamma': 0.99}
    >>> to_plain(imitation.FraIL.Config())["player"]
    {'kind': 'Optimist', 'r_max': 1.0, 'v_max': 'none', 'delta': 'none'}
    """
    types_of = _types_of(type(instance))
    for f in fields(instance):
        if f.name not in types_of and callable(getattr(instance, f.name)):
            raise DataError((f.name,), f"{f.name} is a function: it cannot be written as data")
    plain = {name: plain_value(getattr(instance, name), t) for name, t in types_of.items()}
    others = _others(type(instance))
    for name, value in getattr(instance, others, {}).items():
        _refuse_unless_plain(value, (name,))
        plain[name] = value
    return plain


def _others(kind: type[Any]) -> str:
    """The name of the field that collects all other parameters; empty if there is none."""
    return next((f.name for f in fields(kind) if f.metadata.get("others")), "")


def _refuse_unless_plain(value: Any, path: tuple[str, ...]) -> None:
    parts = {str(i): v for i, v in enumerate(value)} if isinstance(value, list) else value
    if isinstance(parts, dict):
        for key, part in parts.items():
            _refuse_unless_plain(part, (*path, str(key)))
    elif type(value) not in (str, int, float, bool):
        name = ".".join(path)
        raise DataError(
            path,
            f"{name} must be text, a number, a boolean, or a list or dict of them; got {value!r}",
        )


def _types_of(kind: type[Any]) -> dict[str, Any]:
    """The parameters of a dataclass that are plain data, and their types."""
    hints = _hints(kind)
    return {f.name: hints[f.name] for f in fields(kind) if f.metadata.get("plain", True)}


def kind_of(kind: type[Any]) -> str:
    """The name of a dataclass in plain data."""
    return kind.__name__.removesuffix("Config")


def plain_value(value: Any, wanted: Any) -> Any:
    """A parameter as plain data: equal parameters are the same text, 1 for 1.0 or -0.0 for 0.0."""
    if is_dataclass(value):
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
    title, types_of = name or kind_of(kind), _types_of(kind)
    given = {}
    for key, value in data.items():
        if key not in types_of and _others(kind):
            given[key] = value
            continue
        if key not in types_of:
            message = f"{title} has no parameter {key!r}: {did_you_mean(key, types_of)}"
            raise DataError((*path, key), message)
        given[key] = from_plain_value(types_of[key], value, (*path, key))
    missing = [f.name for f in fields(kind) if _needed(f) and f.name not in given]
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


def _needed(field: Field[Any]) -> bool:
    return field.default is field.default_factory is MISSING


def from_plain_value(wanted: Any, value: Any, path: tuple[str, ...]) -> Any:
    """A plain value as the type of its parameter."""
    options = _options(wanted)
    if type(None) in options and isinstance(value, str) and value.lower() == "none":
        return None
    classes = {kind_of(o): o for o in options if isinstance(o, type) and is_dataclass(o)}
    if classes and isinstance(value, str | Mapping):
        table = {"kind": value} if isinstance(value, str) else dict(value)
        chosen = table.pop("kind", None)
        if not chosen:
            raise DataError(path, f"{path[-1]} needs a kind: one of {', '.join(classes)}")
        if not isinstance(chosen, str) or chosen not in classes:
            hint = did_you_mean(str(chosen), classes, "there are")
            raise DataError(path, f"{path[-1]} must be one of its kinds; got {chosen!r}: {hint}")
        return from_plain(classes[chosen], table, path)
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if float in options and (number or value in ("inf", "-inf")):
        try:
            return float(value)
        except OverflowError:
            raise DataError(path, f"{path[-1]} = {str(value)[:20]}... is too large") from None
    if type(value) in options or value in options:
        return value
    raise DataError(path, f"{path[-1]} must be {_in_words(options)}; got {value!r}")


def _options(wanted: Any) -> tuple[Any, ...]:
    """The classes that a type allows, and the values of a Literal."""
    if get_origin(wanted) in (Union, types.UnionType):
        return tuple(option for part in get_args(wanted) for option in _options(part))
    return get_args(wanted) if get_origin(wanted) is Literal else (wanted,)


def _in_words(options: Iterable[Any]) -> str:
    words = {float: "a number", int: "a whole number", bool: "true or false", str: "text"}
    words[type(None)] = '"none"'
    return " or ".join(words.get(o, getattr(o, "__name__", repr(o))) for o in options)


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
