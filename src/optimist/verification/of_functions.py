"""Appendices B.6 and F.2: lemmas about numbers alone, on grids and at random points."""

from collections.abc import Iterator

import numpy as np
from scipy.special import expit

from optimist.theory import ascension, concentration, parameters
from optimist.verification.statement import Claim, Statements, at_most

STATEMENTS: Statements[None] = Statements("Functions")
add = STATEMENTS.add


@add("lem:sigmoid-bound, everywhere", "Appendix F.2")
def sigmoid_bound(_: None) -> Iterator[Claim]:
    """sigma(z - omega) <= 2 (z^2 + exp(-omega))"""
    z = np.linspace(0, 30, 3001)
    for omega in np.linspace(0, 25, 101):
        yield at_most(expit(z - omega) / ascension.sigmoid_bound(z, omega), 1)


@add("lem:sigmoid-bound2, everywhere", "Appendix F.2")
def sigmoid_bound2(_: None) -> Iterator[Claim]:
    """z sigma(omega - alpha z) <= W(e^{omega - 1}) / alpha <= omega / alpha"""
    for omega in np.linspace(2, 25, 24):
        for alpha in (0.1, 1.0, 2 * omega, 100.0):
            z = np.linspace(0, 4 * omega / alpha, 2001)
            most = ascension.largest_kept_bonus_exact(alpha, omega)
            kept = z * (1 - expit(alpha * z - omega))
            stated = ascension.largest_kept_bonus(alpha, omega)
            yield at_most(kept, most)
            yield at_most(most, stated)


@add("lemma:beta_bound", "Appendix F.2")
def fixed_point(_: None) -> Claim:
    """x >= 2 z log(R z) gives x >= z log(R x), for R, z >= 1"""
    rng = np.random.default_rng(0)
    R, z, more = np.exp(rng.uniform(0, [[60.0], [25.0], [5.0]], (3, 10_000)))
    x = concentration.fixed_point(z, R) * np.where(rng.random(len(z)) < 0.5, 1, more)
    return at_most(z * np.log(R * x) / x, 1)


@add("lem:uniform-event-holds", "Appendix B.6, and the ridge")
def beta_is_enough(_: None) -> Claim:
    """Q_max sqrt(2 d log(...) + 4 log N + 8) + the ridge's bias <= beta, with N at this beta"""
    grid = np.meshgrid([8, 1e3, 1e6], [2, 10, 100], [0.5, 0.9, 0.99], [1, 5], [1, 30], [0.1, 1e-6])
    K, d, gamma, B, W_max, delta = grid
    R_max, alpha = 1.0, parameters.alpha(K)
    L_max = parameters.longest_episode(K, gamma, delta)
    Q_max = parameters.value_bound(gamma, R_max, parameters.omega(K), alpha)
    beta = parameters.beta(K, d, gamma, B, W_max, R_max, delta)
    log_N = concentration.log_covering_number(K, d, L_max, B, W_max, Q_max, alpha, beta)
    error = concentration.concentration(K, d, L_max, B, Q_max, log_N, delta)
    return at_most((error + concentration.ridge_bias(d, Q_max)) / beta, 1)


@add("lem:lmax, exactly", "Appendix B.6")
def episodes_end(_: None) -> Claim:
    """P(some L_k > L_max) <= delta, for K >= 8"""
    K, gamma, delta = np.meshgrid(
        [8, 10, 100, 1e4, 1e6], [0.0, 0.3, 0.5, 0.9, 0.99, 0.999], [0.5, 0.1, 0.01, 1e-6]
    )
    return at_most(parameters.chance_of_longer(K, gamma, delta), delta)
