"""The lemmas as functions: against formulas written out again, and against what they are about."""

import itertools
import math
from functools import partial

import numpy as np
import pytest
from scipy.special import expit, lambertw

from optimist.theory import ascension, bonuses, concentration, covariance, parameters

close = partial(np.testing.assert_allclose, rtol=1e-12, atol=0)

# The sigmoid


def test_an_ascension_is_bounded_by_the_square_of_its_bonus():
    omega, CB = np.array([[0.0], [1.0], [4.0], [10.0]]), np.linspace(0, 5, 3001)
    bound = ascension.ascension_bound(CB, alpha=3.0, omega=omega)
    assert (expit(3 * CB - omega) <= bound).all()
    close(bound, 2 * 9 * CB**2 + 2 * np.exp(-omega))
    assert (expit(3 * CB - omega) > bound / 30).any(axis=1).all()  # tight up to a constant


def test_what_is_left_of_a_bonus():
    alpha, omega = np.meshgrid([0.5, 2.0, 20.0], [0.37, 2.0, 15.0])
    z = np.linspace(0, (omega + 10) / alpha, 400_001)
    exact = ascension.largest_kept_bonus_exact(alpha, omega)
    close(exact, (z * expit(omega - alpha * z)).max(axis=0), rtol=1e-8)
    close(exact, lambertw(np.exp(omega - 1)).real / alpha)
    assert (exact <= omega / alpha).all()  # from omega = 1/e on, where the lemma asks for 2
    asked = alpha[1:], omega[1:]
    np.testing.assert_array_equal(ascension.largest_kept_bonus(*asked), omega[1:] / alpha[1:])
    assert (exact <= (omega - 1) / alpha * (1 + 1e-12))[1:].all()


def test_the_lemma_on_bonuses_ends_at_one_over_e():
    assert ascension.largest_kept_bonus_exact(1.0, 0.36) > 0.36
    assert ascension.largest_kept_bonus_exact(1.0, 2000.0) == pytest.approx(1991.4, abs=0.1)
    with pytest.raises(ValueError, match=r"omega must be at least 2; got 1\.9"):
        ascension.largest_kept_bonus(1.0, 1.9)


def test_both_biases_together_are_h_r_max_times_the_ascension():
    close(ascension.reward_bias_bound(3.0, 0.2), 0.6)
    close(ascension.model_bias_bound(0.8, 3.0, 0.2), 3.0)
    close(ascension.model_bias_bound_sharp(0.8, 3.0, 0.2), 2.4)


# Lengths


def test_the_chance_of_a_long_episode_is_below_delta():
    """Lemma lmax with the floor; from K / delta = e^2 on, so always for K >= 8."""
    gamma, delta, K = np.meshgrid(
        [0.0, 0.3, 0.5, 0.9, 0.99, 0.9999], np.linspace(0.001, 0.999, 97), [8, 9, 10, 50, 1000]
    )
    q = gamma ** np.floor(np.log(K / delta) / (1 - gamma))
    assert (K * q <= delta).all()
    chance = parameters.chance_of_longer(K, gamma, delta)
    close(chance, 1 - (1 - q) ** K, rtol=1e-6)
    assert (chance <= delta).all()


def test_lengths_are_simulated_as_they_are_computed():
    lengths = np.random.default_rng(1).geometric(0.1, size=(20_000, 20))
    longer = (lengths.max(axis=1) > parameters.longest_episode(20, 0.9, 0.2)).mean()
    assert longer == pytest.approx(parameters.chance_of_longer(20, 0.9, 0.2), abs=0.01)


# The covariance


def test_the_elliptical_potential_of_random_and_of_worst_features():
    rng = np.random.default_rng(2)
    for B, d in itertools.product((1.0, 2.5), (1, 3)):
        phis = rng.normal(size=(200, d))
        phis *= B / np.linalg.norm(phis, axis=1, keepdims=True)
        L, spent = np.eye(d), 0.0
        for phi in phis:
            spent += phi @ np.linalg.solve(L, phi)
            L += np.outer(phi, phi)
        log_det = np.linalg.slogdet(L)[1]
        sharp = covariance.elliptical_potential_sharp(log_det, B)
        assert spent <= sharp <= covariance.elliptical_potential(log_det, B)
        assert log_det <= parameters.log_determinant(200, d, B)
    B = np.array([1.0, 2.5])
    one = np.log(1 + B**2)  # one step: the sharp factor is attained
    close(covariance.elliptical_potential_sharp(one, B), B**2)
    close(covariance.elliptical_potential(one, B), 2 * B**2 * one)


