"""The bound on the regret: its terms, its proof display by display, its units, its reach."""

import itertools
import math
from dataclasses import fields
from functools import partial

import numpy as np
import pytest

from optimist.theory import bonuses, covariance, parameters, regret, sample_complexity
from optimist.theory.regret import RegretBound, regret_bound, regret_bound_for

SIZES = {"d": 12, "n_actions": 2, "gamma": 0.9, "B": 1.0, "W_max": 1.0}
USUAL = {"K": 1000, **SIZES}

close = partial(np.testing.assert_allclose, rtol=1e-12, atol=0)


def test_the_terms_at_one_point():
    K, d, A, gamma, B, R, delta, beta = 100, 5, 3, 0.75, 2.0, 3.0, 0.1, 7.0
    bound = regret_bound(K, d, A, gamma, B, 1.0, R, delta, beta)
    H, T = 4, 4 * math.log(1000) * 100
    x, log_K, chance = math.log(1 + 4 * T / 5), math.log(100), math.log(2000) ** 2
    close(bound.heaven, H * 128 * R * 49 * 4 * 5 * log_K**2 * x)
    close(bound.heaven_chance, H * 64 * R * 49 * 4 * H * log_K**2 * chance)
    close(bound.leak, H * 4 * R * H)
    close(bound.epochs, H * 40 * H * 5 * R * x)
    close(bound.policy, H * 4 * math.sqrt(10 * R**2 * H**2.5 * 5 * x * math.log(3) * 100))
    close(bound.bonuses, H * 8 * 7 * 2 / H * math.sqrt(5 * T * x))
    close(bound.bonuses_chance, H * 8 * 7 * 2 * chance)
    close(bound.trivial, 100 * 4 * 3)
    assert list(bound.terms) == [f.name for f in fields(RegretBound)][:-3]
    close(bound.epoch_starts, regret.epoch_starts(K, d, gamma, B, R, delta, 2 * log_K, beta))
    of_bonuses = bound.heaven + bound.heaven_chance + bound.bonuses + bound.bonuses_chance
    others = bound.leak + bound.epochs + bound.policy
    close(bound.mended, (of_bonuses + bound.epoch_starts) / 0.75 + others)
    close(bound.total, sum(getattr(bound, name) for name in bound.terms))
    assert bound.dominant == max(bound.terms, key=bound.terms.get) == "heaven_chance"


def test_beta_is_that_of_the_lemma_unless_it_is_given():
    beta = parameters.beta(1000, 12, 0.9, 1.0, 1.0, 1.0, 0.1)
    assert regret_bound(**USUAL) == regret_bound(**USUAL, beta=beta)
    assert regret_bound(**USUAL, beta=1.0).total < regret_bound(**USUAL).total


def test_it_broadcasts_over_episodes():
    K = np.array([1e3, 1e10, 1e40])
    bound = regret_bound(K, **SIZES)
    for k, total, dominant in zip(K, bound.total, bound.dominant, strict=True):
        one = regret_bound(k, **SIZES)
        close(total, one.total)
        assert dominant == one.dominant
    assert type(one.total) is float
    assert bound.dominant.tolist() == ["heaven_chance", "heaven_chance", "bonuses"]


def test_with_enough_episodes_the_two_rates_are_left():
    """sqrt(K) times d^{3/2} H^{3/2} and d^{1/2} H^{9/4}, up to logarithms."""
    at = regret_bound(1e60, **SIZES)
    close(regret_bound(4e60, **SIZES).policy / at.policy, 2, rtol=0.01)
    close(regret_bound(4e60, **SIZES).bonuses / at.bonuses, 2, rtol=0.03)
    wide = regret_bound(1e60, **{**SIZES, "d": 48})
    close(wide.policy / at.policy, 2, rtol=0.01)
    close(wide.bonuses / at.bonuses, 8, rtol=0.03)
    long = regret_bound(1e60, **{**SIZES, "gamma": 0.975})
    close(long.policy / at.policy, 4**2.25, rtol=0.01)
    close(long.bonuses / at.bonuses, 4**1.5, rtol=0.04)


