"""Gaussian elimination of many sparse systems at once, in one order for a batch of policies.

The systems I - gamma P_pi of all policies have the same pattern of nonzeros, that of P. So the
order of elimination and the fill-in are computed once, and the arithmetic runs on vectors with one
entry a policy. If states have few successors, this takes a small part of the X^3 / 3
multiplications of a dense factorisation.

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
    """A plan of elimination: the order of the states, and the entries that each step changes.

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
        The slots of the entries (i, j) that step k changes, [len(rows), len(columns)].
    entries
        For each action, over the transitions that can happen: x, the slot of (x, y), P(y | x, a).
    multiplications
        The number of multiplications for each policy.
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
    """Plan the elimination of a kernel's states, greedily by the number of entries changed.

    Returns None if a policy would cost ``limit`` multiplications or more.
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
    plan: Elimination, gamma: float, weights: FloatArray, rhs: FloatArray, transpose: bool
) -> FloatArray:
    """(I - gamma P_w) x = rhs, or its transpose, for weights [n, X, A] and rhs [n, X]."""
    A = np.zeros((plan.n_slots, len(weights)))
    A[plan.diagonal] = 1
    by_action = np.ascontiguousarray(weights.transpose(2, 1, 0))  # [A, X, n]
    for w, (state, slots, probability) in zip(by_action, plan.entries, strict=True):
        A[slots] -= (gamma * probability)[:, None] * w[state]
    x = np.array(rhs.T, order="C")  # [X, n]
    # A' has the same pivots as A, with rows and columns exchanged.
    down, across = (
        (plan.column_slots, plan.row_slots) if transpose else (plan.row_slots, plan.column_slots)
    )
    below, beside = (plan.columns, plan.rows) if transpose else (plan.rows, plan.columns)
    for step, k in enumerate(plan.order):
        if len(below[step]):
            factors = A[down[step]] / A[plan.diagonal[k]]
            update = factors[:, None] * A[across[step]]
            slots = plan.update_slots[step].T if transpose else plan.update_slots[step]
            A[slots] -= update
            x[below[step]] -= factors * x[k]
    for step in range(len(plan.order) - 1, -1, -1):
        k = plan.order[step]
        if len(beside[step]):
            x[k] -= np.einsum("jn,jn->n", A[across[step]], x[beside[step]])
        x[k] /= A[plan.diagonal[k]]
    return x.T
