"""Parquet files of numbers, checked before they are read."""

from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pyarrow as pa
import pyarrow.parquet as pq

from optimist import limits
from optimist.errors import FileError

BYTES_A_NUMBER = 32
"""The bytes of a number of any type in the file: in the table, as float64, and two copies."""

ROWS_AT_ONCE = 2**16


def read_numbers(source: Path | IO[bytes]) -> pa.Table:
    """The table in a file, if all its columns hold numbers and it fits into memory.

    Equal numbers take next to no room in a file: its size says nothing of the memory that it needs.

    Examples
    --------
    >>> import io
    >>> buffer = io.BytesIO()
    >>> pq.write_table(pa.table({"who": ["a", "b"]}), buffer)
    >>> read_numbers(buffer)
    Traceback (most recent call last):
    ...
    optimist.errors.FileError: its column 'who' must hold real numbers; got string
    """
    with pq.ParquetFile(source) as file:  # read_table imports pandas
        for field in file.schema_arrow:
            if not _is_number(field.type):
                raise FileError(
                    f"its column {field.name!r} must hold real numbers; got {field.type}"
                )
        rows, columns = file.metadata.num_rows, len(file.schema_arrow)
        what = f"a table of {rows:,} rows and {columns:,} columns"
        limits.need(BYTES_A_NUMBER * rows * columns, what)
        return pa.Table.from_batches(_batches(file, rows), file.schema_arrow)


def _batches(file: pq.ParquetFile, rows: int) -> Iterator[pa.RecordBatch]:
    """The rows piece by piece, as long as there are no more than the file claims."""
    for batch in file.iter_batches(ROWS_AT_ONCE):
        rows -= batch.num_rows
        if rows < 0:
            raise FileError("it has more rows than its footer claims")
        yield batch


def _is_number(kind: pa.DataType) -> bool:
    t = pa.types
    return bool(t.is_integer(kind) or t.is_floating(kind) or t.is_boolean(kind))