def test_every_display_of_the_proof_is_at_most_the_next(sizes):
    """From Lemma bound-regret-plus to the last display, each time from the lemmas anew."""
    K, d, A, gamma = sizes.K, sizes.d, sizes.n_actions, sizes.gamma
    B, R, delta = sizes.B, sizes.R_max, sizes.delta
    H, T = 1 / (1 - gamma), parameters.steps(K, gamma, delta)
    omega, alpha = parameters.omega(K), parameters.alpha(K)
    beta = 10 ** np.random.default_rng(1).uniform(-5, 0, K.shape)  # small: no term drowns others
    eta = parameters.eta(K, d, A, gamma, B, R, delta)
    Q = parameters.value_bound(gamma, R, omega, alpha)
    of_bonuses = bonuses.bonus_sum(K, d, gamma, B, beta, delta)
    ascent = 2 * alpha**2 * bonuses.squared_bonus_sum(K, d, gamma, B, beta, delta)
    ascent += 2 * np.exp(-omega) * K
    displays = []
    for E in (covariance.number_of_epochs_sharp(T, d, B), covariance.number_of_epochs(T, d, B)):
        plus = regret.augmented_regret_bound(K, E, eta, Q, of_bonuses, A, gamma)
        displays.append(H * (2 * R * H * ascent + plus))
    chosen = {"omega": omega, "alpha": alpha, "beta": beta, "eta": eta}
    displays.append(regret_bound_for(K, d, A, gamma, B, R, delta, **chosen).total)
    displays.append(regret_bound(K, d, A, gamma, B, sizes.W_max, R, delta, beta).total)
    assert (displays[0] < displays[1]).all()
    close(displays[1], displays[2])  # the same, put together from the lemmas
    assert (displays[2] < displays[3]).all()


def test_with_r_max_one_nothing_is_given_away_by_choosing_the_parameters():
    K, omega = 1000, math.log(1000)
    beta, eta = 5.0, parameters.eta(K, 12, 2, 0.9, 1.0, 1.0, 0.1)
    chosen = {"omega": omega, "alpha": 2 * omega, "beta": beta, "eta": eta}
    general = regret_bound_for(K, 12, 2, 0.9, 1.0, 1.0, 0.1, **chosen)
    for name, value in regret_bound(**USUAL, beta=beta).terms.items():
        close(getattr(general, name), value)


def test_units_of_rewards():
    """Rewards times c: every term is c times as large, if alpha and eta are divided by c."""

    def at(c):
        scaled = {"alpha": 14 / c, "beta": 0.5 * c, "eta": 0.01 / c}
        bound = regret_bound_for(1000, 12, 2, 0.9, 1.5, 3.0 * c, 0.1, omega=7.0, **scaled)
        missing = regret.epoch_starts(1000, 12, 0.9, 1.5, 3.0 * c, 0.1, 14 / c, 0.5 * c)
        Q = parameters.value_bound(0.9, 3.0 * c, 7.0, 14 / c)
        return np.array([*bound.terms.values(), bound.trivial, missing, Q])

    c = np.array([0.5, 4.0])
    close(at(c), c * at(np.ones(1)))


def test_the_theorems_own_parameters_have_no_units():
    """Eta does; alpha does not change, and beta has R_max + 1 and a logarithm."""
    eta = [parameters.eta(1000, 12, 2, 0.9, 1.0, R, 0.1) for R in (1.0, 4.0)]
    close(eta[0], 4 * eta[1])
    beta = [parameters.beta(1000, 12, 0.9, 1.0, R, R, 0.1) for R in (1e6, 4e6)]
    assert 4 < beta[1] / beta[0] < 4.3


