"""Each way to solve the systems, forced to be taken, gives what NumPy gives."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from optimist.mdp import FiniteMDP, dynamics, elimination


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


@pytest.fixture
def agrees(plain_V, plain_nu):
    def check(mdp, pi):
        V = np.array([plain_V(mdp, one) for one in pi])
        nu = np.array([plain_nu(mdp, one) for one in pi])
        scale = max(1, np.abs(V).max())
        np.testing.assert_allclose(mdp.V(pi), V, rtol=0, atol=1e-11 * scale)
        np.testing.assert_allclose(mdp.state_occupancy(pi), nu, rtol=0, atol=1e-11)

    return check


@pytest.mark.parametrize("gamma", [0.0, 0.9, 0.999])
def test_dense_systems(world, policies, as_sparse, taken, agrees, kind, gamma):
    rng = np.random.default_rng(0)
    mdp, pi = world(rng, 20, 3, gamma, kind), policies(rng, 31, 20, 3)
    agrees(mdp, pi)
    agrees(as_sparse(mdp), pi)  # too few states to be worth a sparse solver
    assert set(taken) == {"solve_dense"}


@pytest.mark.parametrize("gamma", [0.0, 0.9, 0.999])
@pytest.mark.parametrize("kind", ["few successors", "absorbing", "chain", "mixed"])
def test_sparse_systems(world, policies, as_sparse, taken, agrees, kind, gamma):
    rng = np.random.default_rng(1)
    mdp = as_sparse(world(rng, 400, 2, gamma, kind))
    agrees(mdp, policies(rng, 2, 400, 2))
    assert taken == ["solve_sparse"] * 4
    assert as_sparse(world(rng, 399, 2, gamma, "chain")).value(np.full((399, 2), 0.5)) > 0
    assert taken[-1] == "solve_dense"


@pytest.mark.parametrize("store", ["dense", "sparse"])
@pytest.mark.parametrize("gamma", [0.0, 0.9, 0.999])
def test_side_by_side_elimination(
    world, policies, as_sparse, taken, agrees, monkeypatch, kind, gamma, store
):
    monkeypatch.setattr(dynamics, "BATCH_GAIN", 1e-9)  # whatever the pattern
    rng = np.random.default_rng(2)
    mdp = world(rng, 17, 3, gamma, kind)
    agrees(mdp if store == "dense" else as_sparse(mdp), policies(rng, 32, 17, 3))
    assert taken == ["solve_batch"] * 2


def test_side_by_side_elimination_is_chosen_for_many_policies_of_a_sparse_pattern(
    world, policies, as_sparse, taken, agrees
):
    rng = np.random.default_rng(3)
    chain, dense = world(rng, 60, 2, 0.99, "chain"), world(rng, 60, 2, 0.99, "dense")
    for mdp in (chain, as_sparse(chain)):
        agrees(mdp, policies(rng, 32, 60, 2))
        assert taken == ["solve_batch"] * 2
        taken.clear()
    chain.V(policies(rng, 31, 60, 2))
    dense.V(policies(rng, 32, 60, 2))
    assert set(taken) == {"solve_dense"}


def test_side_by_side_elimination_of_states_that_never_meet(policies, taken, agrees, monkeypatch):
    monkeypatch.setattr(dynamics, "BATCH_GAIN", 1e-9)
    rng = np.random.default_rng(4)
    alone, together = np.ones((2, 1)), rng.dirichlet(np.ones(3), size=3).repeat(2, axis=0)
    islands = sp.block_diag([sp.csr_array(alone), together, np.eye(2)], format="csr")
    P = sp.csr_array(sp.vstack([islands, sp.csr_array(([1.0, 1.0], [4, 5], [0, 1, 2]))]))
    assert P.shape == (12, 6)
    mdp = FiniteMDP(P, rng.random((6, 2)), np.full(6, 1 / 6), 0.95)
    agrees(mdp, policies(rng, 40, 6, 2))
    assert taken == ["solve_batch"] * 2


def test_weights_that_sum_to_less_than_one_are_solved_too(world, policies, monkeypatch):
    monkeypatch.setattr(dynamics, "BATCH_GAIN", 1e-9)
    rng = np.random.default_rng(5)
    mdp = world(rng, 9, 3, 0.9)
    weights = policies(rng, 35, 9, 3) * rng.random((35, 9, 3))
    batch = mdp.dynamics.occupancies(weights, mdp.nu0)
    for w, nu in zip(weights, batch, strict=True):
        P_w = np.einsum("xa,xay->xy", w, mdp.P)
        plain = np.linalg.solve(np.eye(9) - 0.9 * P_w.T, 0.1 * mdp.nu0)
        np.testing.assert_allclose(nu, plain, rtol=0, atol=1e-13)


@pytest.mark.parametrize("gain", [1e-9, 1e9], ids=["side by side", "one by one"])
@pytest.mark.parametrize("n_bytes", [1, 8 * 12**2 * 7], ids=["chunks of 1", "chunks of 7"])
def test_batches_taken_in_chunks_are_the_same(
    world, policies, as_sparse, taken, monkeypatch, gain, n_bytes
):
    monkeypatch.setattr(dynamics, "BATCH_GAIN", gain)
    rng = np.random.default_rng(6)
    dense, pi = world(rng, 12, 3, 0.9), policies(rng, 50, 12, 3)
    sparse = as_sparse(dense)
    whole = [(mdp.V(pi), mdp.state_occupancy(pi)) for mdp in (dense, sparse)]
    assert len(taken) == 4
    monkeypatch.setattr(dynamics, "CHUNK_BYTES", n_bytes)
    for mdp, (V, nu) in zip((dense, sparse), whole, strict=True):
        np.testing.assert_allclose(mdp.V(pi), V, rtol=0, atol=1e-12)
        np.testing.assert_allclose(mdp.state_occupancy(pi), nu, rtol=0, atol=1e-12)
    assert len(taken) >= 4 + 4 * 5


def test_a_batch_in_a_dense_world_takes_little_memory(world, policies):
    rng = np.random.default_rng(7)
    mdp, pi = world(rng, 400, 1, 0.9, "dense"), policies(rng, 32, 400, 1)
    tracemalloc.start()
    mdp.V(pi)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4 * dynamics.CHUNK_BYTES
