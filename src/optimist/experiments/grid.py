"""Parameter grids: expand every list in a table of plain data."""

import math
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from optimist.errors import DataError
from optimist.parameters import Plain


def grid(data: Mapping[str, Any]) -> Iterator[tuple[Plain, Plain]]:
    """Yield every choice of one value from each list: the resulting table, and the chosen values.

    A value that is a list itself is written as the only one of another list.

    Examples
    --------
    >>> for table, chosen in grid({"beta": [0.5, 1], "updates": 10}):
    ...     print(table, chosen)
    {'beta': 0.5, 'updates': 10} {'beta': 0.5}
    {'beta': 1, 'updates': 10} {'beta': 1}
    >>> list(grid({"net_arch": [[64, 64]]}))
    [({'net_arch': [64, 64]}, {})]
    """
    lists = list(_lists(data, ()))
    for values in product(*(values for _, values in lists)):
        table = _copy(data)
        chosen = {}
        for (path, choices), value in zip(lists, values, strict=True):
            inner = table
            for key in path[:-1]:
                inner = inner[key]
            inner[path[-1]] = value
            if choices != [value] or not isinstance(value, list):
                chosen[".".join(path)] = value
        yield table, chosen


def grid_size(data: Mapping[str, Any]) -> int:
    """The number of tables that `grid` yields.

    Examples
    --------
    >>> grid_size({"fresh": [True, False], "player": {"kind": "RmaxRaviUcb", "beta": [1, 2, 3]}})
    6
    """
    return math.prod(len(values) for _, values in _lists(data, ()))


def without_choices(data: Mapping[str, Any]) -> Plain:
    """The table from which `grid` yields this one and no other.

    Examples
    --------
    >>> without_choices({"updates": 10, "net_arch": [64, 64]})
    {'updates': 10, 'net_arch': [[64, 64]]}
    """
    return {
        key: without_choices(value)
        if isinstance(value, Mapping)
        else ([value] if isinstance(value, list) else value)
        for key, value in data.items()
    }


def _lists(
    data: Mapping[str, Any], path: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], list[Any]]]:
    """Yield the path and the values of every list."""
    for key, value in data.items():
        if isinstance(value, list):
            if not value:
                raise DataError((*path, key), f"{key} must not be an empty list")
            yield (*path, key), value
        elif isinstance(value, Mapping):
            yield from _lists(value, (*path, key))


def _copy(data: Mapping[str, Any]) -> Plain:
    return {k: _copy(v) if isinstance(v, Mapping) else v for k, v in data.items()}
