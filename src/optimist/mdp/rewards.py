"""Rewards r(x, a, x') that depend on the next state.

They are stored like P: as a dense array [X, A, X], or sparse on the stored entries of P.
"""

from typing import Any, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from optimist import checks
from optimist.checks import FloatArray
from optimist.mdp.affine import AffineRewards
from optimist.mdp.kernel import AnyMatrix, Kernel, freeze_sparse, read_sparse


def read_rewards(r: AnyMatrix, kernel: Kernel, n_actions: int) -> tuple[FloatArray, Kernel | None]:
    """The mean rewards [X, A], and r(x, a, x') if those were given."""
    n_states = kernel.shape[1]
    pairs, triples = (n_states, n_actions), (n_states, n_actions, n_states)
    whole: Any
    if sp.issparse(r):
        checks.match_shape(r.shape, "r", kernel.shape)
        whole = read_sparse(r, n_actions, "r")
    else:
        dense = checks.real_array(cast(ArrayLike, r), "r")
        if dense.shape == pairs:
            return dense, None
        if dense.shape != triples:
            raise ValueError(f"r must have shape {pairs} or {triples}; got {dense.shape}")
        whole = dense.reshape(kernel.shape)
    if isinstance(kernel, np.ndarray):
        table = whole if isinstance(whole, np.ndarray) else whole.toarray()
        mean = np.einsum("ij,ij->i", kernel, table).reshape(pairs)
        return mean, checks.frozen(table.reshape(triples))
    rows = np.repeat(np.arange(kernel.shape[0]), np.diff(kernel.indptr))
    paid = np.asarray(whole[rows, kernel.indices], dtype=np.float64).reshape(-1)
    mean = np.zeros(kernel.shape[0])
    np.add.at(mean, rows, kernel.data * paid)
    on_kernel = sp.csr_array((paid, kernel.indices, kernel.indptr), shape=kernel.shape)
    return mean.reshape(pairs), freeze_sparse(on_kernel)


def paid_rewards(whole: Kernel, kernel: Kernel) -> FloatArray:
    """The rewards r(x, a, x') of the transitions that can happen."""
    if isinstance(whole, np.ndarray):
        return whole.reshape(kernel.shape)[np.asarray(kernel) > 0]
    return whole.data[np.asarray(kernel.data) > 0]


def map_rewards(whole: Kernel, mapping: AffineRewards) -> Kernel:
    """r(x, a, x') with every entry mapped."""
    if isinstance(whole, np.ndarray):
        return checks.frozen(mapping(whole))
    data = mapping(whole.data)
    return freeze_sparse(sp.csr_array((data, whole.indices, whole.indptr), shape=whole.shape))
