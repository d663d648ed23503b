"""Small worlds as arrays, with an expert whose actions are scattered over the states."""

from dataclasses import dataclass

import numpy as np
from reference.mdps import draw_mdp, draw_policies


@dataclass(frozen=True)
class Arrays:
    P: np.ndarray
    r: np.ndarray
    nu0: np.ndarray
    gamma: float
    expert: np.ndarray

    @property
    def H(self):
        return 1 / (1 - self.gamma)

    @property
    def shape(self):
        return self.r.shape

    @property
    def world(self):
        return self.P, self.nu0, self.gamma


def reset_cliff(n=8, n_actions=3, gamma=0.9, seed=0, m=0, pairs=False):
    """One action of each good state leads to rho, all others to the bad state, which is absorbing.

    rho is uniform, or with m > 0 the hard one: 1/(m+1) on n - 2 states, the rest on one.
    The reward is 1 on good states, or with ``pairs`` on (good, a*).
    """
    rng = np.random.default_rng(seed)
    best = rng.integers(n_actions, size=n - 1)
    rho = np.zeros(n)
    rho[:-1] = 1 / (n - 1)
    if m:
        rho[:-1] = 1 / (m + 1)
        rho[n - 2] = 1 - (n - 2) / (m + 1)
    P = np.zeros((n, n_actions, n))
    P[:, :, -1] = 1
    P[np.arange(n - 1), best] = rho
    expert = np.full((n, n_actions), 1 / n_actions)
    expert[:-1] = np.eye(n_actions)[best]
    r = np.zeros((n, n_actions))
    r[:-1] = np.eye(n_actions)[best] if pairs else 1
    return Arrays(P, r, rho, gamma, expert)


def standard_imitation(n=6, n_actions=3, gamma=0.9, seed=0):
    """Every state is absorbing; r = 1 on (x, a*(x))."""
    rng = np.random.default_rng(seed)
    best = np.eye(n_actions)[rng.integers(n_actions, size=n)]
    P = np.broadcast_to(np.eye(n)[:, None], (n, n_actions, n)).copy()
    return Arrays(P, best, np.full(n, 1 / n), gamma, best)


def random_world(seed, n=5, n_actions=3, gamma=0.9, kind="mixed", deterministic=True):
    """A random MDP; the expert is a random policy, deterministic unless said otherwise."""
    rng = np.random.default_rng(seed)
    mdp = draw_mdp(rng, n, n_actions, gamma, kind)
    expert = np.eye(n_actions)[rng.integers(n_actions, size=n)]
    if not deterministic:
        expert = draw_policies(rng, 1, n, n_actions)[0]
    return Arrays(np.array(mdp.P), np.array(mdp.r), np.array(mdp.nu0), gamma, expert)


def random_mixture(seed, d=3, n=6, n_actions=3, gamma=0.9):
    """P = sum_i theta_i P_i: the arrays, the kernels P_i [d, X, A, X], and theta on the simplex."""
    rng = np.random.default_rng(seed)
    kernels = rng.dirichlet(np.full(n, 0.3), size=(d, n, n_actions))
    theta = rng.dirichlet(np.ones(d))
    P = np.einsum("i,ixay->xay", theta, kernels)
    expert = np.eye(n_actions)[rng.integers(n_actions, size=n)]
    arrays = Arrays(P, rng.random((n, n_actions)), rng.dirichlet(np.ones(n)), gamma, expert)
    return arrays, kernels, theta


def chain_of_shani(gamma=1 - 1 / 32, alpha=0.05):
    """s_0, absorbing s_1: a_0 stays in s_0 but for a slip, a_1 leaves; the expert plays a_0."""
    P = np.zeros((2, 2, 2))
    P[0, 0] = 1 - alpha, alpha
    P[0, 1, 1] = P[1, :, 1] = 1
    r = np.array([[1.0, 1.0], [0.0, 0.0]])
    return Arrays(P, r, np.array([1.0, 0.0]), gamma, np.array([[1.0, 0.0], [0.5, 0.5]]))
