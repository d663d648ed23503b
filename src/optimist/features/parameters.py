"""The numbers that maps on a box are built from."""

import math
from collections.abc import Sequence
from decimal import Decimal

import numpy as np

from optimist import limits
from optimist.checks import IntArray, count

LARGEST = 2**31
"""More features than this are a mistake: a grid in too many dimensions."""


def per_dimension(value: int | Sequence[int] | IntArray, name: str, n_dims: int) -> tuple[int, ...]:
    """One positive whole number per dimension of the box, given as such or as one for all.

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
            f"{name} has {len(value)} entries; it must be one number, or one for each of the "
            f"{n_dims} dimensions of the box"
        )
    return tuple(count(number, f"{name}[{i}]") for i, number in enumerate(value))


def check_vectors(n: int, dim: int) -> None:
    """Refuse n feature vectors that do not fit into memory: a map may have as many as it likes."""
    limits.need(8 * n * dim, f"{n:,} vectors of {dim:,} features")


def grid_size(sides: Sequence[int]) -> int:
    """The number of cells of a grid, if it is not absurd.

    Examples
    --------
    >>> grid_size((8, 4))
    32
    """
    size = math.prod(sides)
    if size > LARGEST:
        raise ValueError(
            f"a grid of {' x '.join(map(str, sides))} has {Decimal(size):.1e} features: "
            "make it coarser, or use Fourier, whose size does not grow with the dimension"
        )
    return size
