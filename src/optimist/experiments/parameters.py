"""Frozen dataclasses as plain data and back: what TOML and JSON hold of a world or an agent.

Plain data are texts, numbers, booleans and tables of them. A dataclass among the parameters of
another is a table whose ``kind`` names it, or that name alone; infinity is ``inf`` in TOML and the
text "inf" in JSON, and nothing, which TOML cannot say, is the text "none".
"""

import dataclasses
import difflib
import math
import types
from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np

from optimist.errors import DataError

Plain = dict[str, Any]


def to_plain(instance: Any) -> Plain:
    """The parameters of a dataclass as plain data.

    Examples
    --------
    >>> from optimist import agents, envs
    >>> to_plain(envs.RiverSwim(6))
    {'n': 6, 'gamma': 0.99}
    >>> to_plain(agents.Configuration.practical())["ascension"]["kind"]
    'Sigmoid'
    """
    types_of = get_type_hints(type(instance))
    return {
        f.name: _plain(getattr(instance, f.name), types_of[f.name])
        for f in dataclasses.fields(instance)
    }


def _plain(value: Any, wanted: Any) -> Any:
    """A parameter as plain data: equal parameters are the same text, 1 for 1.0 or -0.0 for 0.0."""
    if dataclasses.is_dataclass(value):
        return {"kind": type(value).__name__, **to_plain(value)}
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
    """The dataclass of plain data. What is not given has its default value.

    Errors know the key by its ``path`` from the top, and call the dataclass by ``name``.

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
    title = name or kind.__name__
    names = [f.name for f in dataclasses.fields(kind)]
    types_of = get_type_hints(kind)
    given = {}
    for key, value in data.items():
        if key not in names:
            message = f"{title} has no parameter {key!r}: {did_you_mean(key, names)}"
            raise DataError((*path, key), message)
        given[key] = _convert(types_of[key], value, (*path, key))
    if not hasattr(kind, "default_for"):
        missing = [f.name for f in dataclasses.fields(kind) if _needed(f) and f.name not in given]
        if missing:
            raise DataError(path, f"{title} needs {' and '.join(missing)}")
    try:
        return _build(kind, given)
    except MemoryError as error:
        raise DataError(path, str(error) or f"{title} is too large for this machine") from error
    except (ValueError, TypeError) as error:
        # A message that begins with a parameter's name is about that parameter.
        about = [n for n in given if str(error).startswith((f"{n} ", f"{n}[", f"{n}:"))]
        raise DataError((*path, *about[:1]), f"{title}: {error}") from error


def _needed(field: dataclasses.Field[Any]) -> bool:
    return field.default is field.default_factory is dataclasses.MISSING


def _build(kind: type[Any], given: Plain) -> Any:
    # A class may say itself what is not given: its bare fields are the paper's.
    choice = getattr(kind, "default_for", None)
    return kind(**given) if choice is None else dataclasses.replace(choice(given), **given)


def _convert(wanted: Any, value: Any, path: tuple[str, ...]) -> Any:
    """A plain value as what its parameter wants."""
    options = _options(wanted)
    if type(None) in options and isinstance(value, str) and value.lower() == "none":
        return None
    classes = {o.__name__: o for o in options if _is_dataclass(o)}
    if classes and isinstance(value, str | Mapping):
        table = {"kind": value} if isinstance(value, str) else dict(value)
        chosen = table.pop("kind", None)
        if not isinstance(chosen, str) or chosen not in classes:
            said = f"{chosen!r} is none of its kinds: " if chosen else "it needs a kind, of "
            hint = did_you_mean(str(chosen), classes) if chosen else ", ".join(classes)
            raise DataError(path, f"{path[-1]}: {said}{hint}")
        return from_plain(classes[chosen], table, path)
    if float in options and value in ("inf", "-inf"):
        return float(value)
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if float in options and number:
        try:
            return float(value)
        except OverflowError:
            raise DataError(path, f"{path[-1]} = {str(value)[:20]}... is too large") from None
    if any(type(value) is option for option in options):
        return value
    raise DataError(path, f"{path[-1]} = {value!r} is not {_in_words(options)}")


def _options(wanted: Any) -> tuple[Any, ...]:
    return get_args(wanted) if get_origin(wanted) in (Union, types.UnionType) else (wanted,)


def _is_dataclass(option: Any) -> bool:
    return isinstance(option, type) and dataclasses.is_dataclass(option)


def _in_words(options: Iterable[Any]) -> str:
    words = {float: "a number", int: "a whole number", bool: "true or false", str: "text"}
    words[type(None)] = '"none"'
    return " or ".join(words.get(o, getattr(o, "__name__", str(o))) for o in options)


def grid(data: Mapping[str, Any]) -> Iterator[tuple[Plain, Plain]]:
    """Every choice of one value from each list in the data, and what was chosen.

    Examples
    --------
    >>> for table, chosen in grid({"beta": [0.5, 1], "updates": 10}):
    ...     print(table, chosen)
    {'beta': 0.5, 'updates': 10} {'beta': 0.5}
    {'beta': 1, 'updates': 10} {'beta': 1}
    """
    lists = list(_lists(data, ()))
    for values in product(*(values for _, values in lists)):
        table = _copy(data)
        chosen = {}
        for (path, _), value in zip(lists, values, strict=True):
            inner = table
            for key in path[:-1]:
                inner = inner[key]
            inner[path[-1]] = value
            chosen[".".join(path)] = value
        yield table, chosen


def grid_size(data: Mapping[str, Any]) -> int:
    """How many choices `grid` gives.

    Examples
    --------
    >>> grid_size({"beta": [0.5, 1], "ascension": {"kind": "Sigmoid", "alpha": [1, 2, 3]}})
    6
    """
    return math.prod(len(values) for _, values in _lists(data, ()))


def _lists(
    data: Mapping[str, Any], path: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], list[Any]]]:
    for key, value in data.items():
        if isinstance(value, list):
            if not value:
                raise DataError((*path, key), f"{key} is an empty list: there is nothing to run")
            yield (*path, key), value
        elif isinstance(value, Mapping):
            yield from _lists(value, (*path, key))


def _copy(data: Mapping[str, Any]) -> Plain:
    return {k: _copy(v) if isinstance(v, Mapping) else v for k, v in data.items()}


def did_you_mean(name: str, names: Iterable[str], listed: str = "it has") -> str:
    """The nearest of some names, for the end of a sentence.

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
