"""Values and occupancies, of one policy and of batches, against plain linear algebra."""

import numpy as np
from numpy.testing import assert_allclose
from reference.mdps import as_sparse, draw_mdp, draw_policies
from reference.solves import averaged_kernel, plain_nu, plain_V

GAMMAS = [0.0, 0.5, 0.9, 0.99, 0.999]


def test_values_and_occupancies_are_those_of_a_plain_solve(kind):
    """For one policy, and for batches of several sizes."""
    rng = np.random.default_rng(0)
    for gamma in GAMMAS:
        dense, pi = draw_mdp(rng, 7, 3, gamma, kind), draw_policies(rng, 40, 7, 3)
        Phi = rng.normal(size=(7, 3, 4))
        V = np.array([plain_V(dense, one) for one in pi])
        nu = np.array([plain_nu(dense, one) for one in pi])
        mu, scale = nu[..., None] * pi, max(1, dense.optimal().V.max())
        expected = {
            "V": (V, 1e-12 * scale),
            "Q": (dense.r + gamma * np.einsum("xay,ny->nxa", dense.P, V), 1e-12 * scale),
            "value": (V @ dense.nu0, 1e-12 * scale),
            "suboptimality": (dense.optimal().value - V @ dense.nu0, 1e-12 * scale),
            "state_occupancy": (nu, 1e-12),
            "occupancy": (mu, 1e-12),
            "feature_expectations": (np.einsum("nxa,xad->nd", mu, Phi), 1e-11),
        }
        for mdp in (dense, as_sparse(dense)):
            for name, (right, close) in expected.items():
                solve, options = getattr(mdp, name), [Phi] if name == "feature_expectations" else []
                for batch in (0, slice(1), slice(3), slice(40)):
                    found = solve(pi[batch], *options)
                    assert np.shape(found) == right[batch].shape
                    assert_allclose(found, right[batch], rtol=0, atol=close)


def test_values_and_occupancies_are_their_power_series():
    rng = np.random.default_rng(1)
    mdp, pi = draw_mdp(rng, 6, 3, 0.9), draw_policies(rng, 1, 6, 3)[0]
    P_pi, r_pi = averaged_kernel(mdp, pi), (pi * mdp.r).sum(axis=1)
    V, nu, reward, state = np.zeros(6), np.zeros(6), r_pi, mdp.nu0
    for t in range(400):
        V += 0.9**t * reward
        nu += 0.1 * 0.9**t * state
        reward, state = P_pi @ reward, state @ P_pi
    assert_allclose(mdp.V(pi), V, rtol=0, atol=1e-13)
    assert_allclose(mdp.state_occupancy(pi), nu, rtol=0, atol=1e-13)


def test_bellman_equations(kind):
    rng = np.random.default_rng(2)
    for gamma in GAMMAS:
        mdp, pi = draw_mdp(rng, 8, 2, gamma, kind), draw_policies(rng, 5, 8, 2)
        V, Q = mdp.V(pi), mdp.Q(pi)
        backup = mdp.r + gamma * np.einsum("xay,ny->nxa", mdp.P, V)
        assert_allclose(Q, backup, rtol=1e-12, atol=1e-12)
        assert_allclose(V, (pi * Q).sum(axis=-1), rtol=1e-12, atol=1e-12)


def test_one_policy_has_plain_numbers_and_an_empty_batch_empty_arrays():
    dense = draw_mdp(np.random.default_rng(5), 4, 3)
    for mdp in (dense, as_sparse(dense)):
        for method in (mdp.value, mdp.suboptimality):
            assert isinstance(method(mdp.uniform_policy), float)
        none = np.zeros((0, 4, 3))
        assert mdp.V(none).shape == mdp.state_occupancy(none).shape == (0, 4)
        assert mdp.Q(none).shape == mdp.occupancy(none).shape == (0, 4, 3)
        assert mdp.value(none).shape == mdp.suboptimality(none).shape == (0,)