def test_epochs():
    T, d, B = 500.0, 7, 2.0
    close(covariance.number_of_epochs(T, d, B), 5 * 7 * math.log(1 + 4 * 500 / 7))
    close(covariance.number_of_epochs_sharp(T, d, B), 1 + 7 * math.log2(1 + 4 * 500 / 7))
    rng = np.random.default_rng(0)
    T, d, B = rng.uniform(1, 1e6, 500), rng.integers(1, 99, 500), rng.uniform(1, 9, 500)
    sharp = covariance.number_of_epochs_sharp(T, d, B)
    assert (sharp <= covariance.number_of_epochs(T, d, B)).all()
    worst = covariance.number_of_epochs_sharp(1, 1, 1)  # the least margin
    assert worst < covariance.number_of_epochs(1, 1, 1) < 1.8 * worst


# The sums of bonuses


def test_the_sums_of_bonuses_as_printed():
    K, d, gamma, B, beta, delta = 100, 5, 0.75, 2.0, 3.0, 0.1
    T = 4 * math.log(1000) * 100
    potential, chance = 5 * math.log(1 + 4 * T / 5), math.log(2000) ** 2
    given = (K, d, gamma, B, beta, delta)
    close(bonuses.bonus_sum(*given), 6 * math.sqrt(T * potential) + 4 * 6 * chance)
    close(bonuses.squared_bonus_sum(*given), 2 * 36 * potential + 4 * 36 * chance)
    starts = 5 * potential * 2 * math.log(1000)
    close(bonuses.bonus_sum_at_epoch_starts(*given), 6 * starts)
    close(bonuses.squared_bonus_sum_at_epoch_starts(*given), 36 * starts)
    close(bonuses.expectation_bound(10.0, 2.0, K, gamma, delta), 5 + 8 * chance)


# Concentration


def test_beta_exceeds_the_concentration_step_by_step(sizes):
    """Each display of Lemma uniform-event-holds is at most the next, and the last is beta."""
    K, d, gamma, delta = sizes.K, sizes.d, sizes.gamma, sizes.delta
    B, W, R = np.minimum(sizes.B, d), sizes.W_max, sizes.R_max
    beta, alpha = parameters.beta(K, d, gamma, B, W, R, delta), parameters.alpha(K)
    L, Q = parameters.longest_episode(K, gamma, delta), (R + 1) / (1 - gamma)
    cover = concentration.log_covering_number(K, d, L, B, W, Q, alpha, beta)
    log = concentration.proof_logarithm(K, d, L, B, W, R, Q, alpha, beta)
    displays = [
        concentration.concentration(K, d, L, B, Q, cover, delta),
        Q * np.sqrt(2 * d * np.log((1 + K * L * B) / delta) + 16 * d**2 * log + 8),
        Q * d * np.sqrt(26 * (log - np.log(delta))),
        beta,
    ]
    assert (np.diff(displays, axis=0) >= 0).all()
    rest = np.exp(log - 2 * np.log(beta)) / delta
    assert (concentration.fixed_point(26 * Q**2 * d**2, rest) <= beta**2).all()
    assert (displays[2] + concentration.ridge_bias(d, Q) <= beta).all()  # it pays for the ridge


def test_the_covering_number_and_the_concentration_at_one_point():
    radius = 2 * 3 + 20 * 90 * 100 * 9 + 3 * math.sqrt(5) + 700 * 3 + 20
    grid = math.sqrt(100**5 * 90**3) * 11 * 700 * 3**2.5
    given = {"W_max": 2, "Q_max": 20, "alpha": 11, "beta": 700}
    cover = concentration.log_covering_number(K=100, d=5, L_max=90, B=3, **given)
    close(cover, 100 * math.log(4 * radius * grid))
    log = concentration.proof_logarithm(K=100, d=5, L_max=90, B=3, R_max=4, **given)
    product = 60 * 2 * 4 * 700**2 * 11 * 3**4.5 * 20**2 * 90**2.5 * 100**3.5 * math.sqrt(5)
    close(log, math.log(product))
    assert cover <= 100 * log
    found = concentration.concentration(100, 5, 90, 3, 20, cover, 0.1)
    close(found, 20 * math.sqrt(10 * math.log(27_001 / 0.1) + 4 * cover + 8))
    close(concentration.ridge_bias(4, 10.0, m_norm=3.0, ridge=4.0), 60)


