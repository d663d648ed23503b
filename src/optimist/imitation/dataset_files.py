"""Feature datasets on disk as .npz, .parquet and .csv, written here or by other tools.

Our .npz and .parquet files have a header, JSON under the name ``optimist``: the bound, gamma and
exactness of the dataset, and a digest of its rows. Csv files and those of other tools hold rows
only.
"""

import csv
import io
import json
import math
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from optimist import checks, limits
from optimist.checks import FloatArray
from optimist.core.parquet import read_numbers
from optimist.core.storage import write_bytes
from optimist.digests import digest
from optimist.errors import FileError, TooLarge

SUFFIXES = (".npz", ".parquet", ".csv")
HEADER = "optimist"
FORMAT = 1

Declared = dict[str, Any]
"""The bound, gamma and exact of a dataset, as far as a file has them."""

DAMAGE = (
    *(pa.ArrowException, zipfile.BadZipFile, zlib.error, csv.Error),
    *(OSError, EOFError, ValueError, KeyError, TypeError, NotImplementedError, RuntimeError),
)
"""Exceptions of the readers for damaged files."""

NPY_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}
"""Readers of the headers of .npy arrays, by format version."""


def write(path: str | Path, features: FloatArray, declared: Declared) -> None:
    """Write rows and their declared properties, in the format of the suffix."""
    suffix = _suffix(path)
    if suffix == ".csv":
        if declared["exact"]:
            raise ValueError(
                f"{path}: an exact dataset must be saved as .npz or .parquet; a csv file would be "
                "read as a single sample"
            )
        write_bytes(path, _csv_text(features).encode())
        return
    header = json.dumps({**declared, "format": FORMAT, "digest": _digest(features)})
    buffer = io.BytesIO()
    if suffix == ".npz":
        np.savez(buffer, allow_pickle=False, features=features, **{HEADER: np.array(header)})
    else:
        # pa.array would import pandas if it is installed.
        columns = [
            pa.Array.from_buffers(pa.float64(), len(features), [None, pa.py_buffer(column)])
            for column in np.ascontiguousarray(features.T)
        ]
        table = pa.Table.from_arrays(columns, _names(features), metadata={HEADER: header})
        pq.write_table(table, buffer)
    write_bytes(path, buffer.getvalue())


def read(path: str | Path) -> tuple[FloatArray, Declared]:
    """The rows in a file and their declared properties; none if another tool wrote it."""
    reader = {".npz": _read_npz, ".parquet": _read_parquet, ".csv": _read_csv}[_suffix(path)]
    limits.need_to_read(path)
    data = Path(path).read_bytes()
    try:
        features, header = reader(data)
        declared = _read_header(header, features) if header else {}
    except (FileError, TooLarge) as error:
        raise type(error)(f"{path}: {error}") from None
    except DAMAGE as error:
        kind = _suffix(path).removeprefix(".")
        raise FileError(f"{path} is not a {kind} file, or it is damaged ({error})") from None
    return features, declared


def _suffix(path: str | Path) -> str:
    suffix = Path(path).suffix
    if suffix not in SUFFIXES:
        raise ValueError(f"the file of a dataset must end in {', '.join(SUFFIXES)}; got {path}")
    return suffix


def _names(features: FloatArray) -> list[str]:
    return [f"phi_{j}" for j in range(features.shape[1])]


def _digest(features: FloatArray) -> str:
    return digest(str(features.shape), np.ascontiguousarray(features, dtype="<f8"))


def _read_header(text: str, features: FloatArray) -> Declared:
    header = json.loads(text)
    if header["format"] != FORMAT:
        raise FileError(f"it has format {header['format']}; this version reads format {FORMAT}")
    if header["digest"] != _digest(features):
        raise FileError("it was altered after it was written: its digest does not match")
    return {name: header[name] for name in ("bound", "gamma", "exact")}


# npz


def _read_npz(data: bytes) -> tuple[FloatArray, str]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        stored = [name.removesuffix(".npy") for name in archive.namelist()]
        names = [name for name in stored if name != HEADER]
        if "features" not in names and len(names) != 1:
            found = ", ".join(names) or "none"
            raise FileError(f"it must hold one array, or one called features; got {found}")
        name = "features" if "features" in names else names[0]
        _check_arrays(archive, [name, HEADER] if HEADER in stored else [name])
        broken = archive.testzip()
    if broken is not None:
        raise FileError(f"it is damaged: the checksum of {broken} does not match")
    with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        features = arrays[name]
        header = str(arrays[HEADER]) if HEADER in arrays.files else ""
    if features.dtype.kind not in "biuf":
        raise FileError(f"array {name} must hold real numbers; got {features.dtype}")
    if features.ndim != 2:
        raise FileError(f"array {name} must be [rows, features]; got shape {features.shape}")
    return features.astype(np.float64), header


