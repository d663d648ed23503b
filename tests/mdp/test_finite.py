"""What an MDP is made of, however it was stored, and that it stays so."""

import numpy as np
import pytest
import scipy.sparse as sp

from optimist.mdp import FiniteMDP

FORMATS = [
    getattr(sp, f"{name}_{family}")
    for name in ("csr", "csc", "coo", "bsr", "dia", "lil", "dok")
    for family in ("array", "matrix")
]


def test_the_parts_are_those_given(kernel):
    rng = np.random.default_rng(0)
    P, r, nu0 = kernel(rng, 4, 3), rng.normal(size=(4, 3)), rng.dirichlet(np.ones(4))
    mdp = FiniteMDP(P, r, nu0, 0.75)
    assert (mdp.n_states, mdp.n_actions, mdp.gamma, mdp.horizon) == (4, 3, 0.75, 4.0)
    np.testing.assert_array_equal(mdp.P, P)
    np.testing.assert_array_equal(mdp.kernel, P.reshape(12, 4))
    np.testing.assert_array_equal(mdp.r, r)
    np.testing.assert_array_equal(mdp.nu0, nu0)
    np.testing.assert_array_equal(mdp.uniform_policy, np.full((4, 3), 1 / 3))
    assert mdp.transition_rewards is None
    assert mdp.reward_range == (r.min(), r.max())
    assert repr(mdp) == "FiniteMDP(states=4, actions=3, gamma=0.75)"


@pytest.mark.parametrize("store", FORMATS, ids=lambda store: store.__name__)
def test_every_sparse_format_is_read(kernel, store):
    rng = np.random.default_rng(1)
    P, r = kernel(rng, 4, 3), rng.random((4, 3))
    mdp = FiniteMDP(store(P.reshape(12, 4)), r, [1, 0, 0, 0], 0.9)
    assert isinstance(mdp.kernel, sp.csr_array)
    assert mdp.P is mdp.kernel
    np.testing.assert_array_equal(mdp.kernel.toarray(), P.reshape(12, 4))
    assert repr(mdp) == "FiniteMDP(states=4, actions=3, gamma=0.9, sparse)"


def test_duplicate_entries_of_a_sparse_kernel_are_added_up():
    twice = sp.coo_array(([0.75, 0.25, 1.25, -0.25], ([0, 0, 1, 1], [1, 1, 0, 0])), shape=(2, 2))
    for P in (twice, sp.csr_array(([1.25, -0.25, 1.0], [1, 1, 0], [0, 2, 3]), shape=(2, 2))):
        mdp = FiniteMDP(P, [[0.0], [1.0]], [1, 0], 0.5)
        np.testing.assert_array_equal(mdp.kernel.toarray(), [[0, 1], [1, 0]])


def test_a_sparse_kernel_of_whole_numbers_is_read():
    mdp = FiniteMDP(sp.eye_array(3, dtype=int, format="csr"), [[0], [1], [2]], [1, 0, 0], 0.5)
    assert mdp.kernel.dtype == np.float64
    np.testing.assert_allclose(mdp.optimal().V, [0, 2, 4], rtol=0, atol=1e-15)


@pytest.mark.parametrize("name", ["P", "r", "nu0", "gamma", "kernel", "reward_map", "colour"])
def test_attributes_cannot_be_set_or_deleted(world, name):
    mdp = world(np.random.default_rng(2))
    with pytest.raises(AttributeError, match=r"^FiniteMDP is immutable: build a new one$"):
        setattr(mdp, name, 1)
    with pytest.raises(AttributeError, match=r"^FiniteMDP is immutable: build a new one$"):
        delattr(mdp, name)


def test_arrays_are_read_only(kernel):
    rng = np.random.default_rng(3)
    P = kernel(rng, 4, 3)
    mdp = FiniteMDP(P, rng.random(P.shape), [1, 0, 0, 0], 0.9)
    best = mdp.optimal()
    arrays = [mdp.P, mdp.kernel, mdp.r, mdp.nu0, mdp.transition_rewards, mdp.affine().r]
    arrays += [mdp.affine().transition_rewards, best.policy, best.V, best.Q]
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_sparse_arrays_are_read_only(kernel):
    rng = np.random.default_rng(4)
    P = sp.csr_array(kernel(rng, 4, 3).reshape(12, 4))
    mdp = FiniteMDP(P, sp.csr_array(rng.random(P.shape)), [1, 0, 0, 0], 0.9)
    for matrix in (mdp.kernel, mdp.transition_rewards, mdp.affine().transition_rewards):
        for array in (matrix.data, matrix.indices, matrix.indptr):
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0


