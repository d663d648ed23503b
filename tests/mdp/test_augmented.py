"""Optimistically augmented MDPs, with the conventions of Section 2.2."""

import numpy as np
import pytest
import scipy.sparse as sp

from optimist.mdp import FiniteMDP, augment, with_heaven

R_MAX = 2.0


@pytest.fixture
def mdp(world):
    return world(np.random.default_rng(0), 5, 3, 0.9)


@pytest.fixture
def p():
    ascension = np.random.default_rng(1).random((5, 3))
    ascension[0] = 0, 1, 0.5
    return ascension


def table(mdp):
    kernel = mdp.kernel.toarray() if sp.issparse(mdp.kernel) else mdp.kernel
    return kernel.reshape(*mdp.r.shape, mdp.n_states)


@pytest.fixture(params=["dense", "sparse"])
def store(request, as_sparse):
    return as_sparse if request.param == "sparse" else lambda mdp: mdp


def test_the_process_ascends_with_probability_p(mdp, p, store):
    up = augment(store(mdp), p, R_MAX)
    assert (up.n_states, up.n_actions, up.gamma) == (6, 3, 0.9)
    P_plus = table(up)
    expected = (1 - p)[..., None] * mdp.P
    np.testing.assert_allclose(P_plus[:-1, :, :-1], expected, rtol=0, atol=1e-16)
    np.testing.assert_array_equal(P_plus[:-1, :, -1], p)
    assert sp.issparse(up.kernel) == sp.issparse(store(mdp).kernel)


def test_heaven_is_absorbing_pays_r_max_and_is_no_beginning(mdp, p, store):
    up = augment(store(mdp), p, R_MAX)
    np.testing.assert_array_equal(table(up)[-1], [[0, 0, 0, 0, 0, 1]] * 3)
    np.testing.assert_array_equal(up.r[-1], R_MAX)
    np.testing.assert_array_equal(up.nu0, [*mdp.nu0, 0])
    V = up.V(with_heaven(mdp.uniform_policy))
    assert V[-1] == pytest.approx(R_MAX / (1 - 0.9), rel=1e-14)
    assert up.optimal().V[-1] == pytest.approx(R_MAX / (1 - 0.9), rel=1e-14)


def test_rewards_mix_with_r_max(mdp, p, store):
    up = augment(store(mdp), p, R_MAX)
    np.testing.assert_allclose(up.r[:-1], (1 - p) * mdp.r + p * R_MAX, rtol=0, atol=1e-15)


def test_rewards_of_transitions_are_kept(mdp, p, store):
    whole = np.random.default_rng(2).random((5, 3, 5))
    paying = mdp.with_rewards(whole)
    up = augment(store(paying), p, R_MAX)
    np.testing.assert_allclose(up.r[:-1], (1 - p) * paying.r + p * R_MAX, rtol=0, atol=1e-15)
    kept = up.transition_rewards
    kept = (kept.toarray() if sp.issparse(kept) else kept).reshape(6, 3, 6)
    happens = table(up) > 0
    expected = np.full((6, 3, 6), R_MAX)
    expected[:-1, :, :-1] = whole
    np.testing.assert_array_equal(kept[happens], expected[happens])


def test_rewards_of_pairs_are_paid_on_every_transition(mdp, p, store):
    up = augment(store(mdp), p, R_MAX)
    kept = up.transition_rewards
    kept = (kept.toarray() if sp.issparse(kept) else kept).reshape(6, 3, 6)
    happens = table(up) > 0
    expected = np.full((6, 3, 6), R_MAX)
    expected[:-1, :, :-1] = mdp.r[..., None]
    np.testing.assert_array_equal(kept[happens], expected[happens])


def test_dense_and_sparse_are_solved_alike(mdp, p, as_sparse, policies):
    dense, sparse = augment(mdp, p, R_MAX), augment(as_sparse(mdp), p, R_MAX)
    pi = with_heaven(policies(np.random.default_rng(3), 4, 5, 3))
    np.testing.assert_allclose(dense.V(pi), sparse.V(pi), rtol=0, atol=1e-12)
    np.testing.assert_allclose(dense.occupancy(pi), sparse.occupancy(pi), rtol=0, atol=1e-14)


