"""The parameters of the main theorem, with the constants that the proofs make explicit.

All quantities are those of Theorem main-full and its proof (Appendix B.7), for K episodes, features
of dimension d with ||phi|| <= B, A actions, rewards ||w|| <= W_max in [0, R_max], and failure
probability delta. H = 1 / (1 - gamma).

Units: if rewards are multiplied by c, then R_max, W_max, Q_max and beta (except for its logarithm)
are multiplied by c, eta and alpha are divided by c, and omega stays. The theorem's own
alpha = 2 log K does not scale, as its proof assumes R_max >= 1 and adds 2 omega / alpha = 1.
"""

import numpy as np
from numpy.typing import ArrayLike

from optimist.theory.numbers import Numbers, discounts, numbers, plain, shares


def horizon(gamma: ArrayLike) -> Numbers:
    """H = 1 / (1 - gamma).

    Examples
    --------
    >>> horizon(0.75)
    4.0
    >>> horizon([0.5, 0.75])
    array([2., 4.])
    """
    return plain(1 / (1 - discounts(gamma)))


def longest_episode(K: ArrayLike, gamma: ArrayLike, delta: ArrayLike) -> Numbers:
    """L_max = H log(K / delta); with probability 1 - delta no episode is longer (Lemma lmax).

    The proof prints log(delta / K) for log(K / delta), and uses P(L > L_max) = gamma^L_max. Lengths
    are integers, so the probability is gamma^floor(L_max). The lemma still holds if
    K / delta >= e^2, hence for every delta if K >= 8. `chance_of_longer` is exact.

    Examples
    --------
    >>> round(longest_episode(1000, gamma=0.9, delta=0.1), 3)
    92.103
    """
    episodes = numbers(K, "K", least=1)
    return plain(horizon(gamma) * np.log(episodes / shares(delta)))


def chance_of_longer(K: ArrayLike, gamma: ArrayLike, delta: ArrayLike) -> Numbers:
    """The exact probability that E_L fails: one of K episodes is longer than L_max.

    1 - (1 - gamma^floor(L_max))^K, as P(L > l) = gamma^l for integers l.

    Examples
    --------
    >>> round(chance_of_longer(1000, gamma=0.9, delta=0.1), 4)
    0.0598
    >>> round(chance_of_longer(1, gamma=0.9, delta=0.5), 4)  # too few episodes for the lemma
    0.5314
    """
    episodes, length = numbers(K, "K", least=1), np.floor(longest_episode(K, gamma, delta))
    with np.errstate(divide="ignore"):  # log 0 if L_max < 1
        return plain(-np.expm1(episodes * np.log1p(-(discounts(gamma) ** length))))


def steps(K: ArrayLike, gamma: ArrayLike, delta: ArrayLike) -> Numbers:
    """T = L_max K, a bound on the number of steps in K episodes (Lemma number-epochs-bound).

    Examples
    --------
    >>> round(steps(1000, gamma=0.9, delta=0.1))
    92103
    """
    return plain(longest_episode(K, gamma, delta) * numbers(K, "K", least=1))


def omega(K: ArrayLike) -> Numbers:
    """omega = log K (Theorem main-full)."""
    return plain(np.log(numbers(K, "K", least=1)))


def alpha(K: ArrayLike) -> Numbers:
    """alpha = 2 log K (Theorem main-full)."""
    return plain(2 * np.log(numbers(K, "K", least=1)))


def value_bound(gamma: ArrayLike, R_max: ArrayLike, omega: ArrayLike, alpha: ArrayLike) -> Numbers:
    """Q_max = H (R_max + 2 omega / alpha) >= |Q_k| (Lemma qmax).

    Examples
    --------
    >>> value_bound(gamma=0.5, R_max=1.0, omega=3.0, alpha=6.0)
    4.0
    """
    bonus = numbers(omega, "omega", least=0) / numbers(alpha, "alpha", above=0)  # (1 - p) CB
    return plain(horizon(gamma) * (numbers(R_max, "R_max", above=0) + 2 * bonus))


def eta(
    K: ArrayLike,
    d: ArrayLike,
    n_actions: ArrayLike,
    gamma: ArrayLike,
    B: ArrayLike,
    R_max: ArrayLike,
    delta: ArrayLike,
) -> Numbers:
    """The learning rate of Theorem main-full, with T = L_max K.

    sqrt( 5 d log(1 + B^2 T / d) log A / (8 R_max^2 H^{5/2} K) ).
    """
    log_A = np.log(numbers(n_actions, "n_actions", least=1))
    scale = 8 * numbers(R_max, "R_max", above=0) ** 2 * horizon(gamma) ** 2.5
    potential = log_determinant(steps(K, gamma, delta), d, B)
    return plain(np.sqrt(5 * potential * log_A / (scale * numbers(K, "K", least=1))))


