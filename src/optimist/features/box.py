"""Boxes of observations: their bounds, and the map onto the unit cube."""

import warnings
from collections.abc import Sequence
from typing import Literal, Protocol, get_args

import numpy as np
from numpy.typing import ArrayLike

from optimist.checks import FloatArray, entry, first, frozen, match_shape, real_array

UNBOUNDED = 1e30
"""Bounds of at least this magnitude are infinite; environments also write the largest float32."""

BORDER_TOLERANCE = 1e-6
"""How far outside the box an observation may lie, in widths; it allows for float32 rounding."""

Outside = Literal["error", "clip", "squash", "warn"]


class HasBounds(Protocol):
    """A space like Gymnasium's Box."""

    @property
    def low(self) -> ArrayLike: ...

    @property
    def high(self) -> ArrayLike: ...


BoxLike = HasBounds | Sequence[ArrayLike]


def read_box(box: BoxLike, *, infinite: bool = False) -> tuple[FloatArray, FloatArray]:
    """The bounds (low, high) of a Box space or of a pair, as read-only copies.

    Bounds of a magnitude of at least 1e30 count as infinite; ``infinite`` allows them.

    Examples
    --------
    >>> read_box(([-1, 0], [1, 5]))
    (array([-1.,  0.]), array([1., 5.]))
    >>> read_box(([-1, 0], [1, 1e38]), infinite=True)
    (array([-1.,  0.]), array([ 1., inf]))
    """
    if hasattr(box, "low") and hasattr(box, "high"):
        low, high = _bound(box.low, "low", infinite), _bound(box.high, "high", infinite)
    elif isinstance(box, (Sequence, np.ndarray)) and len(box) == 2:
        low, high = _bound(box[0], "low", infinite), _bound(box[1], "high", infinite)
    else:
        raise TypeError(
            f"box must be a Box space or a pair (low, high); got {box!r}; "
            "for a Discrete space use OneHotState"
        )
    match_shape(high.shape, "high", low.shape)
    empty = low >= high
    if empty.any():
        (i,) = first(empty)
        raise ValueError(f"low[{i}] must be less than high[{i}] = {high[i]:.6g}; got {low[i]:.6g}")
    return frozen(low), frozen(high)


def _bound(value: ArrayLike, name: str, infinite: bool) -> FloatArray:
    array = np.asarray(value)
    if array.dtype.kind == "f":
        unbounded = np.abs(array.astype(np.float64)) >= UNBOUNDED
        if unbounded.any() and not infinite:
            where = first(unbounded)
            raise ValueError(
                f"{entry(name, where)} must be finite, below {UNBOUNDED:g} in magnitude; got "
                f"{array[where]:.6g}; give a pair (low, high) of finite bounds instead of the "
                "space, with outside='clip' if observations may leave it, or pass outside='squash' "
                "to squash such dimensions onto the unit interval"
            )
        array = np.clip(array.astype(np.float64), -UNBOUNDED, UNBOUNDED)
    if array.ndim != 1 or not array.size:
        raise ValueError(
            f"{name} must be a list of one number per dimension, such as [0.0] for a box of one "
            f"dimension; got shape {array.shape}"
        )
    bound = real_array(array, name)
    return np.where(np.abs(bound) >= UNBOUNDED, np.copysign(np.inf, bound), bound)


class UnitBox:
    """The map of a box onto the unit cube.

    An observation outside the box by at most 1e-6 of its width, a rounding error of float32, is
    moved onto the border. One further out is refused, or clipped if ``outside="clip"``. If the
    width is infinite, the larger of the finite bound and 1 takes its place.

    Squashing maps an infinite dimension onto the unit interval by the arctangent: x to
    ``1/2 + arctan(x) / pi`` without bounds, to ``2/pi arctan(x - low)`` above ``low``, and to
    ``1 - 2/pi arctan(high - x)`` below ``high``. Half of the interval belongs to observations
    within 1 of zero, or of the bound; rescale observations that are much larger or smaller.

    Parameters
    ----------
    box
        A space with ``low`` and ``high``, such as Gymnasium's Box, or a pair (low, high).
    outside
        What to do with an observation outside: raise an error ("error"), or clip it to the border
        ("clip"). "squash" raises an error too, and allows infinite bounds. "warn" allows them as
        well, and clips, with a warning the first time: some environments leave their own space.

    Examples
    --------
    >>> UnitBox(([-1.0], [1.0]), outside="clip").unit([[0.0], [7.0]])
    array([[0.5],
           [1. ]])
    >>> UnitBox(([-np.inf, 0.0], [np.inf, 1.0]), outside="squash").unit([1.0, 0.5])
    array([0.75, 0.5 ])
    """

    def __init__(self, box: BoxLike, outside: Outside) -> None:
        if outside not in get_args(Outside):
            raise ValueError(
                f"outside must be 'error', 'clip', 'squash' or 'warn'; got {outside!r}"
            )
        self.outside, self._warned = outside, False
        self.low, self.high = read_box(box, infinite=outside in ("squash", "warn"))
        self.n_dims = len(self.low)
        below, above = np.isinf(self.low), np.isinf(self.high)
        self._open = np.flatnonzero(below | above)
        # A bounded dimension becomes (x - low) / width. An infinite one becomes
        # shift + arctan(x - bound) / turn, with a bound of 0 if it has none.
        self._origin = np.where(below, np.where(above, 0.0, self.high), self.low)
        self._width = np.where(below | above, 1.0, self.high - self.low)
        self._shift = np.where(below, np.where(above, 0.5, 1.0), 0.0)[self._open]
        self._turn = np.where(below & above, np.pi, np.pi / 2)[self._open]
        rounding = np.where(below | above, np.maximum(np.abs(self._origin), 1.0), self._width)
        self._least = self.low - BORDER_TOLERANCE * rounding
        self._most = self.high + BORDER_TOLERANCE * rounding

    def unit(self, observations: ArrayLike) -> FloatArray:
        """The observations [..., k] rescaled to [0, 1]^k, in a new array."""
        array = real_array(observations, "observation")
        if array.shape[-1:] != (self.n_dims,):
            raise ValueError(
                f"the last axis of an observation must have length {self.n_dims}, one entry per "
                f"dimension of the box; got shape {array.shape}"
            )
        if self.outside != "clip" and not self._warned:
            self._check_inside(array)
        # Clipping before scaling makes the ends exact: the border maps to 0 and 1.
        inside = np.minimum(np.maximum(array, self.low), self.high)
        inside -= self._origin
        inside /= self._width
        if self._open.size:
            inside[..., self._open] = self._shift + np.arctan(inside[..., self._open]) / self._turn
        return inside

    def _check_inside(self, array: FloatArray) -> None:
        bad = (array < self._least) | (array > self._most)
        if bad.any():
            where = first(bad)
            i = where[-1]
            name, bounds = entry("observation", where), f"[{self.low[i]:.6g}, {self.high[i]:.6g}]"
            if self.outside == "warn":
                self._warned = True
                warnings.warn(
                    f"{name} = {array[where]:.6g} is outside {bounds}, the bounds that the "
                    "environment declares: it is moved to the border, and so are later ones, "
                    "without a warning",
                    stacklevel=2,
                )
                return
            remedy = (
                "make that side infinite"
                if self.outside == "squash"
                else "pass outside='clip' to move such observations onto its border"
            )
            raise ValueError(
                f"{name} must be in {bounds}; got {array[where]:.6g}; widen the box, or {remedy}"
            )
