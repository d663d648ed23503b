"""The parameters of the main theorem, held against what its proof asks of them."""

import itertools
import math

import numpy as np
import pytest

from optimist import Configuration
from optimist.core import Sigmoid
from optimist.theory import parameters

SIZES = list(itertools.product([8, 1000, 10**6], [2, 40], [0.5, 0.99], [1.0, 3.0], [0.05, 0.5]))
over_sizes = pytest.mark.parametrize(("K", "d", "gamma", "R_max", "delta"), SIZES)


def close(actual, expected):
    assert actual == pytest.approx(expected, rel=1e-12)


def test_the_numbers_at_one_point():
    """Worked out by hand from the formulas, at K = e^3 or so."""
    K, d, gamma, delta = 20, 3, 0.75, 0.1
    assert parameters.horizon(gamma) == 4
    close(parameters.longest_episode(K, gamma, delta), 4 * math.log(200))
    close(parameters.omega(K), math.log(20))
    close(parameters.alpha(K), 2 * math.log(20))
    close(parameters.value_bound(gamma, 1.0, math.log(20), 2 * math.log(20)), 8)
    T = 4 * math.log(200) * 20
    eta = math.sqrt(5 * 3 * math.log(1 + 4 * T / 3) * math.log(6) / (8 * 4 * 4**2.5 * 20))
    close(parameters.eta(K, d, 6, gamma, B=2.0, R_max=2.0, delta=delta), eta)


@over_sizes
def test_no_episode_is_longer_than_l_max(K, d, gamma, R_max, delta):
    """Lemma lmax: a union bound over K geometric lengths, P(L > l) = gamma^l."""
    L_max = parameters.longest_episode(K, gamma, delta)
    assert K * gamma**L_max <= delta
    close(L_max, math.log(K / delta) / (1 - gamma))


@over_sizes
def test_the_bound_on_values_reproduces_itself(K, d, gamma, R_max, delta):
    """Lemma qmax: Q = R_max + gamma Q + 2 sup_z z sigma(omega - alpha z)."""
    omega, alpha = parameters.omega(K), parameters.alpha(K)
    Q = parameters.value_bound(gamma, R_max, omega, alpha)
    close(Q, R_max + gamma * Q + 2 * omega / alpha)
    z = np.linspace(0, 20, 100_001)
    assert (z / (1 + np.exp(alpha * z - omega))).max() <= omega / alpha  # Lemma sigmoid-bound2


@over_sizes
def test_eta_balances_the_two_terms_of_the_regret_that_it_enters(K, d, gamma, R_max, delta):
    """5 d log(1 + B^2 T / d) log A / eta against 8 eta R_max^2 H^{5/2} K, with T = L_max K."""
    B, A, H = 1.5, 4, 1 / (1 - gamma)
    eta = parameters.eta(K, d, A, gamma, B, R_max, delta)
    T = H * math.log(K / delta) * K
    close(5 * d / eta * math.log(1 + B**2 * T / d) * math.log(A), 8 * eta * R_max**2 * H**2.5 * K)


@over_sizes
@pytest.mark.parametrize(("B", "W_max"), [(1.0, 1.0), (2.0, 7.0)])
def test_beta_is_that_of_the_good_event(K, d, gamma, R_max, delta, B, W_max):
    H, log = 1 / (1 - gamma), math.log
    Q, L = H * (R_max + 1), H * log(K / delta)  # 2 omega / alpha = 1
    c, alpha = 60 * 26, 2 * log(K)
    inside = c * alpha * W_max * R_max * B**4.5 * Q**4 * L**2.5 * K**3.5 * d**2.5 / delta
    beta = parameters.beta(K, d, gamma, B, W_max, R_max, delta)
    close(beta, 8 * Q * d * log(inside))


