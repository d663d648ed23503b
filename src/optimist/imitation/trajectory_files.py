"""Trajectories on disk: .parquet and .csv with one row per step, and .npz.

The header of our .parquet and .npz files has gamma and a digest of the numbers. Csv files and those
of other tools have no header.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from optimist import checks
from optimist.checks import FloatArray, IntArray
from optimist.core.storage import write_bytes
from optimist.digests import digest, named_arrays
from optimist.errors import FileError
from optimist.imitation import tables

FORMAT = 1

Contents = tuple[NDArray[Any], NDArray[Any] | None, ArrayLike, float | None]
"""States, actions, lengths and gamma, as the constructor of `TrajectoryDataset` takes them."""


def write(
    path: str | Path,
    states: NDArray[Any],
    actions: IntArray | None,
    lengths: IntArray,
    gamma: float | None,
) -> None:
    """Write trajectories that stand one after another, in the format of the suffix."""
    suffix = tables.suffix_of(path)
    arrays: dict[str, NDArray[Any]] = {}
    if suffix != ".npz":
        arrays = _columns(states, lengths)
    if actions is not None:
        arrays["actions" if suffix == ".npz" else "action"] = actions
    if suffix == ".npz":  # with the optional array first: an archive that lost its end is refused
        arrays |= {"states": states, "lengths": lengths}
    header = {"gamma": gamma, "format": FORMAT, "digest": _digest(arrays, gamma)}
    if suffix == ".npz":
        write_bytes(path, tables.npz_bytes(arrays, header))
    elif suffix == ".parquet":
        write_bytes(path, tables.parquet_bytes(arrays, header))
    else:
        write_bytes(path, tables.csv_bytes(arrays))


def read(path: str | Path, states: Sequence[str] | None = None) -> Contents:
    """The trajectories in a file, written here or by another tool."""
    suffix = tables.suffix_of(path)
    with tables.opened(path) as data:
        if suffix == ".npz":
            return _read_npz(data, states)
        table = tables.read_parquet(data) if suffix == ".parquet" else tables.read_csv(data)
        return _read_table(table, states)


def holds_trajectories(path: str | Path) -> bool:
    """Whether a file looks like one of trajectories, rather than one of features."""
    suffix = tables.suffix_of(path)
    with tables.opened(path) as data:
        if suffix == ".npz":
            return {"states", "lengths"} <= set(tables.npz_names(data))
        return "episode" in tables.column_names(data, suffix)


def _digest(arrays: dict[str, NDArray[Any]], gamma: float | None) -> str:
    """A digest of gamma and the numbers, whatever their type in the file."""
    return digest(repr(gamma), *named_arrays({name: a.astype("<f8") for name, a in arrays.items()}))


def _columns(states: NDArray[Any], lengths: IntArray) -> dict[str, NDArray[Any]]:
    if states.ndim > 2:
        raise ValueError(
            f"observations of shape {states.shape[1:]} must be saved as .npz; columns hold numbers"
        )
    n = len(lengths)
    starts = np.cumsum(lengths) - lengths
    columns = {
        "episode": np.repeat(np.arange(n), lengths),
        "t": np.arange(len(states)) - np.repeat(starts, lengths),
    }
    if states.ndim == 1:
        return {**columns, "state": states}
    return {**columns, **{f"state_{j}": column for j, column in enumerate(states.T)}}


# npz


def _read_npz(data: bytes, states: Sequence[str] | None) -> Contents:
    names = tables.npz_names(data)
    if not {"states", "lengths"} <= set(names):
        raise FileError(
            f"it must hold the arrays states and lengths; got {', '.join(names) or 'none'}. "
            "FeatureDataset.load reads features"
        )
    if states is not None:
        raise FileError("the columns of the state are for tables; it has the array states")
    wanted = [*(["actions"] if "actions" in names else []), "states", "lengths"]
    arrays, text = tables.read_npz(data, wanted)
    found = dict(zip(wanted, arrays, strict=True))
    gamma = _read_gamma(text, found)
    return found["states"], found.get("actions"), found["lengths"], gamma


def _read_gamma(text: str, arrays: dict[str, NDArray[Any]]) -> float | None:
    if not text:
        return None
    gamma: float | None = json.loads(text).get("gamma")
    tables.read_header(text, FORMAT, _digest(arrays, gamma))
    return gamma


# Tables


def _read_table(table: tables.Table, states: Sequence[str] | None) -> Contents:
    twice = [name for name in table.names if table.names.count(name) > 1]
    if twice:
        raise FileError(f"its columns must have different names; got {twice[0]!r} twice")
    columns = dict(zip(table.names, table.numbers.T, strict=True))
    named = _state_columns(table.names, states)
    gamma = _read_gamma(table.header, columns)
    order, lengths = _order(_whole(columns["episode"], "episode"), _whole(columns["t"], "t"))
    x = np.stack([columns[name] for name in named], axis=1)[order]
    if (x % 1 == 0).all() and np.abs(x).max() < checks.MOST:
        x = x.astype(np.int64)
        x = x[:, 0] if len(named) == 1 else x
    a = _whole(columns["action"], "action")[order] if "action" in columns else None
    return x, a, lengths, gamma


def _state_columns(names: list[str], states: Sequence[str] | None) -> list[str]:
    """The columns of the state, given or by their names."""
    shown = f"its columns are {checks.short(names)[1:].rstrip(']')}"
    if not {"episode", "t"} <= set(names):
        raise FileError(
            f"{shown}: trajectories have one row per step, with the columns episode, t, those of "
            "the state, and action if it was recorded. FeatureDataset.load reads features"
        )
    if states is not None:
        if isinstance(states, str):
            raise TypeError(f"states must be a list of names of columns; got {states!r}")
        missing = [name for name in states if name not in names]
        if missing or not states:
            raise FileError(f"{shown}; states must be some of them; got {list(states)}")
        return list(states)
    if "state" in names:
        return ["state"]
    numbered = [f"state_{j}" for j in range(len(names))]
    found = [name for name in numbered if name in names]
    if not found or found != numbered[: len(found)]:
        raise FileError(
            f"{shown}: it has no column state; name those of the state, as in states=['row', "
            "'column'], or --states row,column on the command line"
        )
    return found


def _whole(column: FloatArray, name: str) -> IntArray:
    bad = (column % 1 != 0) | (np.abs(column) >= checks.MOST)
    if bad.any():
        (row,) = checks.first(bad)
        raise FileError(
            f"column {name!r} must hold whole numbers; got {column[row]:g} in row {row}"
        )
    return column.astype(np.int64)


def _order(episodes: IntArray, t: IntArray) -> tuple[IntArray, IntArray]:
    """The order of the rows by episode and time, and the lengths of the episodes."""
    order = np.lexsort((t, episodes))
    names, starts, lengths = np.unique(episodes[order], return_index=True, return_counts=True)
    expected = np.arange(len(t)) - np.repeat(starts, lengths)
    bad = t[order] != expected
    if bad.any():
        (row,) = checks.first(bad)
        i = int(np.searchsorted(starts, row, side="right")) - 1
        raise FileError(
            f"episode {names[i]} must have the times t = 0, ..., {lengths[i] - 1}, as it has "
            f"{lengths[i]} rows; got {t[order][row]} where {expected[row]} was expected"
        )
    return order, lengths
