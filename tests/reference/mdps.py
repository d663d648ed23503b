"""Random MDPs, kernels and policies."""

import numpy as np
import scipy.sparse as sp

from optimist.mdp import FiniteMDP

KINDS = ("dense", "few successors", "deterministic", "absorbing", "chain", "mixed")
"""The kinds of kernels that `draw_kernel` draws."""


def random_mdp(
    n_states: int = 6, n_actions: int = 3, gamma: float = 0.9, seed: int = 0
) -> FiniteMDP:
    """A dense MDP with rewards in [0, 1], the same for the same seed."""
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(np.full(n_states, 0.5), size=(n_states, n_actions))
    r = rng.random((n_states, n_actions))
    return FiniteMDP(P, r, rng.dirichlet(np.ones(n_states)), gamma)


def draw_mdp(
    rng: np.random.Generator,
    n_states: int = 5,
    n_actions: int = 3,
    gamma: float = 0.9,
    kind: str = "mixed",
) -> FiniteMDP:
    """An MDP with rewards in [0, 1] whose episodes never start in a state of odd number."""
    nu0 = rng.dirichlet(np.ones(n_states)) * (np.arange(n_states) % 2 == 0)
    P = draw_kernel(rng, n_states, n_actions, kind)
    return FiniteMDP(P, rng.random((n_states, n_actions)), nu0 / nu0.sum(), gamma)


def draw_kernel(
    rng: np.random.Generator, n_states: int, n_actions: int, kind: str = "mixed"
) -> np.ndarray:
    """A kernel [X, A, X] of one of the `KINDS`; a mixed one has rows of all the others."""
    rows = [[_row(rng, n_states, x, kind) for _ in range(n_actions)] for x in range(n_states)]
    return np.array(rows)


def _row(rng: np.random.Generator, n_states: int, x: int, kind: str) -> np.ndarray:
    if kind == "mixed":
        kind = str(rng.choice(KINDS[:-1]))
    row = np.zeros(n_states)
    match kind:
        case "dense":
            return rng.dirichlet(np.ones(n_states))
        case "few successors":
            successors = rng.choice(n_states, size=min(3, n_states), replace=False)
            row[successors] = rng.dirichlet(np.ones(len(successors)))
        case "deterministic":
            row[rng.integers(n_states)] = 1
        case "absorbing":  # two states of three are never left
            row[x if x % 3 else rng.integers(n_states)] = 1
        case "chain":
            back, forth = max(x - 1, 0), min(x + 1, n_states - 1)
            np.add.at(row, [back, forth], rng.dirichlet(np.ones(2)))
    return row


def draw_policies(rng: np.random.Generator, n: int, n_states: int, n_actions: int) -> np.ndarray:
    """Policies [n, X, A]; some of their rows are deterministic, some never play some actions."""
    pi = rng.dirichlet(np.ones(n_actions), size=(n, n_states))
    kept = rng.random(pi.shape) < rng.choice([0.3, 0.7, 1.0], size=(n, 1, 1))
    one = rng.integers(n_actions, size=pi.shape[:2])
    kept[np.arange(n)[:, None], np.arange(n_states), one] = True
    pi = np.where(kept, pi + 1e-3, 0)
    return pi / pi.sum(axis=-1, keepdims=True)


def deterministic_policies(n_states: int, n_actions: int) -> np.ndarray:
    """Every deterministic policy, [A^X, X, A]."""
    choices = list(np.ndindex(*[n_actions] * n_states))
    return np.eye(n_actions)[np.array(choices)]


def as_sparse(mdp: FiniteMDP) -> FiniteMDP:
    """The same MDP, stored sparse."""
    whole = mdp.transition_rewards
    r = mdp.r if whole is None else sp.csr_array(np.asarray(whole).reshape(mdp.kernel.shape))
    return FiniteMDP(sp.csr_array(mdp.kernel), r, mdp.nu0, mdp.gamma)