@over_sizes
def test_beta_is_large_enough_for_the_concentration_of_the_proof(K, d, gamma, R_max, delta):
    """beta^2 >= 26 Q^2 d^2 log(60 W R beta^2 alpha B^{9/2} Q^2 L^{5/2} K^{7/2} sqrt(d) / delta)."""
    B, W, H = 1.5, 2.0, 1 / (1 - gamma)
    beta = parameters.beta(K, d, gamma, B, W, R_max, delta)
    Q, L, alpha = H * (R_max + 1), H * math.log(K / delta), 2 * math.log(K)
    inside = 60 * W * R_max * beta**2 * alpha * B**4.5 * Q**2 * L**2.5 * K**3.5 * d**0.5 / delta
    assert beta**2 >= 26 * Q**2 * d**2 * math.log(inside)


def test_beta_is_of_the_order_of_values_times_dimensions():
    """Up to logarithms: ten times as many of either makes it ten to thirteen times as large."""

    def beta(gamma=0.9, d=10, R_max=1.0):
        return parameters.beta(10**4, d, gamma, B=1.0, W_max=1.0, R_max=R_max, delta=0.1)

    assert 10 < beta(d=100) / beta() < 13
    assert 10 < beta(gamma=0.99) / beta() < 13
    assert 5 < beta(R_max=9.0) / beta() < 6  # Q_max = H (R_max + 1)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("K", [8, 100, 10**5]),
        ("d", [2, 10, 100]),
        ("gamma", [0.5, 0.9, 0.99]),
        ("B", [1.0, 2.0]),
        ("W_max", [1.0, 2.0]),
        ("R_max", [1.0, 2.0]),
    ],
)
def test_beta_grows_with_everything_but_delta(name, values):
    usual = {"K": 100, "d": 5, "gamma": 0.9, "B": 1.0, "W_max": 1.0, "R_max": 1.0, "delta": 0.1}
    betas = [parameters.beta(**{**usual, name: value}) for value in values]
    assert betas == sorted(set(betas))
    assert parameters.beta(**{**usual, "delta": 0.01}) > parameters.beta(**usual)


def test_eta_falls_with_episodes_horizon_and_rewards():
    usual = {"K": 100, "d": 5, "n_actions": 3, "gamma": 0.9, "B": 1.0, "R_max": 1.0, "delta": 0.1}
    eta = parameters.eta(**usual)
    close(parameters.eta(**{**usual, "R_max": 2.0}), eta / 2)
    assert parameters.eta(**{**usual, "K": 400}) < 0.6 * eta
    assert parameters.eta(**{**usual, "gamma": 0.99}) < 0.1 * eta
    assert parameters.eta(**{**usual, "d": 20}) > eta


def test_the_configuration_of_the_theorem_has_these_parameters():
    c = Configuration.theory(
        K=500, d=7, n_actions=3, gamma=0.8, B=1.5, W_max=2.0, R_max=3.0, delta=0.2
    )
    assert c.eta == parameters.eta(500, 7, 3, 0.8, 1.5, 3.0, 0.2)
    assert c.beta == parameters.beta(500, 7, 0.8, 1.5, 2.0, 3.0, 0.2)
    assert c.ascension == Sigmoid(alpha=2 * math.log(500), omega=math.log(500))
    assert (c.r_max, c.ridge, c.updates, c.observe_last) == (3.0, 1.0, 1, False)


def test_what_the_theorem_assumes_is_checked():
    usual = {"K": 100, "d": 5, "n_actions": 3, "gamma": 0.9, "B": 1.0, "W_max": 1.0}
    with pytest.raises(ValueError, match="K = 7 must be at least 8"):
        Configuration.theory(**{**usual, "K": 7})
    with pytest.raises(ValueError, match=r"B = 0\.5: the theorem assumes that it is at least 1"):
        Configuration.theory(**{**usual, "B": 0.5})
    with pytest.raises(ValueError, match=r"R_max = 0\.9: the theorem assumes"):
        Configuration.theory(**usual, R_max=0.9)
    with pytest.raises(ValueError, match=r"W_max = 0\.1: the theorem assumes"):
        Configuration.theory(**{**usual, "W_max": 0.1})
