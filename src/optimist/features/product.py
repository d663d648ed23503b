"""One-hot features of observations that are made of several whole numbers."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from optimist.checks import MOST, FloatArray, IntArray, count, short
from optimist.features.base import StateFeatures
from optimist.features.indicators import indicators


class OneHotProduct(StateFeatures):
    """One feature for each combination of whole numbers, such as those of Tuple(Discrete, ...).

    An observation is an array of k numbers, or tuples and dictionaries of such numbers and arrays,
    which are taken in the order of their sorted keys. Batches of the latter are object arrays.

    Parameters
    ----------
    starts, sizes
        Number i lies in starts[i], ..., starts[i] + sizes[i] - 1.
    axes
        The number of axes of an observation that is an array.

    Examples
    --------
    >>> psi = OneHotProduct(starts=(0, 1), sizes=(3, 2))
    >>> psi((2, 1)), psi({"a": 0, "b": 2}), psi([[0, 1], [2, 2]]).shape
    (array([0., 0., 0., 0., 1., 0.]), array([0., 1., 0., 0., 0., 0.]), (2, 6))
    >>> psi((3, 1))
    Traceback (most recent call last):
    ...
    ValueError: the numbers of an observation must be in [0, 3) and [1, 3); got [3 1]
    """

    def __init__(self, starts: tuple[int, ...], sizes: tuple[int, ...], axes: int = 1) -> None:
        self.starts = tuple(count(start, "starts", least=-MOST) for start in starts)
        self.sizes = tuple(count(size, "sizes") for size in sizes)
        self.axes = count(axes, "axes", least=0)
        if not self.sizes or len(self.starts) != len(self.sizes):
            given = f"{short(starts)} and {short(sizes)}"
            raise ValueError(f"starts and sizes must be equally many, at least one; got {given}")
        dim = math.prod(self.sizes)
        super().__init__(dim=dim, bound=1.0, blocks=dim)

    def __call__(self, observations: Any) -> FloatArray:
        return indicators(self._number(observations)[..., None], self.dim, 1.0)

    def in_blocks(self, observations: Any) -> tuple[FloatArray, IntArray]:
        number = self._number(observations)
        return np.ones((*number.shape, 1)), number

    def _number(self, observations: Any) -> IntArray:
        """The number of each combination [...], in mixed radix."""
        parts = self._parts(observations)
        start = np.array(self.starts)
        if ((parts < start) | (parts >= start + self.sizes)).any():
            bad = parts[((parts < start) | (parts >= start + self.sizes)).any(axis=-1)][0]
            ends = zip(self.starts, self.sizes, strict=True)
            ranges = " and ".join(f"[{low}, {low + size})" for low, size in ends)
            raise ValueError(f"the numbers of an observation must be in {ranges}; got {bad}")
        weights = np.cumprod((1, *self.sizes[:0:-1]))[::-1]
        return np.asarray((parts - start) @ weights)

    def _parts(self, observations: Any) -> IntArray:
        """The numbers of each observation, [..., k]."""
        if isinstance(observations, np.ndarray) and observations.dtype == object:
            rows = [_flat(each) for each in observations.flat]
            found = np.array(rows).reshape(*observations.shape, -1)
        elif isinstance(observations, Mapping) or _is_ragged(observations):
            found = _flat(observations)
        else:
            found = np.asarray(observations)
            batch = found.shape[: found.ndim - self.axes]
            found = found.reshape(*batch, -1)
        if found.shape[-1] != len(self.sizes) or found.dtype.kind not in "biu":
            raise ValueError(
                f"an observation must be {len(self.sizes)} whole numbers; got {observations!r}"
            )
        return found.astype(np.int64)


def _is_ragged(observations: Any) -> bool:
    """Whether it is a tuple of parts that are no array together."""
    nested = isinstance(observations, tuple) and any(np.ndim(part) for part in observations)
    return nested and len({np.shape(part) for part in observations}) > 1


def _flat(observation: Any) -> IntArray:
    """The numbers of one observation in order."""
    if isinstance(observation, Mapping):
        parts = [_flat(observation[key]) for key in sorted(observation)]
    elif isinstance(observation, tuple | list):
        parts = [_flat(part) for part in observation]
    else:
        return np.asarray(observation).ravel()
    return np.concatenate(parts)