def test_without_ascension_the_values_are_the_original_ones(mdp, store, policies):
    up = augment(store(mdp), np.zeros((5, 3)), R_MAX)
    pi = policies(np.random.default_rng(4), 6, 5, 3)
    np.testing.assert_allclose(up.V(with_heaven(pi))[:, :-1], mdp.V(pi), rtol=0, atol=1e-13)
    mu = up.occupancy(with_heaven(pi))
    np.testing.assert_allclose(mu[:, :-1], mdp.occupancy(pi), rtol=0, atol=1e-14)
    np.testing.assert_array_equal(mu[:, -1], 0)
    np.testing.assert_allclose(up.optimal().V[:-1], mdp.optimal().V, rtol=0, atol=1e-13)


def test_certain_ascension_is_worth_r_max_for_ever(mdp, store, policies):
    up = augment(store(mdp), np.ones((5, 3)), R_MAX)
    pi = with_heaven(policies(np.random.default_rng(5), 6, 5, 3))
    np.testing.assert_allclose(up.V(pi), R_MAX / (1 - 0.9), rtol=1e-14, atol=0)
    nu = up.state_occupancy(pi)
    np.testing.assert_allclose(nu[:, :-1], 0.1 * mdp.nu0[None].repeat(6, 0), rtol=0, atol=1e-14)
    np.testing.assert_allclose(nu[:, -1], 0.9, rtol=0, atol=1e-14)


def test_policies_are_uniform_in_heaven_and_unchanged_elsewhere(policies):
    batch = policies(np.random.default_rng(6), 4, 5, 3)
    for pi in (batch, batch[0]):
        up = with_heaven(pi)
        assert up.shape == (*pi.shape[:-2], 6, 3)
        np.testing.assert_array_equal(up[..., :-1, :], pi)
        np.testing.assert_array_equal(up[..., -1, :], np.full_like(up[..., -1, :], 1 / 3))


def test_ascensions_that_are_no_probabilities_are_refused(mdp, p):
    with pytest.raises(ValueError, match=r"^ascension\[2, 1\] = -0.25 is negative$"):
        augment(mdp, np.where(np.arange(15).reshape(5, 3) == 7, -0.25, p), R_MAX)
    with pytest.raises(ValueError, match=r"^ascension\[2, 1\] = 1.25 exceeds 1$"):
        augment(mdp, np.where(np.arange(15).reshape(5, 3) == 7, 1.25, p), R_MAX)
    with pytest.raises(ValueError, match=r"^ascension\[2, 1\] is nan"):
        augment(mdp, np.where(np.arange(15).reshape(5, 3) == 7, np.nan, p), R_MAX)


@pytest.mark.parametrize("shape", [(3, 5), (6, 3), (15,), (), (2, 5, 3), (1, 5, 3)])
def test_ascensions_of_the_wrong_shape_are_refused(mdp, store, shape):
    with pytest.raises(ValueError, match=r"^ascension has shape \(.*\); it must .*\(5, 3\)"):
        augment(store(mdp), np.zeros(shape), R_MAX)


@pytest.mark.parametrize("excess", [-1e-6, 1e-6])
def test_rewards_outside_the_range_are_refused(mdp, p, store, excess):
    r = mdp.affine(r_max=R_MAX).r + excess
    beyond = store(mdp.with_rewards(r))
    with pytest.raises(ValueError, match=r"^rewards span \[.*\]; .* \[0, 2\]: FiniteMDP.affine"):
        augment(beyond, p, R_MAX)


def test_the_range_of_rewards_is_that_of_transitions(p, mdp):
    whole = np.zeros((5, 3, 5))
    whole[...] = np.where(mdp.P > 0, 1.0, -9.0)  # what cannot happen is not paid
    augment(mdp.with_rewards(whole), p, 1.0)
    spread = FiniteMDP([[[0.5, 0.5]]] * 2, [[[-1.0, 2.0]]] * 2, [1, 0], 0.9)
    with pytest.raises(ValueError, match=r"^rewards span \[-1, 2\]; they must lie in"):
        augment(spread, [[0.0], [0.0]], 2.0)
    with pytest.raises(ValueError, match=r"^r_max is nan"):
        augment(mdp, p, float("nan"))
