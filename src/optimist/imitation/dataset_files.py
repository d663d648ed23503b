"""Feature datasets on disk as .npz, .parquet and .csv, written here or by other tools.

The header of our .npz and .parquet files has the bound, gamma and exactness of the dataset, and a
digest of its rows. Csv files and those of other tools hold rows only.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

from optimist.checks import FloatArray
from optimist.core.storage import write_bytes
from optimist.digests import digest
from optimist.errors import FileError
from optimist.imitation import tables

FORMAT = 1

Declared = dict[str, Any]
"""The bound, gamma and exact of a dataset, as far as a file has them."""

TRAJECTORIES = (
    "it holds trajectories, not features: read it with TrajectoryDataset.load, whose method "
    "features(phi_r) makes a FeatureDataset"
)


def write(path: str | Path, features: FloatArray, declared: Declared) -> None:
    """Write rows and their declared properties, in the format of the suffix."""
    suffix = tables.suffix_of(path)
    header = {**declared, "format": FORMAT, "digest": _digest(features)}
    columns = {f"phi_{j}": column for j, column in enumerate(features.T)}
    if suffix == ".npz":
        data = tables.npz_bytes({"features": features}, header)
    elif suffix == ".parquet":
        data = tables.parquet_bytes(columns, header)
    elif declared["exact"]:
        raise ValueError(
            f"{path}: an exact dataset must be saved as .npz or .parquet; a csv file would be "
            "read as a single sample"
        )
    else:
        data = tables.csv_bytes(columns)
    write_bytes(path, data)


def read(path: str | Path) -> tuple[FloatArray, Declared]:
    """The rows in a file and their declared properties; none if another tool wrote it."""
    suffix = tables.suffix_of(path)
    with tables.opened(path) as data:
        features, text = _read_npz(data) if suffix == ".npz" else _read_table(data, suffix)
        if not text:
            return features, {}
        header = tables.read_header(text, FORMAT, _digest(features))
        return features, {name: header[name] for name in ("bound", "gamma", "exact")}


def _digest(features: FloatArray) -> str:
    return digest(str(features.shape), np.ascontiguousarray(features, dtype="<f8"))


def _read_npz(data: bytes) -> tuple[FloatArray, str]:
    names = tables.npz_names(data)
    if {"states", "lengths"} <= set(names):
        raise FileError(TRAJECTORIES)
    if "features" not in names and len(names) != 1:
        found = ", ".join(names) or "none"
        raise FileError(f"it must hold one array, or one called features; got {found}")
    name = "features" if "features" in names else names[0]
    (features,), header = tables.read_npz(data, [name])
    if features.ndim != 2:
        raise FileError(f"array {name} must be [rows, features]; got shape {features.shape}")
    return features.astype(np.float64), header


def _read_table(data: bytes, suffix: str) -> tuple[FloatArray, str]:
    table = tables.read_parquet(data) if suffix == ".parquet" else tables.read_csv(data)
    if {"episode", "t"} <= set(table.names):
        raise FileError(f"its columns are {', '.join(table.names)}: {TRAJECTORIES}")
    _refuse_index(table.metadata)
    return table.numbers, table.header


def _refuse_index(metadata: dict[bytes, bytes]) -> None:
    """Refuse an index column of pandas, which it writes unless the index is 0, 1, 2, ..."""
    pandas = json.loads(metadata.get(b"pandas", b"{}"))
    stored = [name for name in pandas.get("index_columns", ()) if isinstance(name, str)]
    if stored:
        raise FileError(
            f"column {stored[0]!r} is the index of a pandas frame, not a feature: "
            "write it with index=False"
        )
