"""The parameters of the main theorem, held against what its proof asks of them."""

import math
from functools import partial

import numpy as np
import pytest

from optimist import RmaxRaviUcb
from optimist.theory import parameters

close = partial(np.testing.assert_allclose, rtol=1e-12, atol=0)

K, d, gamma, R_max, delta = np.meshgrid(
    [8, 1000, 10**6], [2, 40], [0.5, 0.99], [1.0, 3.0], [0.05, 0.5]
)
H, L_max = 1 / (1 - gamma), np.log(K / delta) / (1 - gamma)
Q_max, alpha = H * (R_max + 1), 2 * np.log(K)  # 2 omega / alpha = 1


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


def test_the_bound_on_values_reproduces_itself():
    """Lemma qmax: Q = R_max + gamma Q + 2 sup_z z sigma(omega - alpha z)."""
    Q = parameters.value_bound(gamma, R_max, parameters.omega(K), parameters.alpha(K))
    close(Q, R_max + gamma * Q + 1)


def test_eta_balances_the_two_terms_of_the_regret_that_it_enters():
    """5 d log(1 + B^2 T / d) log A / eta against 8 eta R_max^2 H^{5/2} K, with T = L_max K."""
    B, A = 1.5, 4
    eta = parameters.eta(K, d, A, gamma, B, R_max, delta)
    potential = 5 * d * np.log(1 + B**2 * L_max * K / d)
    close(potential * np.log(A) / eta, 8 * eta * R_max**2 * H**2.5 * K)


def test_beta_is_that_of_the_good_event():
    for B, W in ((1.0, 1.0), (2.0, 7.0)):
        sizes = W * R_max * B**4.5 * Q_max**4 * L_max**2.5 * K**3.5 * d**2.5
        beta = parameters.beta(K, d, gamma, B, W, R_max, delta)
        close(beta, 8 * Q_max * d * np.log(60 * 26 * alpha * sizes / delta))


def test_beta_is_large_enough_for_the_concentration_of_the_proof():
    """beta^2 >= 26 Q^2 d^2 log(60 W R beta^2 alpha B^{9/2} Q^2 L^{5/2} K^{7/2} sqrt(d) / delta)."""
    B, W = 1.5, 2.0
    beta = parameters.beta(K, d, gamma, B, W, R_max, delta)
    sizes = W * R_max * B**4.5 * Q_max**2 * L_max**2.5 * K**3.5 * d**0.5
    least = 26 * Q_max**2 * d**2 * np.log(60 * beta**2 * alpha * sizes / delta)
    assert (beta**2 >= least).all()


def test_the_configuration_of_the_theorem_has_these_parameters():
    c = RmaxRaviUcb.Config.theory(
        K=500, d=7, n_actions=3, gamma=0.8, B=1.5, W_max=2.0, R_max=3.0, delta=0.2
    )
    assert c.eta == parameters.eta(500, 7, 3, 0.8, 1.5, 3.0, 0.2)
    assert c.beta == parameters.beta(500, 7, 0.8, 1.5, 2.0, 3.0, 0.2)
    assert (c.alpha, c.omega) == (2 * math.log(500), math.log(500))
    assert (c.r_max, c.ridge, c.updates, c.observe_last) == (3.0, 1.0, 1, False)


def test_what_the_theorem_assumes_is_checked():
    usual = {"K": 100, "d": 5, "n_actions": 3, "gamma": 0.9, "B": 1.0, "W_max": 1.0}
    with pytest.raises(ValueError, match="K must be at least 8; got 7"):
        RmaxRaviUcb.Config.theory(**{**usual, "K": 7})
    for name in ("B", "R_max", "W_max"):
        with pytest.raises(ValueError, match=rf"{name} must be at least 1.*got 0\.9"):
            RmaxRaviUcb.Config.theory(**{**usual, name: 0.9})
