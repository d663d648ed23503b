"""Values and occupancies, of one policy and of batches, against plain linear algebra."""

import numpy as np
import pytest

from optimist.mdp import FiniteMDP

GAMMAS = [0.0, 0.5, 0.9, 0.99, 0.999]
METHODS = ["V", "Q", "value", "state_occupancy", "occupancy", "suboptimality"]


@pytest.mark.parametrize("gamma", GAMMAS)
def test_values_and_occupancies_are_those_of_a_plain_solve(
    world, policies, plain_V, plain_nu, as_sparse, kind, gamma
):
    rng = np.random.default_rng(0)
    dense = world(rng, 7, 3, gamma, kind)
    scale = max(1, np.abs(dense.optimal().V).max())
    Phi = rng.normal(size=(7, 3, 4))
    for pi in policies(rng, 5, 7, 3):
        V, nu = plain_V(dense, pi), plain_nu(dense, pi)
        for mdp in (dense, as_sparse(dense)):
            np.testing.assert_allclose(mdp.V(pi), V, rtol=0, atol=1e-12 * scale)
            np.testing.assert_allclose(
                mdp.Q(pi), dense.r + gamma * dense.P @ V, rtol=0, atol=1e-12 * scale
            )
            assert mdp.value(pi) == pytest.approx(dense.nu0 @ V, rel=0, abs=1e-12 * scale)
            np.testing.assert_allclose(mdp.state_occupancy(pi), nu, rtol=0, atol=1e-12)
            mu = nu[:, None] * pi
            np.testing.assert_allclose(mdp.occupancy(pi), mu, rtol=0, atol=1e-12)
            expected = np.einsum("xa,xad->d", mu, Phi)
            found = mdp.feature_expectations(pi, Phi)
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11)


def test_values_and_occupancies_are_their_power_series(world, policies, averaged):
    rng = np.random.default_rng(1)
    mdp = world(rng, 6, 3, 0.9)
    pi = policies(rng, 1, 6, 3)[0]
    P_pi, r_pi = averaged(mdp, pi), (pi * mdp.r).sum(axis=1)
    V, nu, reward, state = np.zeros(6), np.zeros(6), r_pi, mdp.nu0
    for t in range(400):
        V += 0.9**t * reward
        nu += 0.1 * 0.9**t * state
        reward, state = P_pi @ reward, state @ P_pi
    np.testing.assert_allclose(mdp.V(pi), V, rtol=0, atol=1e-13)
    np.testing.assert_allclose(mdp.state_occupancy(pi), nu, rtol=0, atol=1e-13)


@pytest.mark.parametrize("gamma", GAMMAS)
def test_bellman_equations(world, policies, kind, gamma):
    rng = np.random.default_rng(2)
    mdp = world(rng, 8, 2, gamma, kind)
    for pi in policies(rng, 5, 8, 2):
        V, Q = mdp.V(pi), mdp.Q(pi)
        np.testing.assert_allclose(Q, mdp.r + gamma * mdp.P @ V, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(V, (pi * Q).sum(axis=1), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("gamma", GAMMAS)
def test_the_value_is_the_horizon_times_the_mean_reward(world, policies, kind, gamma):
    rng = np.random.default_rng(3)
    mdp = world(rng, 8, 2, gamma, kind)
    pi = policies(rng, 20, 8, 2)
    mean = (mdp.occupancy(pi) * mdp.r).sum(axis=(1, 2))
    np.testing.assert_allclose(mdp.value(pi), mdp.horizon * mean, rtol=1e-11, atol=0)


@pytest.mark.parametrize("gamma", GAMMAS)
def test_a_batch_is_its_policies_one_at_a_time(world, policies, as_sparse, kind, gamma):
    rng = np.random.default_rng(4)
    dense = world(rng, 9, 3, gamma, kind)
    Phi = rng.normal(size=(9, 3, 2))
    close = {"rtol": 0, "atol": 1e-12 * max(100, dense.horizon)}
    for mdp in (dense, as_sparse(dense)):
        for n in (1, 3, 40):
            pi = policies(rng, n, 9, 3)
            for method in METHODS:
                solve = getattr(mdp, method)
                alone = np.array([solve(one) for one in pi])
                np.testing.assert_allclose(solve(pi), alone, **close)
            alone = np.array([mdp.feature_expectations(one, Phi) for one in pi])
            np.testing.assert_allclose(mdp.feature_expectations(pi, Phi), alone, **close)


def test_one_policy_gives_numbers_and_a_batch_gives_arrays(world):
    mdp = world(np.random.default_rng(5), 4, 3)
    one, batch = mdp.uniform_policy, np.stack([mdp.uniform_policy] * 2)
    shapes = {"V": (4,), "Q": (4, 3), "state_occupancy": (4,), "occupancy": (4, 3)}
    for method, shape in shapes.items():
        assert getattr(mdp, method)(one).shape == shape
        assert getattr(mdp, method)(batch).shape == (2, *shape)
    for method in ("value", "suboptimality"):
        assert isinstance(getattr(mdp, method)(one), float)
        assert getattr(mdp, method)(batch).shape == (2,)
    assert mdp.feature_expectations(one, np.ones((4, 3, 5))).shape == (5,)
    assert mdp.feature_expectations(batch, np.ones((4, 3, 5))).shape == (2, 5)


def test_an_empty_batch_gives_empty_arrays(world, as_sparse):
    dense = world(np.random.default_rng(6), 4, 3)
    for mdp in (dense, as_sparse(dense)):
        none = np.zeros((0, 4, 3))
        assert mdp.V(none).shape == mdp.state_occupancy(none).shape == (0, 4)
        assert mdp.Q(none).shape == mdp.occupancy(none).shape == (0, 4, 3)
        assert mdp.value(none).shape == mdp.suboptimality(none).shape == (0,)


def test_suboptimality_is_the_distance_to_the_optimal_value(world, policies):
    rng = np.random.default_rng(7)
    mdp = world(rng)
    pi = policies(rng, 6, 5, 3)
    gaps = mdp.suboptimality(pi)
    np.testing.assert_allclose(gaps, mdp.optimal().value - mdp.value(pi), rtol=0, atol=1e-13)
    assert gaps.min() > 0
    assert mdp.suboptimality(mdp.optimal().policy) == pytest.approx(0, abs=1e-13)


def test_states_that_are_never_reached_have_no_occupancy():
    P = np.eye(3)[[1, 0, 0]][:, None]  # 0 and 1 take turns, 2 is not led to
    mdp = FiniteMDP(P, np.ones((3, 1)), [1, 0, 0], 0.5)
    np.testing.assert_allclose(mdp.state_occupancy(np.ones((3, 1))), [2 / 3, 1 / 3, 0], atol=1e-15)
