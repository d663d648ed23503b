"""The rows of a feature dataset: whether they are rows, and how long."""

from collections.abc import Sequence, Sized

import numpy as np
from numpy.typing import ArrayLike

from optimist import checks
from optimist.checks import FloatArray


def read_rows(features: ArrayLike) -> FloatArray:
    """The rows [n, d], if there are any and all have the same length.

    Examples
    --------
    >>> read_rows([[1, 2], [3]])
    Traceback (most recent call last):
    ...
    ValueError: features[1] has 1 entries, and features[0] has 2: all rows must have the same
    length d
    """
    if isinstance(features, Sequence) and features and isinstance(features[0], Sized):
        wanted = len(features[0])
        for i, row in enumerate(features):
            if isinstance(row, Sized) and len(row) != wanted:
                raise ValueError(
                    f"features[{i}] has {len(row)} entries, and features[0] has {wanted}: "
                    "all rows must have the same length d"
                )
    rows = checks.real_array(features, "features")
    if not rows.size:
        if rows.ndim and len(rows):
            raise ValueError(f"features has shape {rows.shape}: its rows must not be empty")
        raise ValueError("features has no rows: at least one sample of the expert is needed")
    if rows.ndim != 2:
        raise ValueError(f"features has shape {rows.shape}; it must be [n, d], one row a sample")
    return rows


def read_bound(bound: float | None, rows: FloatArray) -> float:
    """The declared bound, if no row is longer; the largest norm if none is declared."""
    if bound is None:
        return float(row_norms(rows).max())
    declared = checks.real_number(bound, "bound")
    if declared < 0:
        raise ValueError(f"bound = {declared:.6g} is negative; it bounds a norm")
    check_norms(rows, declared, "bound = {:.6g}")
    return declared


def row_norms(rows: FloatArray) -> FloatArray:
    """The Euclidean norm of each row."""
    with np.errstate(over="ignore"):
        norms = np.sqrt(np.einsum("nd,nd->n", rows, rows))  # without an array of the squares
    if not np.isfinite(norms).all():
        i = checks.first(~np.isfinite(norms))[0]
        raise ValueError(f"features[{i}] is too long: the square of its norm overflows")
    return np.asarray(norms)


def check_norms(rows: FloatArray, bound: float, name: str) -> None:
    """Refuse rows that are longer than the bound, but for rounding."""
    norms = row_norms(rows)
    bad = norms > bound * (1 + checks.RANGE_TOLERANCE)
    if bad.any():
        (i,) = checks.first(bad)
        raise ValueError(
            f"features[{i}] has norm {norms[i]:.6g}, above {name.format(bound)}; "
            f"the longest row has {norms.max():.6g}"
        )
