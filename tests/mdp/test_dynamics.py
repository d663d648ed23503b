"""Each way to solve the linear systems, forced to be taken, gives what NumPy gives."""

import itertools
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from reference.mdps import as_sparse, draw_mdp, draw_policies
from reference.solves import plain_nu, plain_V
from threadpoolctl import threadpool_info

from optimist.mdp import FiniteMDP, dynamics, elimination

GAMMAS = [0.0, 0.9, 0.999]


@pytest.fixture
def taken(monkeypatch):
    """The names of the solvers that ran, in order."""
    ran = []

    def record(owner, name):
        solver = getattr(owner, name)

        def recorded(*args, **kwargs):
            ran.append(name)
            return solver(*args, **kwargs)

        monkeypatch.setattr(owner, name, recorded)

    record(dynamics, "solve_dense")
    record(dynamics, "solve_sparse")
    record(elimination, "solve_batch")
    return ran


def assert_solved(mdp, pi):
    V = np.array([plain_V(mdp, one) for one in pi])
    nu = np.array([plain_nu(mdp, one) for one in pi])
    scale = max(1, np.abs(V).max())
    assert_allclose(mdp.V(pi), V, rtol=0, atol=1e-11 * scale)
    assert_allclose(mdp.state_occupancy(pi), nu, rtol=0, atol=1e-11)


@pytest.mark.parametrize(
    ("gain", "n_policies", "solver"), [(None, 31, "solve_dense"), (1e-9, 32, "solve_batch")]
)
def test_systems_of_few_states(taken, monkeypatch, kind, gain, n_policies, solver):
    """Sparse ones too: there are too few states to be worth a sparse solver."""
    if gain is not None:
        monkeypatch.setattr(dynamics, "BATCH_GAIN", gain)  # whatever the pattern
    rng = np.random.default_rng(0)
    for gamma in GAMMAS:
        mdp, pi = draw_mdp(rng, 17, 3, gamma, kind), draw_policies(rng, n_policies, 17, 3)
        assert_solved(mdp, pi)
        assert_solved(as_sparse(mdp), pi)
    assert taken == [solver] * 4 * len(GAMMAS)


@pytest.mark.parametrize(
    ("kind", "gamma"),
    [("few successors", 0.999), ("absorbing", 0.9), ("chain", 0.999), ("mixed", 0.0)],
)
def test_sparse_systems(taken, kind, gamma):
    rng = np.random.default_rng(1)
    mdp = as_sparse(draw_mdp(rng, 400, 2, gamma, kind))
    assert_solved(mdp, draw_policies(rng, 2, 400, 2))
    assert taken == ["solve_sparse"] * 4
    assert as_sparse(draw_mdp(rng, 399, 2, gamma, "chain")).value(np.full((399, 2), 0.5)) > 0
    assert taken[-1] == "solve_dense"


def test_batched_elimination_is_chosen_for_many_policies_of_a_sparse_pattern(taken):
    rng = np.random.default_rng(3)
    chain, dense = draw_mdp(rng, 60, 2, 0.99, "chain"), draw_mdp(rng, 60, 2, 0.99, "dense")
    for mdp in (chain, as_sparse(chain)):
        assert_solved(mdp, draw_policies(rng, 32, 60, 2))
        assert taken == ["solve_batch"] * 2
        taken.clear()
    chain.V(draw_policies(rng, 31, 60, 2))
    dense.V(draw_policies(rng, 32, 60, 2))
    assert set(taken) == {"solve_dense"}


def test_batched_elimination_of_states_that_never_meet(taken, monkeypatch):
    monkeypatch.setattr(dynamics, "BATCH_GAIN", 1e-9)
    rng = np.random.default_rng(4)
    alone, together = np.ones((2, 1)), rng.dirichlet(np.ones(3), size=3).repeat(2, axis=0)
    islands = sp.block_diag([sp.csr_array(alone), together, np.eye(2)], format="csr")
    P = sp.csr_array(sp.vstack([islands, sp.csr_array(([1.0, 1.0], [4, 5], [0, 1, 2]))]))
    assert P.shape == (12, 6)
    mdp = FiniteMDP(P, rng.random((6, 2)), np.full(6, 1 / 6), 0.95)
    assert_solved(mdp, draw_policies(rng, 40, 6, 2))
    assert taken == ["solve_batch"] * 2


def test_weights_that_sum_to_less_than_one_are_solved_too(monkeypatch):
    monkeypatch.setattr(dynamics, "BATCH_GAIN", 1e-9)
    rng = np.random.default_rng(5)
    mdp = draw_mdp(rng, 9, 3, 0.9)
    weights = draw_policies(rng, 35, 9, 3) * rng.random((35, 9, 3))
    batch = mdp.dynamics.occupancies(weights, mdp.nu0)
    for w, nu in zip(weights, batch, strict=True):
        P_w = np.einsum("xa,xay->xy", w, mdp.P)
        plain = np.linalg.solve(np.eye(9) - 0.9 * P_w.T, 0.1 * mdp.nu0)
        assert_allclose(nu, plain, rtol=0, atol=1e-13)


@pytest.mark.parametrize("gain", [1e-9, 1e9], ids=["batched elimination", "dense solves"])
def test_batches_taken_in_chunks_are_the_same(taken, monkeypatch, gain):
    monkeypatch.setattr(dynamics, "BATCH_GAIN", gain)
    rng = np.random.default_rng(6)
    dense, pi = draw_mdp(rng, 12, 3, 0.9), draw_policies(rng, 50, 12, 3)
    mdps = dense, as_sparse(dense)
    whole = [(mdp.V(pi), mdp.state_occupancy(pi)) for mdp in mdps]
    assert len(taken) == 4
    one_system, seven_systems = 1, 8 * 12**2 * 7  # in bytes; there is always room for one
    for room, (mdp, (V, nu)) in itertools.product(
        (one_system, seven_systems), zip(mdps, whole, strict=True)
    ):
        monkeypatch.setattr(dynamics, "CHUNK_BYTES", room)
        taken.clear()
        assert_allclose(mdp.V(pi), V, rtol=0, atol=1e-12)
        assert_allclose(mdp.state_occupancy(pi), nu, rtol=0, atol=1e-12)
        assert len(taken) >= 2 * 5


def test_a_batch_of_dense_systems_takes_little_memory():
    rng = np.random.default_rng(7)
    mdp, pi = draw_mdp(rng, 400, 1, 0.9, "dense"), draw_policies(rng, 32, 400, 1)
    tracemalloc.start()
    mdp.V(pi)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4 * dynamics.CHUNK_BYTES


def blas_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_small_systems_are_solved_by_one_blas_thread():
    with dynamics.one_thread():
        assert set(blas_threads()) == {1}


def test_solving_in_several_python_threads_leaves_blas_the_threads_it_had():
    mdp = draw_mdp(np.random.default_rng(0), 200, 2, 0.9, "dense")
    before = blas_threads()
    with ThreadPoolExecutor(4) as pool:
        values = list(pool.map(lambda _: mdp.value(mdp.uniform_policy), range(40)))
    assert blas_threads() == before
    assert len(set(values)) == 1