def test_what_happens_to_the_callers_arrays_changes_nothing(kernel):
    rng = np.random.default_rng(5)
    P, nu0 = kernel(rng, 4, 3), rng.dirichlet(np.ones(4))
    for r in (rng.random((4, 3)), rng.random((4, 3, 4))):
        given = [P.copy(), r.copy(), nu0.copy()]
        mdp = FiniteMDP(*given, 0.9)
        other = mdp.with_rewards(given[1])
        for array in given:
            array[...] = 99
        fresh = FiniteMDP(P, r, nu0, 0.9)
        np.testing.assert_array_equal(mdp.P, P)
        np.testing.assert_array_equal(mdp.nu0, nu0)
        for one in (mdp, other):
            np.testing.assert_array_equal(one.r, fresh.r)
            if r.ndim == 3:
                np.testing.assert_array_equal(one.transition_rewards, r)


@pytest.mark.parametrize("store", [sp.csr_array, sp.csc_array, sp.coo_array, sp.csr_matrix])
def test_what_happens_to_the_callers_sparse_arrays_changes_nothing(kernel, store):
    rng = np.random.default_rng(6)
    P = kernel(rng, 4, 3).reshape(12, 4)
    r = np.where(P > 0, rng.random(P.shape), 0)
    given = [store(P), store(r)]
    mdp = FiniteMDP(*given, [1, 0, 0, 0], 0.9)
    for matrix in given:
        matrix.data[...] = 99
        for name in ("indices", "indptr"):
            if hasattr(matrix, name):
                getattr(matrix, name)[...] = 0
    np.testing.assert_array_equal(mdp.kernel.toarray(), P)
    np.testing.assert_array_equal(mdp.transition_rewards.toarray(), r)
    np.testing.assert_allclose(mdp.r, (P * r).sum(axis=1).reshape(4, 3), rtol=0, atol=1e-15)


def test_the_callers_sparse_matrix_is_left_as_it_is():
    P = sp.csr_array(([0.75, 0.25, 1.0], [1, 1, 0], [0, 2, 3]), shape=(2, 2))
    FiniteMDP(P, [[0.0], [1.0]], [1, 0], 0.5)
    assert P.nnz == 3
    P.data[0] = 5  # still theirs to write


def test_new_rewards_share_the_kernel(world):
    mdp = world(np.random.default_rng(7))
    other = mdp.affine().with_rewards(np.ones((5, 3)))
    assert other.kernel is mdp.kernel
    assert other.reward_map.scale == 1
    assert other.transition_rewards is None
    np.testing.assert_allclose(other.V(mdp.uniform_policy), 10, rtol=1e-13)
    with pytest.raises(ValueError, match=r"^r has shape \(3, 5\)"):
        mdp.with_rewards(np.ones((3, 5)))


def test_gamma_zero_is_the_reward_of_one_step(world, policies, as_sparse):
    rng = np.random.default_rng(8)
    mdp, pi = world(rng, gamma=0), policies(rng, 1, 5, 3)[0]
    for one in (mdp, as_sparse(mdp)):
        np.testing.assert_allclose(one.V(pi), (pi * mdp.r).sum(axis=1), rtol=0, atol=1e-15)
        np.testing.assert_array_equal(one.Q(pi), mdp.r)
        np.testing.assert_array_equal(one.state_occupancy(pi), mdp.nu0)
        np.testing.assert_array_equal(one.optimal().V, mdp.r.max(axis=1))


def test_one_state_and_one_action_are_enough():
    mdp = FiniteMDP([[[1.0]]], [[3]], [1], 0.75)
    assert mdp.value([[1.0]]) == mdp.optimal().value == 12
    assert mdp.occupancy([[1.0]]) == [[1.0]]
    assert mdp.suboptimality([[1.0]]) == 0