def test_the_beta_for_all_values_is_enough_for_every_corner():
    """Ten pairs with n visits each: every V in {0, Q_max}^X at once, in 400 data sets."""
    rng, delta, n, X, Q_max = np.random.default_rng(0), 0.1, 50, 4, 3.0
    P = rng.dirichlet(np.ones(X), size=10)
    corners = Q_max * np.array(list(itertools.product([0, 1], repeat=X)))  # [2^X, X]
    beta = concentration.beta_for_all_values(10 * n, 10, X, 1.0, Q_max, delta)
    seen = rng.multinomial(n, P, size=(400, 10))  # [400, 10, X]
    error = (P - seen / (1 + n)) @ corners.T
    largest = np.sqrt((1 + n) * (error**2).sum(axis=1)).max(axis=1)
    assert (largest > beta).mean() <= delta
    assert largest.max() > beta / 4  # one corner alone needs nearly as much
    theorem = parameters.beta(8, 10, 0.5, 1.0, 1.0, 1.0, delta)
    at_least = concentration.beta_for_all_values(100, 10, X, 1.0, 4.0, delta)
    assert at_least < theorem / 50


def test_the_fixed_point_of_beta():
    log_z, log_R = np.random.default_rng(0).uniform(0, [[12], [60]], size=(2, 2000))
    z, R = np.exp(log_z), np.exp(log_R)
    least = concentration.fixed_point(z, R)
    close(least, 2 * z * (log_R + log_z))
    for factor in (1.0, 1.5, 100.0):
        b = factor * least
        assert (b >= z * (log_R + np.log(np.maximum(b, 1e-300)))).all()
    half = least / 2  # without the factor 2 it is not enough
    assert (half < z * (log_R + np.log(half)))[log_R + log_z > 1].all()


def test_the_constant_of_the_theorem(sizes):
    usual = {"K": 500, "d": 6, "gamma": 0.8, "B": 2.0, "W_max": 3.0, "R_max": 4.0, "delta": 0.1}
    stated = parameters.beta_of_theorem(**usual, C=7.0)
    close(stated, 7 * 5 * 4 * 6 * math.log(2 * 5 * 3 * 4 * 6 * 500 / 0.1))
    C = parameters.constant_of_theorem(**usual)
    close(parameters.beta_of_theorem(**usual, C=C), parameters.beta(**usual))
    constants = parameters.constant_of_theorem(**{name: getattr(sizes, name) for name in usual})
    assert constants.min() > 15
    assert constants.max() < 110


# Arrays and mistakes


def test_numbers_give_floats_and_arrays_broadcast():
    for f in (parameters.horizon, parameters.omega, parameters.alpha):
        assert type(f(0.5 if f is parameters.horizon else 10)) is float
    K, d = np.array([10, 100, 1000]), np.array([[2], [5]])
    many = parameters.beta(K, d, 0.9, 1.0, 1.0, 1.0, 0.1)
    assert many.shape == (2, 3)
    assert many[1, 2] == parameters.beta(1000, 5, 0.9, 1.0, 1.0, 1.0, 0.1)
    assert bonuses.bonus_sum(K, 2, 0.9, 1, 1, 0.1).shape == (3,)


def test_numbers_out_of_range_are_named():
    for function, given, message in (
        (parameters.horizon, (1.0,), "gamma must be below 1; got 1"),
        (parameters.longest_episode, (10, 0.9, 0.0), "delta must be above 0; got 0"),
        (parameters.longest_episode, ([10, 0], 0.9, 0.1), r"K\[1\] must be at least 1; got 0"),
        (covariance.elliptical_potential, (1.0, 0.5), r"B must be at least 1; got 0\.5"),
        (concentration.fixed_point, (0.5, 2.0), r"z must be at least 1; got 0\.5"),
        (parameters.log_determinant, (10, 0, 1), "d must be at least 1; got 0"),
        (ascension.sigmoid_bound, (-1.0, 2.0), "z must be at least 0; got -1"),
    ):
        with pytest.raises(ValueError, match=message):
            function(*given)
