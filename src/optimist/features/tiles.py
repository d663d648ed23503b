"""Tile coding of a box."""

import itertools
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from optimist import limits
from optimist.checks import FloatArray, IntArray, count
from optimist.features.base import StateFeatures
from optimist.features.box import BoxLike, Outside, UnitBox
from optimist.features.indicators import indicators
from optimist.features.parameters import grid_size, per_dimension


class Tiles(StateFeatures):
    """Tile coding: indicators of the cells of one grid, or of several displaced ones.

    One tile of each tiling is active, with the value 1/sqrt(tilings), so every psi(x) has norm
    one and the bound 1 is exact. A single tiling is one-hot: it aggregates states, and the
    covariance is diagonal. Several tilings resolve finer differences, but the covariance is dense.

    A displaced tiling needs one more tile along each dimension to cover the box, so there are
    ``prod(bins) + (tilings - 1) * prod(bins + 1)`` tiles, each of which some observation reaches.

    Parameters
    ----------
    box
        A space with ``low`` and ``high``, or a pair (low, high); finite, unless squashed.
    bins
        The number of tiles along a side of the box: one number, or one per dimension.
    tilings
        The number of displaced grids. A power of two, at least four times the number of
        dimensions, spreads them most evenly.
    outside
        What to do with an observation outside the box: raise an error ("error"), or clip it to the
        border ("clip", or "warn" with a warning). "squash" raises an error too, but the box may
        have infinite sides. See `UnitBox`.

    Examples
    --------
    >>> psi = Tiles(([0.0, 0.0], [1.0, 1.0]), bins=2)
    >>> psi([0.9, 0.1])
    array([0., 0., 1., 0.])
    >>> psi = Tiles(([0.0], [1.0]), bins=2, tilings=2)
    >>> psi.tiles([[0.1], [0.4], [0.6]])
    array([[0, 2],
           [0, 3],
           [1, 3]])
    """

    def __init__(
        self,
        box: BoxLike,
        bins: int | Sequence[int],
        tilings: int = 1,
        *,
        outside: Outside = "error",
    ) -> None:
        self.box = UnitBox(box, outside)
        self.bins = per_dimension(bins, "bins", self.box.n_dims)
        self.tilings = count(tilings, "tilings")
        grid_size(self.bins)
        if self.tilings > 1:
            grid_size([self.tilings, *(b + 1 for b in self.bins)])
        limits.need(6 * 8 * self.tilings * self.box.n_dims, f"{self.tilings:,} tilings")
        self._scale = np.array(self.bins, dtype=np.float64)
        self._offsets = _displacements(self.tilings, self.box.n_dims)
        sides = np.where(self._offsets > 0, np.array(self.bins) + 1, self.bins)
        self._last = sides - 1
        # The tiles of a tiling are numbered in C order, after those of the tilings before it.
        self._strides = np.ones_like(sides)
        self._strides[:, :-1] = np.cumprod(sides[:, :0:-1], axis=1)[:, ::-1]
        sizes = sides.prod(axis=1)
        self._starts = np.cumsum(sizes) - sizes
        dim = int(sizes.sum())
        super().__init__(dim=dim, bound=1.0, blocks=dim if self.tilings == 1 else 1)

    def __call__(self, observations: ArrayLike) -> FloatArray:
        return indicators(self.tiles(observations), self.dim, 1 / math.sqrt(self.tilings))

    def in_blocks(self, observations: ArrayLike) -> tuple[FloatArray, IntArray]:
        if self.tilings > 1:
            return super().in_blocks(observations)
        tile = self.tiles(observations)[..., 0]
        return np.ones((*tile.shape, 1)), tile

    def tiles(self, observations: ArrayLike) -> IntArray:
        """The indices [..., tilings] of the active features, one of each tiling."""
        unit = self.box.unit(observations)
        cells = (unit[..., None, :] * self._scale + self._offsets).astype(np.int64)
        # A tile contains its lower border; the last one also contains the upper border.
        np.minimum(cells, self._last, out=cells)
        cells *= self._strides
        active: IntArray = cells.sum(axis=-1) + self._starts
        return active


def _displacements(tilings: int, n_dims: int) -> FloatArray:
    """The displacement of each tiling along each dimension [tilings, k], in tiles.

    Along every dimension the displacements are 0, 1/n, ..., (n-1)/n, each time in another order.
    In the same order, the tilings would be displaced along the diagonal, and the features would
    generalise further along it than across. Multiples of 1, 3, 5, ... spread evenly (Miller and
    Glanz, 1996; Sutton and Barto, 2018, Section 9.5.4). Odd numbers that share a factor with n are
    skipped, because their multiples would miss some of the displacements.
    """
    prime_to = (odd for odd in itertools.count(1, 2) if math.gcd(odd, tilings) == 1)
    steps = np.array(list(itertools.islice(prime_to, n_dims)))
    offsets: FloatArray = np.arange(tilings)[:, None] * steps % tilings / tilings
    return offsets
