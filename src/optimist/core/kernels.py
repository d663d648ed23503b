"""The known kernels P_i of a linear mixture MDP P = sum_i theta_i P_i, as compiled code takes them.

They are the rows of a sparse matrix [X A s, X]: row ``pair * s + i`` is P_i(. | x, a). All pairs
share one block of s = d parameters; or in a table, the mixture of d = X^2 A unit kernels, each pair
has a block of s = X of its own.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from optimist import checks, limits
from optimist.checks import FloatArray, IntArray


class Kernels(NamedTuple):
    """The arrays of the sparse matrix, and the block of each pair."""

    first: IntArray  # where the entries of each row begin, [X A s + 1]
    after: IntArray  # the next state of each entry
    value: FloatArray  # its probability
    block: IntArray  # of each pair, [X A]


def read_kernels(kernels: ArrayLike) -> Kernels:
    """Kernels [d, X, A, X] of probabilities, for one block of d parameters.

    Rows sum to at most 1: a unit kernel of a table is 0 in all pairs but one.

    Examples
    --------
    >>> stay, leave = np.eye(2)[:, None], np.eye(2)[::-1, None]  # [X, 1, X]
    >>> read_kernels(np.stack([stay, leave])).after
    array([0, 1, 1, 0])
    """
    P = checks.real_array(kernels, "kernels", shape=(None, None, None, None))
    d, n_states, n_actions, after = P.shape
    if not d or n_states != after:
        raise ValueError(f"kernels must be [d, X, A, X] with d >= 1; got shape {P.shape}")
    checks.non_negative(P, "kernels")
    sums = P.sum(axis=-1)
    above = sums > 1 + checks.ROW_SUM_TOLERANCE
    if above.any():
        where = checks.first(above)
        raise ValueError(
            f"{checks.entry('kernels', where)} must sum to at most 1; got {sums[where]:.10g}"
        )
    rows = np.moveaxis(P, 0, 2).reshape(-1, n_states)  # [X A d, X]
    sparse = sp.csr_array(rows)
    block = np.zeros(n_states * n_actions, dtype=np.int64)
    first, column = sparse.indptr.astype(np.int64), sparse.indices.astype(np.int64)
    return Kernels(first, column, sparse.data, block)


def unit_kernels(n_states: int, n_actions: int) -> Kernels:
    """A table as a mixture: one kernel for each triple (x, a, y), and f = V in the block of (x, a).

    The parameters of a block are P(. | x, a) itself.
    """
    n = n_states * n_actions
    limits.need(24 * n * n_states, f"the unit kernels of {n_states:,} states and {n:,} pairs")
    after = np.tile(np.arange(n_states), n)
    return Kernels(np.arange(after.size + 1), after, np.ones(after.size), np.arange(n))
