"""What an MDP is made of, however it was stored, and that it stays so."""

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from reference.mdps import as_sparse, draw_kernel, draw_mdp
from reference.refusals import assert_refuses
from reference.solves import as_table

from optimist.mdp import FiniteMDP, LinearMDP

FORMATS = ("csr", "csc", "coo", "bsr", "dia", "lil", "dok")


def test_the_parts_are_those_given():
    rng = np.random.default_rng(0)
    P, r, nu0 = draw_kernel(rng, 4, 3), rng.normal(size=(4, 3)), rng.dirichlet(np.ones(4))
    mdp = FiniteMDP(P, r, nu0, 0.75)
    assert (mdp.n_states, mdp.n_actions, mdp.gamma, mdp.horizon) == (4, 3, 0.75, 4.0)
    assert_array_equal(mdp.P, P)
    assert_array_equal(mdp.kernel, P.reshape(12, 4))
    assert_array_equal(mdp.r, r)
    assert_array_equal(mdp.nu0, nu0)
    assert_array_equal(mdp.uniform_policy, np.full((4, 3), 1 / 3))
    assert mdp.transition_rewards is None
    assert mdp.reward_range == (r.min(), r.max())
    assert repr(mdp) == "FiniteMDP(states=4, actions=3, gamma=0.75)"


def test_every_sparse_format_is_read():
    rng = np.random.default_rng(1)
    P, r = draw_kernel(rng, 4, 3), rng.random((4, 3))
    for name in (f"{name}_{family}" for name in FORMATS for family in ("array", "matrix")):
        store = getattr(sp, name)
        mdp = FiniteMDP(store(P.reshape(12, 4)), r, [1, 0, 0, 0], 0.9)
        assert isinstance(mdp.kernel, sp.csr_array)
        assert mdp.P is mdp.kernel
        assert_array_equal(mdp.kernel.toarray(), P.reshape(12, 4))
        assert repr(mdp) == "FiniteMDP(states=4, actions=3, gamma=0.9, sparse)"
    whole = FiniteMDP(sp.eye_array(3, dtype=int, format="csr"), [[0], [1], [2]], [1, 0, 0], 0.5)
    assert whole.kernel.dtype == np.float64


def test_duplicate_entries_of_sparse_tables_are_added_up():
    twice = sp.coo_array(([0.75, 0.25, 1.25, -0.25], ([0, 0, 1, 1], [1, 1, 0, 0])), shape=(2, 2))
    stored = sp.csr_array(([1.25, -0.25, 1.0], [1, 1, 0], [0, 2, 3]), shape=(2, 2))
    for table in (twice, stored):
        mdp = FiniteMDP(table, table, [1, 0], 0.5)
        assert_array_equal(mdp.kernel.toarray(), [[0, 1], [1, 0]])
        assert_array_equal(mdp.r, [[1], [1]])
    assert stored.nnz == 3  # as it was given


def test_attributes_cannot_be_set_or_deleted():
    mdp = draw_mdp(np.random.default_rng(2))
    names = ("P", "r", "nu0", "gamma", "kernel", "reward_map", "colour")
    immutable = [
        (name, AttributeError, "^FiniteMDP is immutable: build a new one$") for name in names
    ]
    assert_refuses(lambda name: setattr(mdp, name, 1), *immutable)
    assert_refuses(lambda name: delattr(mdp, name), *immutable)


def test_arrays_are_read_only():
    rng = np.random.default_rng(3)
    P = draw_kernel(rng, 4, 3)
    dense = FiniteMDP(P, rng.random(P.shape), [1, 0, 0, 0], 0.9)
    best = dense.optimal()
    arrays = [dense.P, dense.kernel, dense.r, dense.nu0, dense.affine().r]
    arrays += [dense.transition_rewards, dense.affine().transition_rewards]
    arrays += [best.policy, best.V, best.Q]
    sparse = as_sparse(dense)
    for matrix in (sparse.kernel, sparse.transition_rewards, sparse.affine().transition_rewards):
        arrays += [matrix.data, matrix.indices, matrix.indptr]
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_what_happens_to_the_callers_arrays_changes_nothing():
    rng = np.random.default_rng(5)
    P, nu0 = draw_kernel(rng, 4, 3), rng.dirichlet(np.ones(4))
    for r in (rng.random((4, 3)), rng.random((4, 3, 4))):
        given = [P.copy(), r.copy(), nu0.copy()]
        mdp = FiniteMDP(*given, 0.9)
        other = mdp.with_rewards(given[1])
        for array in given:
            array[...] = 99
        fresh = FiniteMDP(P, r, nu0, 0.9)
        assert_array_equal(mdp.P, P)
        assert_array_equal(mdp.nu0, nu0)
        for one in (mdp, other):
            assert_array_equal(one.r, fresh.r)
            if r.ndim == 3:
                assert_array_equal(one.transition_rewards, r)


