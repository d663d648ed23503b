"""Vectors with a few equal non-zero entries, for one-hot features and tile coding."""

import math

import numpy as np

from optimist.checks import FloatArray, IntArray
from optimist.features.parameters import check_vectors


def indicators(active: IntArray, dim: int, value: float) -> FloatArray:
    """Vectors [..., dim] that hold ``value`` at the indices ``active`` [..., k], else zero.

    Examples
    --------
    >>> indicators(np.array([[0, 2], [1, 2]]), dim=3, value=0.5)
    array([[0.5, 0. , 0.5],
           [0. , 0.5, 0.5]])
    """
    *batch, _ = active.shape
    check_vectors(math.prod(batch), dim)
    features = np.zeros((*batch, dim))
    rows = features.reshape(-1, dim)
    rows[np.arange(len(rows))[:, None], active.reshape(len(rows), active.shape[-1])] = value
    return features
