"""Bounds on the ascension function p+ = sigma(alpha CB - omega).

p+ is small where bonuses are small (Lemma sigmoid-bound), and the kept bonus (1 - p+) CB is small
everywhere (Lemma sigmoid-bound2).
"""

import numpy as np
from scipy.special import wrightomega

from optimist.theory.numbers import Real, formula
from optimist.theory.parameters import horizon


@formula("z >= 0")
def sigmoid_bound(z: Real, omega: Real) -> Real:
    """2 (z^2 + e^-omega) >= sigma(z - omega), for z, omega >= 0 (Lemma sigmoid-bound).

    Examples
    --------
    >>> round(sigmoid_bound(0.5, omega=3.0), 4)  # sigma(-2.5) = 0.0759
    0.5996
    """
    return 2 * (z**2 + np.exp(-omega))


@formula()
def ascension_bound(CB: Real, alpha: Real, omega: Real) -> Real:
    """2 alpha^2 CB^2 + 2 e^-omega >= p+ (Equation ascension-function-bound).

    Examples
    --------
    >>> ascension_bound(CB=0.1, alpha=5.0, omega=3.0) == sigmoid_bound(0.5, omega=3.0)
    True
    """
    return sigmoid_bound(alpha * CB, omega)


@formula("omega >= 2")
def largest_kept_bonus(alpha: Real, omega: Real) -> Real:
    """omega / alpha >= max_z z sigma(omega - alpha z) (Lemma sigmoid-bound2).

    The lemma assumes omega >= 2, that is K >= 8, and proves (omega - 1) / alpha there. The stated
    bound holds from omega = 1/e on: `largest_kept_bonus_exact` solves u + log u = omega - 1, and
    u <= omega as long as log omega >= -1.

    Examples
    --------
    >>> largest_kept_bonus(alpha=6.0, omega=3.0)
    0.5
    """
    return omega / alpha


@formula("omega >= -inf")
def largest_kept_bonus_exact(alpha: Real, omega: Real) -> Real:
    """W(e^{omega - 1}) / alpha = max_z z sigma(omega - alpha z), with Lambert's W.

    The maximum is at z = (1 + W) / alpha. Wright's omega function computes W(e^z) without overflow.

    Examples
    --------
    >>> round(largest_kept_bonus_exact(alpha=6.0, omega=3.0), 4)
    0.2595
    """
    return wrightomega(omega - 1) / alpha


@formula()
def reward_bias_bound(R_max: Real, ascension: Real) -> Real:
    """R_max <mu(pi_k), p+> >= reward-bias_k (Lemma reward-bias-bound).

    Examples
    --------
    >>> reward_bias_bound(R_max=2.0, ascension=0.25)
    0.5
    """
    return R_max * ascension


@formula()
def model_bias_bound(gamma: Real, R_max: Real, ascension: Real) -> Real:
    """H R_max <mu(pi), p+> >= model-bias_k(pi) (Lemma model-bias-bounds).

    Examples
    --------
    >>> model_bias_bound(gamma=0.75, R_max=2.0, ascension=0.25)
    2.0
    """
    return horizon(gamma) * (R_max * ascension)


@formula()
def model_bias_bound_sharp(gamma: Real, R_max: Real, ascension: Real) -> Real:
    """gamma H R_max <mu(pi), p+>, the bound that the first proof of Lemma model-bias-bounds shows.

    With it the two biases add up to at most H R_max <mu(pi_k), p+>, half of the bound that the
    proof of the theorem uses.

    Examples
    --------
    >>> model_bias_bound_sharp(gamma=0.75, R_max=2.0, ascension=0.25)
    1.5
    """
    return gamma * model_bias_bound(gamma, R_max, ascension)