def _check_arrays(archive: zipfile.ZipFile, names: list[str]) -> None:
    """Refuse arrays whose headers claim too much memory: compressed zeros take no room on disk."""
    needed = 0
    for name in names:
        info = archive.getinfo(f"{name}.npy")
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise FileError(f"array {name} is compressed in another way than NumPy does it")
        with archive.open(info) as file:
            version = np.lib.format.read_magic(file)
            read_header = NPY_HEADERS[version]
            shape, _, dtype = read_header(file)
        size = math.prod(shape)
        if size * dtype.itemsize > info.file_size:
            raise FileError(f"array {name} of shape {shape} is cut off")
        needed += size * (dtype.itemsize + 3 * 8)  # as float64, with two copies
    limits.need(needed, f"its array {names[0]}")


# Parquet


def _read_parquet(data: bytes) -> tuple[FloatArray, str]:
    table = read_numbers(io.BytesIO(data))
    metadata = table.schema.metadata or {}
    _refuse_index(metadata)
    if not table.num_rows or not table.num_columns:
        raise FileError(f"it is empty: {table.num_rows} rows and {table.num_columns} columns")
    features = np.empty((table.num_rows, table.num_columns))
    for j, name in enumerate(table.column_names):
        features[:, j] = _column(table.column(j), name)
    return features, metadata.get(HEADER.encode(), b"").decode()


def _column(column: Any, name: str) -> FloatArray:
    if column.null_count:
        row = column.is_null().index(True).as_py()
        raise FileError(f"column {name!r} must hold finite numbers; got null in row {row}")
    try:
        whole = column.cast(pa.float64()).combine_chunks()
    except pa.ArrowInvalid as error:  # an integer too large for a float
        raise FileError(f"column {name!r} does not fit into floats ({error})") from None
    # to_numpy would import pandas.
    values = np.frombuffer(whole.buffers()[1], np.float64)[whole.offset :][: len(whole)]
    if not np.isfinite(values).all():
        (row,) = checks.first(~np.isfinite(values))
        raise FileError(f"column {name!r} must hold finite numbers; got {values[row]} in row {row}")
    return values


def _refuse_index(metadata: dict[bytes, bytes]) -> None:
    """Refuse an index column of pandas, which it writes unless the index is 0, 1, 2, ..."""
    pandas = json.loads(metadata.get(b"pandas", b"{}"))
    stored = [name for name in pandas.get("index_columns", ()) if isinstance(name, str)]
    if stored:
        raise FileError(
            f"column {stored[0]!r} is the index of a pandas frame, not a feature: "
            "write it with index=False"
        )


# csv


def _csv_text(features: FloatArray) -> str:
    """A header and the rows; repr keeps all digits of a float."""
    lines = [_names(features), *([repr(float(v)) for v in row] for row in features)]
    return "\n".join(",".join(line) for line in lines) + "\n"


def _read_csv(data: bytes) -> tuple[FloatArray, str]:
    n_rows = data.count(b"\n") + 1
    n_cells = data.count(b",") + n_rows
    limits.need(6 * len(data) + 128 * n_rows + 64 * n_cells, f"its table of {n_cells:,} cells")
    text = data.decode("utf-8-sig").rstrip("\r\n")
    reader = csv.reader(io.StringIO(text, newline=""))
    names: list[str] = []
    rows: list[FloatArray] = []
    for cells in reader:
        line = reader.line_num
        if not names:
            names = _read_names(cells)
            if names is not cells:
                rows.append(_read_row(cells, names, line))
        else:
            rows.append(_read_row(cells, names, line))
    if not rows:
        raise FileError("it is empty: it must have at least one row of numbers")
    return np.stack(rows), ""


def _read_names(cells: list[str]) -> list[str]:
    """The names in the first line, or 1, 2, ... if it is a row of numbers."""
    if not all(_is_number(cell) for cell in cells):
        nameless = [j for j, cell in enumerate(cells) if not cell.strip()]
        if nameless:
            raise FileError(
                f"column {nameless[0] + 1} has no name in line 1; if it is the index of a pandas "
                "frame, write it with index=False"
            )
        return cells
    if cells == [str(j) for j in range(len(cells))]:
        raise FileError(
            f"line 1, {','.join(cells[:3])}{',...' * (len(cells) > 3)}, may be a row or the "
            "default names of pandas; give the columns names"
        )
    return [str(j + 1) for j in range(len(cells))]


def _read_row(cells: list[str], names: list[str], line: int) -> FloatArray:
    if len(cells) != len(names):
        raise FileError(f"line {line} must have {len(names)} cells, as line 1; got {len(cells)}")
    for name, cell in zip(names, cells, strict=True):
        if not _is_number(cell):
            found = repr(cell) if cell.strip() else "nothing"
            raise FileError(f"line {line}: column {name} must be a number; got {found}")
        if not math.isfinite(float(cell)):
            raise FileError(f"line {line}: column {name} must be a finite number; got {cell}")
    return np.array([float(cell) for cell in cells])


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell  # only Python reads 1_000 as a number
