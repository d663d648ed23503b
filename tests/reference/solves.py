"""Values and occupancies by the plainest linear algebra."""

import numpy as np
import scipy.sparse as sp

from optimist.mdp import FiniteMDP


def as_table(matrix: object, mdp: FiniteMDP) -> np.ndarray:
    """A kernel, or rewards r(x, a, x'), as an array [X, A, X], however it is stored."""
    dense = matrix.toarray() if sp.issparse(matrix) else np.asarray(matrix)
    return dense.reshape(*mdp.r.shape, mdp.n_states)


def averaged_kernel(mdp: FiniteMDP, pi: np.ndarray) -> np.ndarray:
    """P_pi, [X, X]."""
    return np.einsum("xa,xay->xy", pi, as_table(mdp.kernel, mdp))


def plain_V(mdp: FiniteMDP, pi: np.ndarray) -> np.ndarray:
    """V^pi = (I - gamma P_pi)^{-1} r_pi, [X]."""
    system = np.eye(mdp.n_states) - mdp.gamma * averaged_kernel(mdp, pi)
    return np.linalg.solve(system, (pi * mdp.r).sum(axis=1))


def plain_nu(mdp: FiniteMDP, pi: np.ndarray) -> np.ndarray:
    """The state occupancies nu(pi) = (1 - gamma) nu0' (I - gamma P_pi)^{-1}, [X]."""
    inverse = np.linalg.inv(np.eye(mdp.n_states) - mdp.gamma * averaged_kernel(mdp, pi))
    return (1 - mdp.gamma) * mdp.nu0 @ inverse
