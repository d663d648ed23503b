"""The linear systems of a kernel and a discount factor: values and occupancies of policies.

A system is given by weights w [n, X, A] of the rows of the kernel:
P_w(y | x) = sum_a w(x, a) P(y | x, a). A policy pi gives P_pi, and pi * (1 - p) gives the part of
the augmented kernel that stays out of heaven. So the same code solves both MDPs of the paper.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property, partial
from typing import Any

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla
from threadpoolctl import ThreadpoolController

from optimist.checks import FloatArray, IntArray
from optimist.display.text import one_line
from optimist.mdp import elimination
from optimist.mdp.kernel import Kernel, SparseKernel

CHUNK_BYTES = 2**25
"""The memory that a batch of systems may take at a time."""

SPARSE_FROM = 400
"""With at least this many states, a sparse solver is faster than a dense one on one system."""

THREADS_FROM = 800
"""With at least this many states, LAPACK may use several threads."""

BATCH_FROM = 32
"""Batched elimination is used for at least this many systems."""

BATCH_BELOW = 2000
"""Batched elimination is used for fewer states than this; others take too long to plan."""

BATCH_MOST = 2**21
"""Batched elimination is used for fewer multiplications a policy than this.

With more, other solvers are faster, and the plan takes much memory.
"""

BATCH_GAIN = 10
"""How many times faster LAPACK multiplies than `elimination.solve_batch`."""


@dataclass(frozen=True)
class Dynamics:
    """A kernel and a discount factor: the part of an MDP that does not depend on its rewards."""

    __repr__ = one_line

    kernel: Kernel
    n_actions: int
    gamma: float

    @property
    def n_states(self) -> int:
        """The number of states |X|."""
        return int(self.kernel.shape[1])

    def backup(self, r: FloatArray, V: FloatArray) -> FloatArray:
        """Q = r + gamma P V for V [X] or a batch [n, X]."""
        future = np.asarray((self.kernel @ V.T).T).reshape(*V.shape, self.n_actions)
        return r + self.gamma * future

    def values(self, weights: FloatArray, rewards: FloatArray) -> FloatArray:
        """V = (I - gamma P_w)^{-1} r for each of the n weights; rewards and V are [n, X]."""
        return self._solve(weights, rewards, transpose=False)

    def occupancies(self, weights: FloatArray, nu0: FloatArray) -> FloatArray:
        """The solutions nu [n, X] of nu = gamma P_w' nu + (1 - gamma) nu0 (Proposition flow)."""
        start = np.broadcast_to((1 - self.gamma) * nu0, weights.shape[:2])
        return self._solve(weights, start, transpose=True)

    def values_of_actions(self, actions: IntArray, r: FloatArray) -> FloatArray:
        """V of one deterministic policy, from the rows of the kernel that it picks."""
        states = np.arange(self.n_states)
        picked = self.kernel[states * self.n_actions + actions]
        reward = r[states, actions]
        if isinstance(picked, np.ndarray):
            V: FloatArray = solve_dense(-self.gamma * picked[None], reward[None])[0]
            return V
        return solve_sparse(picked, self.gamma, reward)

    @cached_property
    def elimination(self) -> elimination.Elimination | None:
        """The plan of a batched elimination, made on first use; None if LAPACK is faster."""
        limit = min(self.n_states**3 / (3 * BATCH_GAIN), BATCH_MOST)
        return elimination.plan(self.kernel, self.n_actions, limit)

    def _solve(self, weights: FloatArray, rhs: FloatArray, transpose: bool) -> FloatArray:
        if not len(weights):
            return np.empty(rhs.shape)
        solve: Callable[[FloatArray, FloatArray, bool], FloatArray]
        plan = self.elimination if self._worth_planning(len(weights)) else None
        if plan is not None:
            size = plan.n_slots
            solve = partial(elimination.solve_batch, plan, self.gamma)
        elif isinstance(self.kernel, np.ndarray) or self.n_states < SPARSE_FROM:
            size = self.n_states**2
            solve = self._solve_each_dense
        else:
            return self._solve_each_sparse(weights, rhs, transpose)
        chunk = max(1, CHUNK_BYTES // (8 * size))
        parts = [slice(i, i + chunk) for i in range(0, len(weights), chunk)]
        return np.concatenate([solve(weights[part], rhs[part], transpose) for part in parts])

    def _worth_planning(self, n: int) -> bool:
        return n >= BATCH_FROM and self.n_states < BATCH_BELOW

    def _solve_each_dense(
        self, weights: FloatArray, rhs: FloatArray, transpose: bool
    ) -> FloatArray:
        P = self.kernel if isinstance(self.kernel, np.ndarray) else self.kernel.toarray()
        P = P.reshape(self.n_states, self.n_actions, self.n_states)
        system = np.empty((len(weights), self.n_states, self.n_states))
        # For each x the product of [n, A] with [A, X], written in place.
        np.matmul(-self.gamma * weights.transpose(1, 0, 2), P, out=system.transpose(1, 0, 2))
        return solve_dense(system, rhs, transpose)

    def _solve_each_sparse(
        self, weights: FloatArray, rhs: FloatArray, transpose: bool
    ) -> FloatArray:
        kernel, x = sp.csr_array(self.kernel), np.empty(rhs.shape)
        for i, (w, b) in enumerate(zip(weights, rhs, strict=True)):
            P_w = _average_sparse(kernel, w)
            x[i] = solve_sparse(P_w.T if transpose else P_w, self.gamma, b)
        return x


def solve_dense(system: FloatArray, rhs: FloatArray, transpose: bool = False) -> FloatArray:
    """(I + S) x = rhs for a stack of matrices S [n, X, X], which is overwritten, by LAPACK."""
    diagonal = np.arange(rhs.shape[1])
    system[:, diagonal, diagonal] += 1
    system = system.mT if transpose else system
    if len(diagonal) >= THREADS_FROM:
        return np.asarray(np.linalg.solve(system, rhs[..., None])[..., 0], dtype=np.float64)
    with one_thread():
        return np.asarray(np.linalg.solve(system, rhs[..., None])[..., 0], dtype=np.float64)


_LIMITING = threading.Lock()


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit BLAS to one thread; on small matrices several threads are slower.

    The limit is global: if two Python threads set it at once, it could stay in force.
    """
    with _LIMITING, _thread_pools().limit(limits=1, user_api="blas"):
        yield


def blas_threads() -> int:
    """How many threads BLAS may use: OMP_NUM_THREADS or threadpoolctl set it, and studies to 1."""
    found = _thread_pools().select(user_api="blas").info()
    return min((pool["num_threads"] for pool in found), default=1)


@cache
def _thread_pools() -> ThreadpoolController:
    return ThreadpoolController()


def _average_sparse(kernel: SparseKernel, weights: FloatArray) -> SparseKernel:
    """P_w, as the product of the weights' matrix [X, X*A] with the kernel."""
    n_states, n_actions = weights.shape
    ends = np.arange(n_states + 1) * n_actions
    picks = sp.csr_array(
        (weights.ravel(), np.arange(n_states * n_actions), ends), shape=kernel.shape[::-1]
    )
    return picks @ kernel


def solve_sparse(P_w: Any, gamma: float, rhs: FloatArray) -> FloatArray:
    """(I - gamma P_w) x = rhs for one matrix, by SuperLU."""
    system = sp.csc_array(sp.eye_array(rhs.size, format="csr") - gamma * P_w)
    # I - gamma P_w is diagonally dominant, so pivots on the diagonal are stable. The ordering may
    # then follow the pattern of A + A', which suits MDPs whose moves can be undone.
    factor = spla.splu(
        system,
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )
    return np.asarray(factor.solve(rhs))