def test_features_scale_with_the_root_of_the_ridge_only():
    """Bonuses times B are all that B changes, besides B^2 T in a logarithm."""
    small, large = (regret_bound(**{**USUAL, "B": B}, beta=1.0) for B in (1.0, 2.0))
    assert large.leak == small.leak
    assert large.bonuses_chance == 2 * small.bonuses_chance
    assert large.heaven_chance == 4 * small.heaven_chance
    assert 1 < large.policy / small.policy < 1.1
    assert 4 < large.heaven / small.heaven < 5


def test_it_grows_with_everything_but_delta():
    for name, values in {
        "K": [8, 100, 10**5],
        "d": [1, 10, 100],
        "n_actions": [1, 2, 10],
        "gamma": [0.0, 0.5, 0.99],
        "B": [1.0, 2.0],
        "W_max": [1.0, 2.0],
        "R_max": [1.0, 2.0],
        "delta": [0.1, 0.01],
    }.items():
        assert (np.diff(regret_bound(**{**USUAL, name: values}).total) > 0).all(), name


def test_what_is_left_out_at_the_start_of_epochs():
    alpha, beta, x = 3.0, 2.0, parameters.log_determinant(parameters.steps(100, 0.75, 0.1), 5, 1.5)
    starts = 2 * math.log(100 / 0.1) * 5 * x
    expected = 4 * (4 * 4 * 2 * 9 * 9 * starts + 2 * 3 * starts)
    close(regret.epoch_starts(100, 5, 0.75, 1.5, 2.0, 0.1, alpha, beta), expected)


def test_the_regret_in_the_augmented_mdp():
    given = {"K": 100, "epochs": 6, "eta": 0.5, "Q_max": 3.0, "bonus_sum": 10.0, "n_actions": 4}
    expected = 6 * math.log(4) / 0.5 + 4 * 3 * 6 + 2 * 9 * 0.5 * 100 * 2 + 20
    close(regret.augmented_regret_bound(**given, gamma=0.75), expected)


def test_where_the_bound_becomes_non_trivial():
    for gamma, d in itertools.product([0.01, 0.5, 0.9, 0.999], [1, 10, 1000]):
        sizes = {**SIZES, "gamma": gamma, "d": d}
        K = sample_complexity.nontrivial_from(**sizes)
        before = regret_bound(np.append(np.geomspace(8, 0.99 * K, 500), 0.999 * K), **sizes)
        assert (before.mended > before.trivial).all()
        after = regret_bound(np.array([1.001, 1e9]) * K, **sizes)
        assert (after.mended < after.trivial).all()


def test_nothing_is_learnt_at_gamma_zero():
    assert regret_bound(**{**USUAL, "gamma": 0.0}).mended == math.inf
    assert sample_complexity.nontrivial_from(**{**SIZES, "gamma": 0.0}) == math.inf


def test_episodes_for_a_given_accuracy():
    for epsilon in (5.0, 0.01):
        K = sample_complexity.episodes_needed(epsilon, **SIZES)
        close(regret_bound(K, **SIZES).mended / K, epsilon, rtol=1e-6)
    all_of_it, few, many = (
        sample_complexity.episodes_needed(e, **SIZES) for e in (10.0, 1e-8, 5e-9)
    )
    close(all_of_it, sample_complexity.nontrivial_from(**SIZES))
    assert 4 < many / few < 4.3  # 1 / epsilon^2 up to logarithms


def test_what_the_theorem_assumes_is_checked():
    for name, value, demand in (
        ("K", 7, "at least 8"),
        ("B", 0.5, "at least 1"),
        ("R_max", 0.5, "at least 1"),
        ("delta", 1.0, "below 1"),
    ):
        with pytest.raises(ValueError, match=rf"{name} must be {demand}; got {value:g}"):
            regret_bound(**{**USUAL, name: value})
    for epsilon in (11.0, 0.0):
        with pytest.raises(ValueError, match=rf"epsilon must be in \(0, H R_max\] .* {epsilon:g}"):
            sample_complexity.episodes_needed(epsilon, **SIZES)
