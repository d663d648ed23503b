"""Feature datasets on disk: .npz, .parquet and .csv, of ours and of other tools.

Files of ours hold a header too, JSON under the name ``optimist``: what else a dataset declares, and
a digest by which an altered file is noticed. Files of other tools hold rows alone, and so does csv.
"""

import csv
import hashlib
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
from optimist.errors import FileError, TooLarge

SUFFIXES = (".npz", ".parquet", ".csv")
HEADER = "optimist"
FORMAT = 1

Declared = dict[str, Any]
"""The bound, gamma and exact of a dataset, where a file tells them."""

DAMAGE = (
    *(pa.ArrowException, zipfile.BadZipFile, zlib.error, csv.Error),
    *(OSError, EOFError, ValueError, KeyError, TypeError, NotImplementedError, RuntimeError),
)
"""What the readers raise when the bytes are not what they expect."""

NPY_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}
"""How the headers of arrays of numbers are read, by the version of their format."""


def write(path: str | Path, features: FloatArray, declared: Declared) -> None:
    """Write rows and what is declared of them, in the format that the suffix names."""
    suffix = _suffix(path)
    if suffix == ".csv":
        if declared["exact"]:
            raise ValueError(
                f"{path}: a csv file cannot say that its row is exact, and would be read as a "
                "single sample; save it as .npz or .parquet"
            )
        write_bytes(path, _csv_text(features).encode())
        return
    header = json.dumps({**declared, "format": FORMAT, "digest": _digest(features)})
    buffer = io.BytesIO()
    if suffix == ".npz":
        np.savez(buffer, allow_pickle=False, features=features, **{HEADER: np.array(header)})
    else:
        # Not pa.array, which imports pandas where there is one.
        columns = [
            pa.Array.from_buffers(pa.float64(), len(features), [None, pa.py_buffer(column)])
            for column in np.ascontiguousarray(features.T)
        ]
        table = pa.Table.from_arrays(columns, _names(features), metadata={HEADER: header})
        pq.write_table(table, buffer)
    write_bytes(path, buffer.getvalue())


def read(path: str | Path) -> tuple[FloatArray, Declared]:
    """The rows in a file, and what it declares of them; nothing if it is of another tool."""
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
        raise ValueError(f"{path}: the name of a dataset's file ends in {', '.join(SUFFIXES)}")
    return suffix


def _names(features: FloatArray) -> list[str]:
    return [f"phi_{j}" for j in range(features.shape[1])]


def _digest(features: FloatArray) -> str:
    sha = hashlib.sha256(str(features.shape).encode())
    sha.update(np.ascontiguousarray(features, dtype="<f8").tobytes())
    return sha.hexdigest()


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
            raise FileError(f"it must hold one array, or one called features; it holds {found}")
        name = "features" if "features" in names else names[0]
        _check_arrays(archive, [name, HEADER] if HEADER in stored else [name])
        broken = archive.testzip()
    if broken is not None:
        raise FileError(f"it is damaged: the checksum of {broken} does not match")
    with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        features = arrays[name]
        header = str(arrays[HEADER]) if HEADER in arrays.files else ""
    if features.dtype.kind not in "biuf":
        raise FileError(f"its array {name} holds {features.dtype}, not real numbers")
    if features.ndim != 2:
        raise FileError(f"its array {name} has shape {features.shape}; it must be [rows, features]")
    return features.astype(np.float64), header


def _check_arrays(archive: zipfile.ZipFile, names: list[str]) -> None:
    """Refuse arrays that need too much memory, by what their headers claim: zeros take no room."""
    needed = 0
    for name in names:
        info = archive.getinfo(f"{name}.npy")
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise FileError(f"its array {name} is compressed in another way than NumPy does it")
        with archive.open(info) as file:
            version = np.lib.format.read_magic(file)
            read_header = NPY_HEADERS[version]
            shape, _, dtype = read_header(file)
        size = math.prod(shape)
        if size * dtype.itemsize > info.file_size:
            raise FileError(f"its array {name} of shape {shape} is cut off")
        needed += size * (dtype.itemsize + 3 * 8)  # as float64, and two copies
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
        raise FileError(f"its column {name!r} has nothing in row {row} (null)")
    try:
        whole = column.cast(pa.float64()).combine_chunks()
    except pa.ArrowInvalid as error:  # too large a whole number
        raise FileError(f"its column {name!r} does not fit into floats ({error})") from None
    # Not to_numpy, which imports pandas as well.
    values = np.frombuffer(whole.buffers()[1], np.float64)[whole.offset :][: len(whole)]
    if not np.isfinite(values).all():
        (row,) = checks.first(~np.isfinite(values))
        raise FileError(
            f"its column {name!r} has {values[row]} in row {row}; it must be a finite number"
        )
    return values


def _refuse_index(metadata: dict[bytes, bytes]) -> None:
    """Refuse the index that pandas writes as a column when it is not 0, 1, 2, ..."""
    pandas = json.loads(metadata.get(b"pandas", b"{}"))
    stored = [name for name in pandas.get("index_columns", ()) if isinstance(name, str)]
    if stored:
        raise FileError(
            f"its column {stored[0]!r} is the index of a pandas frame and no feature: "
            "write it with index=False"
        )


# csv


def _csv_text(features: FloatArray) -> str:
    """A header and the rows; repr has all the digits of a float."""
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
        raise FileError("it is empty: it has no rows of numbers")
    return np.stack(rows), ""


def _read_names(cells: list[str]) -> list[str]:
    """The names in the first line, or 1, 2, ... if it is a row already."""
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
            f"line 1, {','.join(cells[:3])}{',...' * (len(cells) > 3)}, may be a row or the names "
            "that pandas gives to columns without any; name the columns to tell which"
        )
    return [str(j + 1) for j in range(len(cells))]


def _read_row(cells: list[str], names: list[str], line: int) -> FloatArray:
    if len(cells) != len(names):
        raise FileError(f"line {line} has {len(cells)} cells, line 1 has {len(names)}")
    for name, cell in zip(names, cells, strict=True):
        if not _is_number(cell):
            found = repr(cell) if cell.strip() else "nothing"
            raise FileError(f"line {line} has {found} in column {name}; it must be a number")
        if not math.isfinite(float(cell)):
            raise FileError(f"line {line} has {cell} in column {name}; it must be a finite number")
    return np.array([float(cell) for cell in cells])


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell  # 1_000 is a number to Python alone
