"""The optimum of a finite MDP by policy iteration, with a certificate."""

import hashlib
from dataclasses import dataclass

import numpy as np

from optimist.checks import FloatArray, IntArray
from optimist.display.text import one_line
from optimist.mdp.dynamics import Dynamics

SWEEPS_DENSE = 20
SWEEPS_SPARSE = 400
"""Most sweeps of value iteration between two exact evaluations; they usually stop earlier."""


@dataclass(frozen=True)
class Optimum:
    """An optimal policy, its values, and a certificate that they are optimal.

    Attributes
    ----------
    policy
        A deterministic optimal policy, [X, A].
    value
        Its value from the initial distribution, <nu0, V>.
    V, Q
        Its value functions, [X] and [X, A].
    residual
        The Bellman residual max_x |max_a Q(x, a) - V(x)|. The true optimal values are within
        residual / (1 - gamma) of V.
    evaluations
        How many policies were evaluated exactly.
    """

    __repr__ = one_line

    policy: FloatArray
    value: float
    V: FloatArray
    Q: FloatArray
    residual: float
    evaluations: int


def find_optimum(dynamics: Dynamics, r: FloatArray, nu0: FloatArray) -> Optimum:
    """Policy iteration, with sweeps of value iteration between the exact evaluations.

    The sweeps are cheap and carry rewards far across the state space; an exact evaluation replaces
    the slow convergence of value iteration. Starting from V^pi the sweeps only raise the value, so
    policies improve strictly until no action gains more than rounding.
    """
    sweeps = SWEEPS_DENSE if isinstance(dynamics.kernel, np.ndarray) else SWEEPS_SPARSE
    Q, actions = r, np.argmax(r, axis=1)
    seen: set[bytes] = set()
    while True:
        for _ in range(sweeps):
            Q = dynamics.backup(r, Q.max(axis=1))
            before, actions = actions, _improve(Q, actions)
            if np.array_equal(before, actions):
                break
        V = dynamics.values_of_actions(actions, r)
        Q = dynamics.backup(r, V)
        # If a policy comes back, the gains since then were rounding errors.
        digest = hashlib.sha256(actions).digest()  # all policies of a large MDP would not fit
        returned = digest in seen
        seen.add(digest)
        better = _improve(Q, actions)
        if returned or np.array_equal(better, actions):
            break
        actions = better  # the sweeps might not find this improvement again
    policy = np.zeros_like(r)
    policy[np.arange(len(r)), actions] = 1
    residual = float(np.abs(Q.max(axis=1) - V).max())
    for array in (policy, V, Q):
        array.setflags(write=False)
    return Optimum(policy, float(nu0 @ V), V, Q, residual, len(seen))


def _improve(Q: FloatArray, actions: IntArray) -> IntArray:
    """The greedy actions; the present one is kept unless another gains more than rounding."""
    rounding = 8 * np.finfo(np.float64).eps * float(np.abs(Q).max())
    gain = Q.max(axis=1) - Q[np.arange(len(Q)), actions]
    return np.where(gain > rounding, np.argmax(Q, axis=1), actions)
