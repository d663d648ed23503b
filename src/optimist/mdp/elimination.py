"""Many sparse systems at once: Gaussian elimination in one order for a whole batch of policies.

Every policy of an MDP leads to a system I - gamma P_pi with the same pattern of nonzeros, that of
P. So the order of elimination and the fill-in are worked out once, and the arithmetic runs on
vectors with one entry a policy. In worlds where a state leads to few others this is a small part of
the X^3 / 3 multiplications of a dense factorisation.

No pivoting is needed: the systems are diagonally dominant, by rows or, transposed, by columns, and
elimination keeps them so.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from optimist.checks import FloatArray, IntArray
from optimist.mdp.kernel import Kernel


@dataclass(frozen=True)
class Elimination:
    """The order of the states, and for each what its elimination touches.

    Entries of the systems live in slots: row i of a [slots, n] array holds one entry for all n
    policies.

    Attributes
    ----------
    order
        The states in the order of their elimination.
    diagonal
        The slot of the entry (k, k) of each state k.
    rows, columns
        For each k in order, the states eliminated later with an entry (i, k), and (k, j).
    row_slots, column_slots
        The slots of those entries.
    update_slots
        The slots of the entries (i, j) that change when k goes, [len(rows), len(columns)].
    entries
        For each action, over the transitions that can happen: x, the slot of (x, y), P(y | x, a).
    multiplications
        How many each policy costs.
    """

    order: IntArray
    diagonal: IntArray
    rows: list[IntArray]
    columns: list[IntArray]
    row_slots: list[IntArray]
    column_slots: list[IntArray]
    update_slots: list[IntArray]
    entries: list[tuple[IntArray, IntArray, FloatArray]]
    n_slots: int
    multiplications: int


def plan(kernel: Kernel, n_actions: int, limit: float) -> Elimination | None:
    """The elimination for a kernel: next goes, greedily, the state whose removal touches least.

    None as soon as it is seen to cost each policy ``limit`` multiplications or more.
    """
    n_states = kernel.shape[1]
    if isinstance(kernel, np.ndarray):
        pattern = (kernel != 0).reshape(n_states, n_actions, n_states).any(axis=1)
    else:
        pattern = np.zeros((n_states, n_states), dtype=bool)
        states = np.repeat(np.arange(n_states), np.diff(kernel.indptr[::n_actions]))
        pattern[states, kernel.indices] = True
    np.fill_diagonal(pattern, True)
    remaining = np.ones(n_states, dtype=bool)
    in_row, in_column = pattern.sum(axis=1), pattern.sum(axis=0)
    order, rows, columns = np.empty(n_states, dtype=np.int64), [], []
    multiplications = 0
    for step in range(n_states):
        work = np.where(remaining, (in_row - 1) * (in_column - 1), n_states**2)
        k = int(np.argmin(work))
        remaining[k] = False
        order[step] = k
        rows.append(i := np.flatnonzero(pattern[:, k] & remaining))
        columns.append(j := np.flatnonzero(pattern[k] & remaining))
        multiplications += len(i) * (len(j) + 2) + len(j)
        if multiplications >= limit:
            return None
        fill = ~pattern[np.ix_(i, j)]
        pattern[np.ix_(i, j)] = True
        in_row[i] += fill.sum(axis=1) - 1
        in_column[j] += fill.sum(axis=0) - 1
    table = sp.coo_array(kernel)
    state, action = np.divmod(table.coords[0].astype(np.int64), n_actions)
    after = table.coords[1].astype(np.int64)
    slots = np.cumsum(pattern.ravel()).reshape(pattern.shape) - 1
    return Elimination(
        order=order,
        diagonal=slots.diagonal().copy(),
        rows=rows,
        columns=columns,
        row_slots=[slots[i, k] for i, k in zip(rows, order, strict=True)],
        column_slots=[slots[k, j] for j, k in zip(columns, order, strict=True)],
        update_slots=[slots[np.ix_(i, j)] for i, j in zip(rows, columns, strict=True)],
        entries=[
            (
                state[action == a],
                slots[state[action == a], after[action == a]],
                table.data[action == a],
            )
            for a in range(n_actions)
        ],
        n_slots=int(pattern.sum()),
        multiplications=multiplications,
    )


def solve_batch(
    how: Elimination, gamma: float, weights: FloatArray, rhs: FloatArray, transpose: bool
) -> FloatArray:
    """(I - gamma P_w) x = rhs, or its transpose, for weights [n, X, A] and rhs [n, X]."""
    A = np.zeros((how.n_slots, len(weights)))
    A[how.diagonal] = 1
    by_action = np.ascontiguousarray(weights.transpose(2, 1, 0))  # [A, X, n]
    for w, (state, slots, probability) in zip(by_action, how.entries, strict=True):
        A[slots] -= (gamma * probability)[:, None] * w[state]
    x = np.array(rhs.T, order="C")  # [X, n]
    # A' has the same pivots as A with rows and columns changing places.
    down, across = (
        (how.column_slots, how.row_slots) if transpose else (how.row_slots, how.column_slots)
    )
    below, beside = (how.columns, how.rows) if transpose else (how.rows, how.columns)
    for step, k in enumerate(how.order):
        if len(below[step]):
            factors = A[down[step]] / A[how.diagonal[k]]
            update = factors[:, None] * A[across[step]]
            slots = how.update_slots[step].T if transpose else how.update_slots[step]
            A[slots] -= update
            x[below[step]] -= factors * x[k]
    for step in range(len(how.order) - 1, -1, -1):
        k = how.order[step]
        if len(beside[step]):
            x[k] -= np.einsum("jn,jn->n", A[across[step]], x[beside[step]])
        x[k] /= A[how.diagonal[k]]
    return x.T
