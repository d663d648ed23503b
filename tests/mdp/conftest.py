"""Random worlds of many kinds, and the plainest way to solve them."""

from collections.abc import Callable

import numpy as np
import pytest
import scipy.sparse as sp

from optimist.mdp import FiniteMDP

KINDS = ("dense", "few successors", "deterministic", "absorbing", "chain", "mixed")


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
        case "absorbing":  # two of three states are left for good, or never
            row[x if x % 3 else rng.integers(n_states)] = 1
        case "chain":
            back, forth = max(x - 1, 0), min(x + 1, n_states - 1)
            np.add.at(row, [back, forth], rng.dirichlet(np.ones(2)))
    return row


def _kernel(
    rng: np.random.Generator, n_states: int, n_actions: int, kind: str = "mixed"
) -> np.ndarray:
    rows = [[_row(rng, n_states, x, kind) for _ in range(n_actions)] for x in range(n_states)]
    return np.array(rows)


def _policies(rng: np.random.Generator, n: int, n_states: int, n_actions: int) -> np.ndarray:
    """Random policies, of which some rows are deterministic and some leave actions out."""
    pi = rng.dirichlet(np.ones(n_actions), size=(n, n_states))
    kept = rng.random(pi.shape) < rng.choice([0.3, 0.7, 1.0], size=(n, 1, 1))
    kept[np.arange(n)[:, None], np.arange(n_states), rng.integers(n_actions, size=pi.shape[:2])] = (
        True
    )
    pi = np.where(kept, pi + 1e-3, 0)
    return pi / pi.sum(axis=-1, keepdims=True)


def _world(
    rng: np.random.Generator,
    n_states: int = 5,
    n_actions: int = 3,
    gamma: float = 0.9,
    kind: str = "mixed",
) -> FiniteMDP:
    """A random MDP with rewards in [0, 1], whose initial distribution leaves states out."""
    nu0 = rng.dirichlet(np.ones(n_states)) * (np.arange(n_states) % 2 == 0)
    return FiniteMDP(
        _kernel(rng, n_states, n_actions, kind),
        rng.random((n_states, n_actions)),
        nu0 / nu0.sum(),
        gamma,
    )


def _as_sparse(mdp: FiniteMDP) -> FiniteMDP:
    whole = mdp.transition_rewards
    r = mdp.r if whole is None else sp.csr_array(np.asarray(whole).reshape(mdp.kernel.shape))
    return FiniteMDP(sp.csr_array(mdp.kernel), r, mdp.nu0, mdp.gamma)


def _averaged(mdp: FiniteMDP, pi: np.ndarray) -> np.ndarray:
    """P_pi as a plain matrix."""
    kernel = mdp.kernel.toarray() if sp.issparse(mdp.kernel) else mdp.kernel
    return np.einsum("xa,xay->xy", pi, kernel.reshape(*mdp.r.shape, mdp.n_states))


def _plain_V(mdp: FiniteMDP, pi: np.ndarray) -> np.ndarray:
    system = np.eye(mdp.n_states) - mdp.gamma * _averaged(mdp, pi)
    return np.linalg.solve(system, (pi * mdp.r).sum(axis=1))


def _plain_nu(mdp: FiniteMDP, pi: np.ndarray) -> np.ndarray:
    inverse = np.linalg.inv(np.eye(mdp.n_states) - mdp.gamma * _averaged(mdp, pi))
    return (1 - mdp.gamma) * mdp.nu0 @ inverse


@pytest.fixture(scope="session", params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="session")
def kernel() -> Callable[..., np.ndarray]:
    return _kernel


@pytest.fixture(scope="session")
def policies() -> Callable[..., np.ndarray]:
    return _policies


@pytest.fixture(scope="session")
def world() -> Callable[..., FiniteMDP]:
    return _world


@pytest.fixture(scope="session")
def as_sparse() -> Callable[[FiniteMDP], FiniteMDP]:
    return _as_sparse


@pytest.fixture(scope="session")
def averaged() -> Callable[..., np.ndarray]:
    return _averaged


@pytest.fixture(scope="session")
def plain_V() -> Callable[..., np.ndarray]:
    return _plain_V


@pytest.fixture(scope="session")
def plain_nu() -> Callable[..., np.ndarray]:
    return _plain_nu
