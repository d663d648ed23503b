"""The curves of a run in Parquet; `optimist.experiments.track` has their columns."""

import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from optimist.core import storage
from optimist.core.parquet import read_numbers
from optimist.digests import digest, named_arrays
from optimist.errors import FileError, TooLarge

Curves = dict[str, np.ndarray]

HEADER = "optimist"
"""The metadata entry of a file with the id of its run and the digest of its columns."""


def joined(parts: Sequence[Curves]) -> Curves:
    """The rows of several pieces of a run, concatenated."""
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def average(curves: Curves) -> float:
    """The mean regret of a policy over the run, in units of value."""
    return float(curves["regret"][-1] / curves["episode"][-1])


def final(curves: Curves) -> float:
    """The mean regret over the last tenth of the evaluated policies."""
    lost = curves["suboptimality"]
    return float(lost[-max(1, len(lost) // 10) :].mean())


def write_curves(path: Path, curves: Curves, run: str) -> None:
    """Write the rows of a run atomically."""
    columns = {name: np.ascontiguousarray(column) for name, column in curves.items()}
    # Not by pa.array, which imports pandas if installed and costs a second in each worker.
    table = pa.Table.from_arrays(
        [
            pa.Array.from_buffers(pa.from_numpy_dtype(c.dtype), len(c), [None, pa.py_buffer(c)])
            for c in columns.values()
        ],
        list(columns),
        metadata={HEADER: f"{run} {digest(*named_arrays(columns))}"},
    )
    buffer = io.BytesIO()
    pq.write_table(table, buffer)
    storage.write_bytes(path, buffer.getvalue())


def read_curves(path: Path, run: str) -> Curves:
    """Read the rows of a run; raises `FileError` if they are damaged or of another run."""
    try:
        table = read_numbers(path)
        curves = {name: table[name].to_numpy() for name in table.column_names}
        header = (table.schema.metadata or {}).get(HEADER.encode(), b"").decode()
    except TooLarge as error:
        raise TooLarge(f"{path}: {error}") from None
    except (pa.ArrowException, OSError, ValueError, KeyError) as error:
        raise FileError(f"{path} holds no curves, or it is damaged ({error})") from None
    of, _, found = header.partition(" ")
    if found != digest(*named_arrays(curves)):
        raise FileError(f"{path} holds no curves, or it is damaged (its digest does not match)")
    if of != run:
        raise FileError(f"{path} is of the run {of}, not of {run}")
    return curves
