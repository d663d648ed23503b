"""Rewards r(x, a, x'): their mean is used, the whole is kept."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from reference.mdps import draw_kernel

from optimist.mdp import FiniteMDP


@pytest.fixture
def tables():
    rng = np.random.default_rng(0)
    return draw_kernel(rng, 6, 2), rng.normal(size=(6, 2, 6)), rng.dirichlet(np.ones(6))


def test_the_mean_under_P_is_used_and_the_whole_kept(tables):
    P, r, nu0 = tables
    given_later = FiniteMDP(P, np.zeros((6, 2)), nu0, 0.9).with_rewards(r)
    for mdp in (FiniteMDP(P, r, nu0, 0.9), given_later):
        assert_allclose(mdp.r, (P * r).sum(axis=-1), rtol=0, atol=1e-15)
        assert_array_equal(mdp.transition_rewards, r)


def test_dense_and_sparse_tables_agree_in_every_combination(tables):
    P, r, nu0 = tables
    dense = FiniteMDP(P, r, nu0, 0.9)
    flat_P, flat_r = P.reshape(12, 6), r.reshape(12, 6)
    for kernel in (P, sp.csr_array(flat_P)):
        for rewards in (r, sp.csr_array(flat_r), sp.coo_array(flat_r), sp.csc_matrix(flat_r)):
            mdp = FiniteMDP(kernel, rewards, nu0, 0.9)
            assert_allclose(mdp.r, dense.r, rtol=0, atol=1e-15)
            assert mdp.reward_range == dense.reward_range
            whole = mdp.transition_rewards
            assert sp.issparse(whole) == sp.issparse(kernel)
            if sp.issparse(whole):
                assert_array_equal(whole.toarray(), np.where(flat_P > 0, flat_r, 0))
            else:
                assert_array_equal(whole, r)


def test_sparse_rewards_are_zero_where_nothing_is_stored():
    P = sp.csr_array([[0.5, 0.5], [0.0, 1.0]])
    mdp = FiniteMDP(P, sp.csr_array([[0.0, 3.0], [7.0, 0.0]]), [1, 0], 0.9)
    assert_array_equal(mdp.r, [[1.5], [0.0]])
    assert mdp.reward_range == (0, 3)


def test_duplicate_entries_of_sparse_rewards_are_added_up():
    P = sp.csr_array([[0.5, 0.5], [0.0, 1.0]])
    twice = sp.coo_array(([1.0, 2.0], ([0, 0], [1, 1])), shape=(2, 2))
    stored = sp.csr_array(([1.0, 2.0], [1, 1], [0, 2, 2]), shape=(2, 2))
    for r in (twice, stored):
        assert_array_equal(FiniteMDP(P, r, [1, 0], 0.9).r, [[1.5], [0.0]])
        assert stored.nnz == 2


def test_the_range_is_that_of_transitions_that_can_happen():
    P = np.array([[[1.0, 0.0]], [[0.5, 0.5]]])
    r = np.array([[[1.0, -50.0]], [[2.0, 4.0]]])
    assert FiniteMDP(P, r, [1, 0], 0.9).reward_range == (1, 4)
    stored_zero = sp.csr_array(([1.0, 0.0, 0.5, 0.5], [0, 1, 0, 1], [0, 2, 4]), shape=(2, 2))
    assert FiniteMDP(stored_zero, r, [1, 0], 0.9).reward_range == (1, 4)
