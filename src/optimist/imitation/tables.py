"""Tables of numbers with named columns on disk, written here or by other tools.

Files are read as if a stranger had made them: what is not a table of finite numbers, is damaged, or
claims more memory than there is, is refused with a sentence. Our .npz and .parquet files have a
header, JSON under the name ``optimist``, with a digest of the numbers; csv files and those of other
tools hold numbers only.
"""

import csv
import io
import json
import math
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from optimist import checks, limits
from optimist.checks import FloatArray
from optimist.core.parquet import read_numbers
from optimist.errors import FileError, TooLarge

SUFFIXES = (".npz", ".parquet", ".csv")
HEADER = "optimist"

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


class Table(NamedTuple):
    """Named columns of finite numbers, [rows, columns], and the metadata of a Parquet file."""

    names: list[str]
    numbers: FloatArray
    metadata: dict[bytes, bytes]

    @property
    def header(self) -> str:
        """Our header; empty if another tool wrote the file."""
        return self.metadata.get(HEADER.encode(), b"").decode()


def suffix_of(path: str | Path) -> str:
    """The suffix of a dataset's file, one of `SUFFIXES`."""
    suffix = Path(path).suffix
    if suffix not in SUFFIXES:
        raise ValueError(f"the file of a dataset must end in {', '.join(SUFFIXES)}; got {path}")
    return suffix


@contextmanager
def opened(path: str | Path) -> Iterator[bytes]:
    """The bytes of a file; what its reader raises becomes a `FileError` that names the file."""
    kind = suffix_of(path).removeprefix(".")
    limits.need_to_read(path)
    data = Path(path).read_bytes()
    try:
        yield data
    except (FileError, TooLarge) as error:
        raise type(error)(f"{path}: {error}") from None
    except DAMAGE as error:
        raise FileError(f"{path} is not a {kind} file, or it is damaged ({error})") from None


def read_header(text: str, version: int, found: str) -> dict[str, Any]:
    """Our header, if it has this format and the digest that was found."""
    header: dict[str, Any] = json.loads(text)
    if header["format"] != version:
        raise FileError(f"it has format {header['format']}; this version reads format {version}")
    if header["digest"] != found:
        raise FileError("it was altered after it was written: its digest does not match")
    return header


def column_names(data: bytes, suffix: str) -> list[str]:
    """The names of the columns in a .parquet or .csv file, without reading its rows."""
    if suffix == ".parquet":
        with pq.ParquetFile(io.BytesIO(data)) as file:
            return list(file.schema_arrow.names)
    first = data.partition(b"\n")[0].decode("utf-8-sig")
    return next(csv.reader([first.rstrip("\r")]), [])


# npz


def npz_names(data: bytes) -> list[str]:
    """The names of the arrays in an archive, without that of our header."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        stored = [name.removesuffix(".npy") for name in archive.namelist()]
    return [name for name in stored if name != HEADER]


def read_npz(data: bytes, names: Sequence[str]) -> tuple[list[NDArray[Any]], str]:
    """Arrays of real numbers in an archive, and our header; empty if another tool wrote it."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        ours = [HEADER] if f"{HEADER}.npy" in archive.namelist() else []
        _check_arrays(archive, [*names, *ours])
        broken = archive.testzip()
    if broken is not None:
        raise FileError(f"it is damaged: the checksum of {broken} does not match")
    with np.load(io.BytesIO(data), allow_pickle=False) as stored:
        arrays = [stored[name] for name in names]
        header = str(stored[HEADER]) if ours else ""
    for name, array in zip(names, arrays, strict=True):
        if array.dtype.kind not in "biuf":
            raise FileError(f"array {name} must hold real numbers; got {array.dtype}")
    return arrays, header


def _check_arrays(archive: zipfile.ZipFile, names: list[str]) -> None:
    """Refuse arrays whose headers claim too much memory: compressed zeros take no room on disk."""
    needed = 0
    for name in names:
        info = archive.getinfo(f"{name}.npy")
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise FileError(f"array {name} must be stored or deflated, as NumPy does")
        with archive.open(info) as file:
            version = np.lib.format.read_magic(file)
            read_header = NPY_HEADERS[version]
            shape, _, dtype = read_header(file)
        size = math.prod(shape)
        if size * dtype.itemsize > info.file_size:
            raise FileError(f"array {name} of shape {shape} is cut off")
        needed += size * (dtype.itemsize + 3 * 8)  # as float64, with two copies
    limits.need(needed, f"its array {names[0]}")


def npz_bytes(arrays: dict[str, NDArray[Any]], header: dict[str, Any]) -> bytes:
    """An archive of arrays and our header."""
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays, **{HEADER: np.array(json.dumps(header))})
    return buffer.getvalue()


# Parquet


def read_parquet(data: bytes) -> Table:
    """The table in a Parquet file."""
    table = read_numbers(io.BytesIO(data))
    if not table.num_rows or not table.num_columns:
        raise FileError(f"it is empty: {table.num_rows} rows and {table.num_columns} columns")
    numbers = np.empty((table.num_rows, table.num_columns))
    for j, name in enumerate(table.column_names):
        numbers[:, j] = _column(table.column(j), name)
    return Table(table.column_names, numbers, table.schema.metadata or {})


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


def parquet_bytes(columns: dict[str, NDArray[Any]], header: dict[str, Any]) -> bytes:
    """A Parquet file of int64 and float64 columns with our header."""
    # pa.array would import pandas if it is installed.
    arrays = [
        pa.Array.from_buffers(
            pa.int64() if column.dtype.kind == "i" else pa.float64(),
            len(column),
            [None, pa.py_buffer(np.ascontiguousarray(column))],
        )
        for column in columns.values()
    ]
    metadata = {HEADER: json.dumps(header)}
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_arrays(arrays, list(columns), metadata=metadata), buffer)
    return buffer.getvalue()


# csv


def csv_bytes(columns: dict[str, NDArray[Any]]) -> bytes:
    """A line of names and the rows; repr keeps all digits of a float."""
    lines = [
        list(columns),
        *(map(repr, row) for row in zip(*(c.tolist() for c in columns.values()), strict=True)),
    ]
    return ("\n".join(",".join(line) for line in lines) + "\n").encode()


def read_csv(data: bytes) -> Table:
    """The table in a csv file; its columns are 1, 2, ... if the first line has no names."""
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
    return Table(names, np.stack(rows), {})


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
