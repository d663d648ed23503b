"""Checks of the sizes of maps on a box."""

import math
from collections.abc import Sequence
from decimal import Decimal

import numpy as np

from optimist import limits
from optimist.checks import IntArray, count

LARGEST = 2**31
"""The largest number of features; more are taken for a grid in too many dimensions."""


def per_dimension(value: int | Sequence[int] | IntArray, name: str, n_dims: int) -> tuple[int, ...]:
    """One positive whole number per dimension of the box; a single number is repeated.

    Examples
    --------
    >>> per_dimension(8, "bins", n_dims=2), per_dimension([8, 4], "bins", n_dims=2)
    ((8, 8), (8, 4))
    """
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if not isinstance(value, Sequence):
        return (count(value, name),) * n_dims
    if len(value) != n_dims:
        raise ValueError(
            f"{name} must be one number, or one for each of the {n_dims} dimensions of the box; "
            f"got {len(value)}"
        )
    return tuple(count(number, f"{name}[{i}]") for i, number in enumerate(value))


def check_vectors(n: int, dim: int) -> None:
    """Refuse n feature vectors that do not fit into memory."""
    limits.need(8 * n * dim, f"{n:,} vectors of {dim:,} features")


def grid_size(sides: Sequence[int]) -> int:
    """The number of cells of a grid; more than `LARGEST` are refused.

    Examples
    --------
    >>> grid_size((8, 4))
    32
    """
    size = math.prod(sides)
    if size > LARGEST:
        raise ValueError(
            f"a grid must have at most {LARGEST:.1e} cells; got {' x '.join(map(str, sides))} = "
            f"{Decimal(size):.1e}; make it coarser, or use Fourier"
        )
    return size