def test_what_happens_to_the_callers_sparse_arrays_changes_nothing():
    rng = np.random.default_rng(6)
    P = draw_kernel(rng, 4, 3).reshape(12, 4)
    r = np.where(P > 0, rng.random(P.shape), 0)
    for store in (sp.csr_array, sp.csc_array, sp.coo_array, sp.csr_matrix):
        given = [store(P), store(r)]
        mdp = FiniteMDP(*given, [1, 0, 0, 0], 0.9)
        for matrix in given:
            matrix.data[...] = 99
            for name in ("indices", "indptr"):
                if hasattr(matrix, name):
                    getattr(matrix, name)[...] = 0
        assert_array_equal(mdp.kernel.toarray(), P)
        assert_array_equal(mdp.transition_rewards.toarray(), r)
        assert_allclose(mdp.r, (P * r).sum(axis=1).reshape(4, 3), rtol=0, atol=1e-15)


def test_new_rewards_share_the_kernel():
    mdp = draw_mdp(np.random.default_rng(7))
    other = mdp.affine().with_rewards(np.ones((5, 3)))
    assert other.kernel is mdp.kernel
    assert other.reward_map.scale == 1
    assert other.transition_rewards is None
    assert_allclose(other.V(mdp.uniform_policy), 10, rtol=1e-13)
    with pytest.raises(ValueError, match=r"^r must have shape .*; got \(3, 5\)"):
        mdp.with_rewards(np.ones((3, 5)))


def test_one_state_and_one_action_are_enough():
    mdp = FiniteMDP([[[1.0]]], [[3]], [1], 0.75)
    assert mdp.value([[1.0]]) == mdp.optimal().value == 12
    assert mdp.occupancy([[1.0]]) == [[1.0]]
    assert mdp.suboptimality([[1.0]]) == 0


@pytest.mark.parametrize("name", ["dense", "sparse", "linear"])
def test_a_copy_is_equal_and_cannot_be_written(name):
    rng = np.random.default_rng(9)
    mdp = draw_mdp(rng, 4, 2).with_rewards(rng.random((4, 2, 4)))
    if name == "sparse":
        mdp = as_sparse(mdp)
    elif name == "linear":
        mdp = LinearMDP.random_simplex(rng, 3, 5, 2, 0.9)
    mdp.optimal()
    for other in (copy.deepcopy(mdp), pickle.loads(pickle.dumps(mdp))):
        assert other.optimal().value == mdp.optimal().value
        for array in (other.r, other.nu0, getattr(other.kernel, "data", other.kernel)):
            with pytest.raises((ValueError, TypeError)):
                array[0] = 0
        with pytest.raises(AttributeError, match="immutable"):
            other.r = mdp.r


# Rewards r(x, a, x'): their mean is used, the whole is kept.


def test_the_mean_under_P_is_used_and_the_whole_kept():
    """Dense and sparse tables agree in every combination."""
    rng = np.random.default_rng(0)
    P, r, nu0 = draw_kernel(rng, 6, 2), rng.normal(size=(6, 2, 6)), rng.dirichlet(np.ones(6))
    dense = FiniteMDP(P, r, nu0, 0.9)
    for mdp in (dense, dense.with_rewards(np.zeros((6, 2))).with_rewards(r)):
        assert_allclose(mdp.r, (P * r).sum(axis=-1), rtol=0, atol=1e-15)
        assert_array_equal(mdp.transition_rewards, r)
    flat_P, flat_r = P.reshape(12, 6), r.reshape(12, 6)
    for kernel in (P, sp.csr_array(flat_P)):
        for rewards in (r, sp.csr_array(flat_r), sp.coo_array(flat_r), sp.csc_matrix(flat_r)):
            mdp = FiniteMDP(kernel, rewards, nu0, 0.9)
            assert_allclose(mdp.r, dense.r, rtol=0, atol=1e-15)
            assert mdp.reward_range == dense.reward_range
            whole = mdp.transition_rewards
            assert sp.issparse(whole) == sp.issparse(kernel)
            kept = np.where(P > 0, r, 0) if sp.issparse(kernel) else r
            assert_array_equal(as_table(whole, mdp), kept)
    # Sparse rewards are zero where nothing is stored.
    P = sp.csr_array([[0.5, 0.5], [0.0, 1.0]])
    mdp = FiniteMDP(P, sp.csr_array([[0.0, 3.0], [7.0, 0.0]]), [1, 0], 0.9)
    assert_array_equal(mdp.r, [[1.5], [0.0]])
    assert mdp.reward_range == (0, 3)


def test_the_range_is_that_of_transitions_that_can_happen():
    P = np.array([[[1.0, 0.0]], [[0.5, 0.5]]])
    r = np.array([[[1.0, -50.0]], [[2.0, 4.0]]])
    assert FiniteMDP(P, r, [1, 0], 0.9).reward_range == (1, 4)
    stored_zero = sp.csr_array(([1.0, 0.0, 0.5, 0.5], [0, 1, 0, 1], [0, 2, 4]), shape=(2, 2))
    assert FiniteMDP(stored_zero, r, [1, 0], 0.9).reward_range == (1, 4)
