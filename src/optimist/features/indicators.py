"""Rows with a few equal non-zero entries: one-hot vectors and tile coding."""

import numpy as np

from optimist.checks import FloatArray, IntArray


def indicators(active: IntArray, dim: int, value: float) -> FloatArray:
    """Vectors [..., dim] that hold ``value`` at the indices ``active`` [..., k], else zero.

    Examples
    --------
    >>> indicators(np.array([[0, 2], [1, 2]]), dim=3, value=0.5)
    array([[0.5, 0. , 0.5],
           [0. , 0.5, 0.5]])
    """
    features = np.zeros((*active.shape[:-1], dim))
    rows = features.reshape(-1, dim)
    rows[np.arange(len(rows))[:, None], active.reshape(len(rows), active.shape[-1])] = value
    return features
