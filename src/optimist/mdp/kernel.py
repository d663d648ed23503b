"""Transition kernels: one matrix of X*A rows, dense or sparse.

Row ``x * A + a`` belongs to the pair (x, a). The operators of Section 2.1 are products with it:
``P f`` is ``kernel @ f`` and ``P' mu`` is ``mu @ kernel``.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from optimist import checks
from optimist.checks import FloatArray, IntArray

if TYPE_CHECKING:  # SciPy's classes take no parameters at run time
    SparseKernel: TypeAlias = sp.csr_array[np.float64, tuple[int, int]]
    AnyMatrix: TypeAlias = ArrayLike | sp.sparray[Any, Any] | sp.spmatrix[Any]
else:
    SparseKernel = sp.csr_array
    AnyMatrix = ArrayLike | sp.sparray | sp.spmatrix
Kernel: TypeAlias = FloatArray | SparseKernel

DENSE_ENTRIES = 2**20
"""Kernels built by this package are stored dense up to this many entries (8 MB)."""

_HINT = "; FiniteMDP.normalised(...) rescales the rows"


def read_kernel(P: AnyMatrix) -> tuple[Kernel, int]:
    """A kernel and its number of actions from an array [X, A, X] or a sparse matrix of X*A rows.

    Shapes and finiteness are checked here, the probabilities by `check_probabilities`.
    """
    if sp.issparse(P):
        if len(P.shape) != 2 or P.shape[1] == 0 or P.shape[0] == 0 or P.shape[0] % P.shape[1]:
            raise ValueError(
                "a sparse P must have X columns and X*A rows, with at least one state and one "
                f"action: row x * A + a is that of state x and action a; got shape {P.shape}"
            )
        n_actions = P.shape[0] // P.shape[1]
        return read_sparse(P, n_actions, "P"), n_actions
    dense = checks.real_array(cast(ArrayLike, P), "P")
    if dense.ndim != 3 or dense.shape[0] != dense.shape[2]:
        raise ValueError(
            f"P must have shape [X, A, X], or be sparse with X*A rows; got shape {dense.shape}"
        )
    n_states, n_actions, _ = dense.shape
    if n_states == 0:
        raise ValueError("P must have at least one state; got none")
    if n_actions == 0:
        raise ValueError("P must have at least one action; got none")
    return checks.frozen(dense.reshape(n_states * n_actions, n_states)), n_actions


def read_sparse(matrix: Any, n_actions: int, name: str) -> SparseKernel:
    """A read-only copy of a sparse matrix of X*A rows, if its entries are finite real numbers."""
    checks.real_array(np.empty(0, dtype=matrix.dtype), name)  # refuses other dtypes
    copy: SparseKernel = sp.csr_array(matrix, dtype=np.float64, copy=True)
    copy.sum_duplicates()
    bad = ~np.isfinite(copy.data)
    if bad.any():
        at = int(np.argmax(bad))
        where = _entry(copy, at, n_actions, name)
        raise ValueError(f"{where} must be a finite number; got {copy.data[at]}")
    return freeze_sparse(copy)


def freeze_sparse(matrix: SparseKernel) -> SparseKernel:
    """The same matrix with read-only arrays."""
    for array in (matrix.data, matrix.indices, matrix.indptr):
        array.setflags(write=False)
    return matrix


def _entry(matrix: SparseKernel, at: int, n_actions: int, name: str) -> str:
    """The name of the stored entry ``at`` in errors: P[x, a, y]."""
    row = int(np.searchsorted(matrix.indptr, at, side="right")) - 1
    return checks.entry(name, (*divmod(row, n_actions), int(matrix.indices[at])))


def check_probabilities(kernel: Kernel, n_actions: int) -> None:
    """Refuse rows that are not probability distributions, naming the entry or the pair (x, a)."""
    check_signs(kernel, n_actions)
    checks.sums_to_one(row_sums(kernel).reshape(-1, n_actions), "P", _HINT)


def check_signs(kernel: Kernel, n_actions: int) -> None:
    """Refuse negative entries."""
    n_states = kernel.shape[1]
    if isinstance(kernel, np.ndarray):
        checks.non_negative(kernel.reshape(n_states, n_actions, n_states), "P")
    elif kernel.nnz and kernel.data.min() < 0:
        at = int(np.argmax(kernel.data < 0))
        where = _entry(kernel, at, n_actions, "P")
        raise ValueError(f"{where} must not be negative; got {kernel.data[at]:.6g}")


def row_sums(kernel: Kernel) -> FloatArray:
    """The sum of each row."""
    return np.asarray(kernel.sum(axis=1), dtype=np.float64)


def rescale_rows(kernel: Kernel, n_actions: int) -> Kernel:
    """The kernel, as `read_kernel` takes it, with each row divided by its sum."""
    check_signs(kernel, n_actions)
    with np.errstate(over="ignore"):
        sums = row_sums(kernel)
    bad = ~((sums > 0) & np.isfinite(sums))
    if bad.any():
        row = int(np.argmax(bad))
        where = checks.entry("P", divmod(row, n_actions))
        raise ValueError(
            f"{where} sums to {sums[row]:.6g}; only a positive, finite sum can be rescaled"
        )
    if isinstance(kernel, np.ndarray):
        return in_triples(kernel / sums[:, None], n_actions)
    data = kernel.data / np.repeat(sums, np.diff(kernel.indptr))
    return sp.csr_array((data, kernel.indices, kernel.indptr), shape=kernel.shape)


def in_triples(kernel: Kernel, n_actions: int) -> Kernel:
    """A dense kernel as [X, A, X]; a sparse one as it is."""
    if isinstance(kernel, np.ndarray):
        return kernel.reshape(-1, n_actions, kernel.shape[1])
    return kernel


def compact(kernel: SparseKernel, n_actions: int) -> Kernel:
    """The kernel as `read_kernel` takes it: dense [X, A, X] if that is small, otherwise sparse."""
    rows, n_states = kernel.shape
    return kernel if rows * n_states > DENSE_ENTRIES else in_triples(kernel.toarray(), n_actions)


def build_kernel(
    n_actions: int, moves: Iterable[tuple[int, IntArray, float | FloatArray]]
) -> Kernel:
    """The kernel P, as `FiniteMDP` takes it, of moves that every state can make.

    Parameters
    ----------
    n_actions
        The number of actions.
    moves
        Triples (action, after, probability): with that probability, one for all states or one for
        each, the action leads from state x to ``after[x]``. Moves of an action to the same state
        add up.

    Examples
    --------
    Three states on a ring; action 1 goes round, but half of the time it stays:

    >>> here = np.arange(3)
    >>> build_kernel(2, [(0, here, 1.0), (1, here, 0.5), (1, (here + 1) % 3, 0.5)])[0]
    array([[1. , 0. , 0. ],
           [0.5, 0.5, 0. ]])
    """
    rows, columns, data = [], [], []
    n_states = 0
    for action, after, probability in moves:
        n_states = n_states or len(after)
        checks.match_shape(np.shape(after), "after", (n_states,))
        rows.append(np.arange(n_states) * n_actions + checks.indices(action, "action", n_actions))
        columns.append(checks.indices(after, "after", n_states))
        chance = checks.real_array(probability, "probability")
        checks.match_shape(chance.shape, "probability", (n_states,) if chance.ndim else ())
        for extreme in (chance.min(), chance.max()):
            checks.probability(extreme, "probability")
        data.append(np.broadcast_to(chance, n_states))
    if not n_states:
        raise ValueError("moves must hold at least one move, of at least one state; got none")
    entries = (np.concatenate(data), (np.concatenate(rows), np.concatenate(columns)))
    matrix = sp.csr_array(sp.coo_array(entries, shape=(n_states * n_actions, n_states)))
    matrix.eliminate_zeros()  # after the conversion, which adds up duplicates
    return compact(matrix, n_actions)
