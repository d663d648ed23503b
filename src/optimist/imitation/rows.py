"""Checks of the rows of a feature dataset and of their norms."""

from collections.abc import Sequence, Sized

import numpy as np
from numpy.typing import ArrayLike

from optimist import checks
from optimist.checks import FloatArray


def read_rows(features: ArrayLike) -> FloatArray:
    """The rows as an array [n, d], with n and d at least 1.

    Examples
    --------
    >>> read_rows([[1, 2], [3]])
    Traceback (most recent call last):
    ...
    ValueError: features must have rows of one length d; got 2 entries in features[0] and 1 in
    features[1]
    """
    if isinstance(features, Sequence) and features and isinstance(features[0], Sized):
        wanted = len(features[0])
        for i, row in enumerate(features):
            if isinstance(row, Sized) and len(row) != wanted:
                raise ValueError(
                    f"features must have rows of one length d; got {wanted} entries in "
                    f"features[0] and {len(row)} in features[{i}]"
                )
    rows = checks.real_array(features, "features")
    if rows.ndim != 2 or not rows.size:
        raise ValueError(f"features must be [n, d] with n, d >= 1; got shape {rows.shape}")
    return rows


def read_bound(bound: float | None, rows: FloatArray) -> float:
    """The declared bound, which no row may exceed; by default the largest norm."""
    if bound is None:
        return float(row_norms(rows).max())
    declared = checks.real_number(bound, "bound")
    if declared < 0:
        raise ValueError(f"bound must be non-negative; got {declared:.6g}")
    check_norms(rows, declared, "bound = {:.6g}")
    return declared


def row_norms(rows: FloatArray) -> FloatArray:
    """The Euclidean norm of each row."""
    with np.errstate(over="ignore"):
        norms = np.sqrt(np.einsum("nd,nd->n", rows, rows))  # without an array of the squares
    if not np.isfinite(norms).all():
        i = checks.first(~np.isfinite(norms))[0]
        raise ValueError(f"features[{i}] must have a finite norm; its square overflows")
    return np.asarray(norms)


def check_norms(rows: FloatArray, bound: float, name: str) -> None:
    """Refuse rows whose norm exceeds the bound by more than rounding."""
    norms = row_norms(rows)
    bad = norms > bound * (1 + checks.RANGE_TOLERANCE)
    if bad.any():
        (i,) = checks.first(bad)
        raise ValueError(
            f"features[{i}] must have a norm of at most {name.format(bound)}; got {norms[i]:.6g}. "
            f"The longest row has {norms.max():.6g}"
        )
