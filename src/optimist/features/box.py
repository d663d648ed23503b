"""Observations in a box: reading its bounds, and rescaling it to the unit cube."""

from collections.abc import Sequence
from typing import Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike

from optimist.checks import FloatArray, entry, first, frozen, match_shape, real_array

UNBOUNDED = 1e30
"""From this magnitude on a bound is none: environments write it as inf or the largest float32."""

BORDER_TOLERANCE = 1e-6
"""How far outside, in box widths, an observation may lie: float32 rounding, not a mistake."""

Outside = Literal["error", "clip"]


class HasBounds(Protocol):
    """A space like Gymnasium's Box."""

    @property
    def low(self) -> ArrayLike: ...

    @property
    def high(self) -> ArrayLike: ...


BoxLike = HasBounds | Sequence[ArrayLike]


def read_box(box: BoxLike) -> tuple[FloatArray, FloatArray]:
    """The bounds (low, high) of a Box space or of a pair, if they are finite and in order.

    They are read-only copies.

    Examples
    --------
    >>> read_box(([-1, 0], [1, 5]))
    (array([-1.,  0.]), array([1., 5.]))
    """
    if hasattr(box, "low") and hasattr(box, "high"):
        low, high = _bound(box.low, "low"), _bound(box.high, "high")
    elif isinstance(box, (Sequence, np.ndarray)) and len(box) == 2:
        low, high = _bound(box[0], "low"), _bound(box[1], "high")
    else:
        raise TypeError(
            f"box = {box!r} has no low and high; give a Box space or a pair (low, high), "
            "and for a Discrete space use OneHotState instead"
        )
    match_shape(high.shape, "high", low.shape)
    empty = low >= high
    if empty.any():
        (i,) = first(empty)
        raise ValueError(f"low[{i}] = {low[i]:.6g} must be less than high[{i}] = {high[i]:.6g}")
    return frozen(low), frozen(high)


def _bound(value: ArrayLike, name: str) -> FloatArray:
    array = np.asarray(value)
    if array.dtype.kind == "f":
        unbounded = np.abs(array.astype(np.float64)) >= UNBOUNDED
        if unbounded.any():
            where = first(unbounded)
            raise ValueError(
                f"{entry(name, where)} = {array[where]:.6g} is no bound (its magnitude is at least "
                f"{UNBOUNDED:g}); give a pair (low, high) of finite bounds instead of the space, "
                "with outside='clip' if observations may leave it"
            )
    if array.ndim != 1 or not array.size:
        raise ValueError(
            f"{name} has shape {array.shape}; it must be a list of one number per dimension, "
            "such as [0.0] for a box of one dimension"
        )
    return real_array(array, name)


class UnitBox:
    """The map of a box onto the unit cube.

    An observation outside the box by at most 1e-6 of its width, as float32 rounding leaves it,
    is moved onto the border. One further out is refused, or moved there too if so asked.

    Parameters
    ----------
    box
        A space with ``low`` and ``high``, such as Gymnasium's Box, or a pair (low, high).
    outside
        What to do with an observation outside: raise an error, or clip it to the border.

    Examples
    --------
    >>> UnitBox(([-1.0], [1.0]), outside="clip").unit([[0.0], [7.0]])
    array([[0.5],
           [1. ]])
    """

    def __init__(self, box: BoxLike, outside: Outside) -> None:
        self.low, self.high = read_box(box)
        if outside not in ("error", "clip"):
            raise ValueError(f"outside = {outside!r} must be 'error' or 'clip'")
        self.outside = outside
        self.n_dims = len(self.low)
        self._width = self.high - self.low
        self._least = self.low - BORDER_TOLERANCE * self._width
        self._most = self.high + BORDER_TOLERANCE * self._width

    def unit(self, observations: ArrayLike) -> FloatArray:
        """The observations [..., k] rescaled to [0, 1]^k, in a new array."""
        array = real_array(observations, "observation")
        if array.shape[-1:] != (self.n_dims,):
            raise ValueError(
                f"observation has shape {array.shape}; its last axis must have length "
                f"{self.n_dims}, one entry per dimension of the box"
            )
        if self.outside == "error":
            self._refuse_outside(array)
        # Clipping before scaling makes the ends exact: the border maps to 0 and 1.
        inside = np.minimum(np.maximum(array, self.low), self.high)
        inside -= self.low
        inside /= self._width
        return inside

    def _refuse_outside(self, array: FloatArray) -> None:
        bad = (array < self._least) | (array > self._most)
        if bad.any():
            where = first(bad)
            i = where[-1]
            raise ValueError(
                f"{entry('observation', where)} = {array[where]:.6g} is outside "
                f"[{self.low[i]:.6g}, {self.high[i]:.6g}]; widen the box, or pass outside='clip' "
                "to move such observations onto its border"
            )
