"""Normalised radial basis functions on a grid."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from optimist.checks import FloatArray, positive
from optimist.features.base import StateFeatures
from optimist.features.box import BoxLike, Outside, UnitBox
from optimist.features.parameters import check_vectors, grid_size, per_dimension

NARROWEST = 1e-3
"""The least width; narrower bumps are 1 at the nearest centre and 0 elsewhere, like tiles."""


class RBF(StateFeatures):
    """Gaussian bumps at the points of a regular grid, normalised to sum to one.

    The entries are non-negative and sum to one, so ``||psi||_2 <= ||psi||_1 = 1`` is the bound.
    The norm approaches it as the width shrinks. The features are a soft aggregation of states: a
    function linear in psi stays within the range of its weights.

    Parameters
    ----------
    box
        A space with ``low`` and ``high``, or a pair (low, high); finite, unless squashed.
    centres
        The number of grid points along a side of the box, borders included: one number, or one
        per dimension. A dimension with a single centre is ignored.
    width
        The standard deviation of a bump, in units of the grid spacing. At the default the features
        are close to linear interpolation between the grid points.
    outside
        What to do with an observation outside the box: raise an error ("error"), or clip it to the
        border ("clip", or "warn" with a warning). "squash" raises an error too, but the box may
        have infinite sides. See `UnitBox`.

    Examples
    --------
    >>> psi = RBF(([0.0], [1.0]), centres=3)
    >>> psi([0.25]).round(2)
    array([0.5 , 0.5 , 0.01])
    >>> psi([[0.0], [1.0]]).sum(axis=-1)
    array([1., 1.])
    """

    def __init__(
        self,
        box: BoxLike,
        centres: int | Sequence[int],
        width: float = 0.5,
        *,
        outside: Outside = "error",
    ) -> None:
        self.box = UnitBox(box, outside)
        self.centres = per_dimension(centres, "centres", self.box.n_dims)
        self.width = positive(width, "width")
        if self.width < NARROWEST:
            raise ValueError(f"width must be at least {NARROWEST:g}; got {width:g}; use Tiles")
        super().__init__(dim=grid_size(self.centres), bound=1.0, blocks=1)

    def __call__(self, observations: ArrayLike) -> FloatArray:
        unit = self.box.unit(observations)
        batch = unit.shape[:-1]
        check_vectors(math.prod(batch), self.dim)
        # A Gaussian on the grid is a product over the dimensions, and so is its sum over the grid:
        # normalising each dimension by itself normalises the product.
        features = np.ones((*batch, 1))
        for i, n in enumerate(self.centres):
            factors = self._normalised_bumps(unit[..., i, None], n)
            features = features[..., :, None] * factors[..., None, :]
            features = features.reshape(*batch, features.shape[-2] * n)
        return features

    def _normalised_bumps(self, position: FloatArray, n: int) -> FloatArray:
        """The bumps [..., n] along one dimension, at positions [..., 1] in [0, 1]."""
        squared = (position * (n - 1) - np.arange(n)) ** 2
        # Relative to the nearest centre, whose bump becomes one, the sum cannot underflow.
        squared -= squared.min(axis=-1, keepdims=True)
        bumps = np.exp(squared / (-2 * self.width * self.width))
        bumps /= bumps.sum(axis=-1, keepdims=True)
        return bumps
