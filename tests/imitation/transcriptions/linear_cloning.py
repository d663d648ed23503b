"""Behavioural cloning: frequencies (Rajaraman et al., 2020) and linear classification (2021)."""

import numpy as np
from scipy.optimize import linprog

from transcriptions.common import greedy


def clone(states, actions, X, A):
    """The frequencies of the actions in each state, pooled over time; uniform where unseen."""
    counts = np.zeros((X, A))
    np.add.at(counts, (np.ravel(states), np.ravel(actions)), 1)
    total = counts.sum(axis=1, keepdims=True)
    return np.where(total > 0, counts / np.maximum(total, 1), 1 / A)


def linear_cloning(Phi, states, actions):
    """Rajaraman et al. (2021): theta, the margin m, and the policy that is greedy in phi.theta.

    Maximise m over m and |theta_j| <= 1 with (phi(x_i,a_i) - phi(x_i,a)).theta >= m for all i and
    a != a_i. If m <= 0 the expert is not linear in phi.
    """
    _, A, d = Phi.shape
    rows = []
    for x, a_i in zip(np.ravel(states), np.ravel(actions), strict=True):
        rows += [Phi[x, a_i] - Phi[x, a] for a in range(A) if a != a_i]
    # variables (theta, m): minimise -m subject to m - row.theta <= 0
    found = linprog(
        np.append(np.zeros(d), -1.0),
        A_ub=np.column_stack([-np.array(rows), np.ones(len(rows))]),
        b_ub=np.zeros(len(rows)),
        bounds=[(-1, 1)] * d + [(None, None)],
        method="highs",
    )
    theta, m = found.x[:d], found.x[d]
    if m <= 1e-9:
        raise ValueError(f"the expert must be greedy in phi.theta for some theta; margin {m:.3g}")
    return theta, m, greedy(Phi @ theta)
