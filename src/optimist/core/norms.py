"""Norms in the inverse covariance for many pairs at once, by products of matrices."""

import numpy as np

from optimist.checks import FloatArray, IntArray
from optimist.core.parts import on_threads
from optimist.mdp.dynamics import one_thread

ROWS_AT_ONCE = 4096
"""How many rows of features are multiplied by the inverse covariance at once."""


def norms(Lambda: FloatArray, inverse: FloatArray, rows: FloatArray, block: IntArray) -> FloatArray:
    """||phi|| in the norm of Lambda^{-1}, of rows [..., s] within these blocks [...].

    The inverse of 1 x 1 blocks is not read.

    Examples
    --------
    >>> Lambda = np.array([[[4.0]], [[9.0]]])
    >>> norms(Lambda, Lambda, rows=np.ones((2, 1)), block=np.array([0, 1]))
    array([0.5       , 0.33333333])
    """
    rows = np.broadcast_to(rows, (*block.shape, rows.shape[-1]))
    if rows.shape[-1] == 1:
        return np.asarray(np.abs(rows[..., 0]) / np.sqrt(Lambda[block, 0, 0]))
    u = np.empty(block.shape)
    chunks = [
        (b, tuple(axis[first : first + ROWS_AT_ONCE] for axis in here))
        for b, here in ((b, np.nonzero(block == b)) for b in np.unique(block))
        for first in range(0, len(here[0]), ROWS_AT_ONCE)
    ]

    def work(b: int, at: tuple[IntArray, ...]) -> None:
        phi = rows[at]
        squares = np.einsum("ij,ij->i", phi @ inverse[b], phi)
        u[at] = np.sqrt(np.maximum(squares, 0.0))

    if block.size > ROWS_AT_ONCE:
        on_threads(work, chunks)
    else:  # threads take longer to begin than it takes
        with one_thread():
            for chunk in chunks:
                work(*chunk)
    return u
