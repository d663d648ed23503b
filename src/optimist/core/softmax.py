"""Softmax policies as tables, compiled: the mirror step of learners that keep a sum of values."""

import math

import numpy as np

from optimist.checks import FloatArray
from optimist.core.compiler import compiled


@compiled()
def softmax_table(eta: float, S: FloatArray, pi: FloatArray) -> None:
    """pi = softmax(eta S), [X, A]."""
    n_states, n_actions = S.shape
    for x in range(n_states):
        best, total = S[x].max(), 0.0
        for a in range(n_actions):
            pi[x, a] = math.exp(eta * (S[x, a] - best))
            total += pi[x, a]
        for a in range(n_actions):
            pi[x, a] /= total


@compiled()
def accumulate(pi: FloatArray, cumulative: FloatArray) -> None:
    """The cumulative probabilities of a policy, [X, A]."""
    n_states, n_actions = pi.shape
    for x in range(n_states):
        total = 0.0
        for a in range(n_actions):
            total += pi[x, a]
            cumulative[x, a] = total


@compiled()
def soft_values(pi: FloatArray, Q: FloatArray, eta: float, V: FloatArray) -> None:
    """V(x) = (1/eta) log sum_a pi(a|x) exp(eta Q(x,a))."""
    n_states, n_actions = Q.shape
    for x in range(n_states):
        best = -np.inf  # among actions that are played: the others add nothing
        for a in range(n_actions):
            if pi[x, a] > 0:
                best = max(best, Q[x, a])
        total = 0.0
        for a in range(n_actions):
            total += pi[x, a] * math.exp(min(eta * (Q[x, a] - best), 0.0))
        V[x] = best + math.log(total) / eta