def log_determinant(T: ArrayLike, d: ArrayLike, B: ArrayLike) -> Numbers:
    """d log(1 + B^2 T / d) >= log det(Lambda_T), Lambda_0 = I (trace-determinant inequality).

    Examples
    --------
    >>> round(log_determinant(T=100, d=10, B=1), 3)
    23.979
    """
    dim, bound = numbers(d, "d", least=1), numbers(B, "B", above=0)
    return plain(dim * np.log1p(bound**2 * numbers(T, "T", least=0) / dim))


def beta(
    K: ArrayLike,
    d: ArrayLike,
    gamma: ArrayLike,
    B: ArrayLike,
    W_max: ArrayLike,
    R_max: ArrayLike,
    delta: ArrayLike,
) -> Numbers:
    """The exploration coefficient of Lemma good-event-holds, with its c = 60 * 26.

    8 Q_max d log(c alpha W_max R_max B^{9/2} Q_max^4 L_max^{5/2} K^{7/2} d^{5/2} / delta).

    The proof needs every factor except delta to be at least 1, for steps such as "a sum of five
    terms is at most five times their product". So W_max >= 1 is needed besides B, R_max >= 1.

    Examples
    --------
    >>> round(beta(1000, d=12, gamma=0.9, B=1, W_max=1, R_max=1, delta=0.1))
    126644
    """
    L_max, slope = longest_episode(K, gamma, delta), alpha(K)
    Q_max = value_bound(gamma, R_max, omega(K), slope)
    dim = numbers(d, "d", least=1)
    logarithm = (
        np.log(60 * 26 * slope * numbers(W_max, "W_max", above=0) * numbers(R_max, "R_max"))
        - np.log(shares(delta))
        + 4.5 * np.log(numbers(B, "B", above=0))
        + 4 * np.log(Q_max)
        + 2.5 * np.log(L_max)
        + 3.5 * np.log(numbers(K, "K"))
        + 2.5 * np.log(dim)
    )
    return plain(8 * Q_max * dim * logarithm)


def beta_of_theorem(
    K: ArrayLike,
    d: ArrayLike,
    gamma: ArrayLike,
    B: ArrayLike,
    W_max: ArrayLike,
    R_max: ArrayLike,
    delta: ArrayLike,
    C: ArrayLike,
) -> Numbers:
    """The exploration coefficient as Theorem main-full states it, for an absolute constant C.

    C H R_max d log(B H W_max R_max d K / delta). With C from `constant_of_theorem` it equals
    the lemma's `beta`.

    Examples
    --------
    >>> round(beta_of_theorem(1000, d=12, gamma=0.9, B=1, W_max=1, R_max=1, delta=0.1, C=75))
    125980
    """
    dim, rewards = numbers(d, "d", least=1), numbers(R_max, "R_max", above=0)
    H, bound = horizon(gamma), numbers(B, "B", above=0)
    inside = bound * H * numbers(W_max, "W_max", above=0) * rewards * dim * numbers(K, "K", least=1)
    factor = numbers(C, "C", above=0) * H * rewards * dim
    return plain(factor * np.log(inside / shares(delta)))


def constant_of_theorem(
    K: ArrayLike,
    d: ArrayLike,
    gamma: ArrayLike,
    B: ArrayLike,
    W_max: ArrayLike,
    R_max: ArrayLike,
    delta: ArrayLike,
) -> Numbers:
    """The C for which `beta_of_theorem` equals the lemma's `beta`.

    An absolute C exists: Q_max <= 2 H R_max for R_max >= 1, and the lemma's logarithm holds at most
    the 13/2-th powers of the theorem's factors (H comes with Q_max^4 L_max^{5/2}) besides a
    constant and log log K. It is between 15 and 130 for all sizes that we tried.

    Examples
    --------
    >>> round(constant_of_theorem(1000, d=12, gamma=0.9, B=1, W_max=1, R_max=1, delta=0.1), 1)
    75.4
    """
    of_lemma = np.asarray(beta(K, d, gamma, B, W_max, R_max, delta))
    return plain(of_lemma / beta_of_theorem(K, d, gamma, B, W_max, R_max, delta, C=1))
