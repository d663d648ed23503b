"""The parameters of the main theorem, with the constants that the proofs make explicit.

All quantities are those of Theorem main-full and its proof (Appendix B.7), for K episodes, features
of dimension d with ||phi|| <= B, A actions, rewards ||w|| <= W_max in [0, R_max], and failure
probability delta. H = 1 / (1 - gamma).

Units: if rewards are multiplied by c, then R_max, W_max, Q_max and beta (except for its logarithm)
are multiplied by c, eta and alpha are divided by c, and omega stays. The theorem's own
alpha = 2 log K does not scale, as its proof assumes R_max >= 1 and adds 2 omega / alpha = 1.
"""

import numpy as np

from optimist.theory.numbers import Real, formula


@formula()
def horizon(gamma: Real) -> Real:
    """H = 1 / (1 - gamma).

    Examples
    --------
    >>> horizon(0.75)
    4.0
    >>> horizon([0.5, 0.75])
    array([2., 4.])
    """
    return 1 / (1 - gamma)


@formula()
def longest_episode(K: Real, gamma: Real, delta: Real) -> Real:
    """L_max = H log(K / delta); with probability 1 - delta no episode is longer (Lemma lmax).

    The proof prints log(delta / K) for log(K / delta), and uses P(L > L_max) = gamma^L_max. Lengths
    are integers, so the probability is gamma^floor(L_max). The lemma still holds if
    K / delta >= e^2, hence for every delta if K >= 8. `chance_of_longer` is exact.

    Examples
    --------
    >>> round(longest_episode(1000, gamma=0.9, delta=0.1), 3)
    92.103
    """
    return horizon(gamma) * np.log(K / delta)


@formula()
def chance_of_longer(K: Real, gamma: Real, delta: Real) -> Real:
    """The exact probability that E_L fails: one of K episodes is longer than L_max.

    1 - (1 - gamma^floor(L_max))^K, as P(L > l) = gamma^l for integers l.

    Examples
    --------
    >>> round(chance_of_longer(1000, gamma=0.9, delta=0.1), 4)
    0.0598
    >>> round(chance_of_longer(1, gamma=0.9, delta=0.5), 4)  # too few episodes for the lemma
    0.5314
    """
    with np.errstate(divide="ignore"):  # log 0 if L_max < 1
        return -np.expm1(K * np.log1p(-(gamma ** np.floor(longest_episode(K, gamma, delta)))))


@formula()
def steps(K: Real, gamma: Real, delta: Real) -> Real:
    """T = L_max K, a bound on the number of steps in K episodes (Lemma number-epochs-bound).

    Examples
    --------
    >>> round(steps(1000, gamma=0.9, delta=0.1))
    92103
    """
    return longest_episode(K, gamma, delta) * K


@formula()
def omega(K: Real) -> Real:
    """omega = log K (Theorem main-full)."""
    return np.log(K)


@formula()
def alpha(K: Real) -> Real:
    """alpha = 2 log K (Theorem main-full)."""
    return 2 * np.log(K)


@formula()
def value_bound(gamma: Real, R_max: Real, omega: Real, alpha: Real) -> Real:
    """Q_max = H (R_max + 2 omega / alpha) >= |Q_k| (Lemma qmax).

    Examples
    --------
    >>> value_bound(gamma=0.5, R_max=1.0, omega=3.0, alpha=6.0)
    4.0
    """
    return horizon(gamma) * (R_max + 2 * (omega / alpha))  # (1 - p) CB <= omega / alpha


@formula()
def eta(K: Real, d: Real, n_actions: Real, gamma: Real, B: Real, R_max: Real, delta: Real) -> Real:
    """The learning rate of Theorem main-full, with T = L_max K.

    sqrt( 5 d log(1 + B^2 T / d) log A / (8 R_max^2 H^{5/2} K) ).
    """
    potential = log_determinant(steps(K, gamma, delta), d, B)
    scale = 8 * R_max**2 * horizon(gamma) ** 2.5
    return np.sqrt(5 * potential * np.log(n_actions) / (scale * K))


@formula()
def log_determinant(T: Real, d: Real, B: Real) -> Real:
    """d log(1 + B^2 T / d) >= log det(Lambda_T), Lambda_0 = I (trace-determinant inequality).

    Examples
    --------
    >>> round(log_determinant(T=100, d=10, B=1), 3)
    23.979
    """
    return d * np.log1p(B**2 * T / d)


@formula()
def beta(K: Real, d: Real, gamma: Real, B: Real, W_max: Real, R_max: Real, delta: Real) -> Real:
    """The exploration coefficient of Lemma good-event-holds, with its c = 60 * 26.

    8 Q_max d log(c alpha W_max R_max B^{9/2} Q_max^4 L_max^{5/2} K^{7/2} d^{5/2} / delta).

    The proof needs every factor except delta to be at least 1, for steps such as "a sum of five
    terms is at most five times their product". So W_max >= 1 is needed besides B, R_max >= 1.

    Examples
    --------
    >>> round(beta(1000, d=12, gamma=0.9, B=1, W_max=1, R_max=1, delta=0.1))
    126644
    """
    Q_max = value_bound(gamma, R_max, omega(K), alpha(K))
    logarithm = (
        np.log(60 * 26 * alpha(K) * W_max * R_max)
        - np.log(delta)
        + 4.5 * np.log(B)
        + 4 * np.log(Q_max)
        + 2.5 * np.log(longest_episode(K, gamma, delta))
        + 3.5 * np.log(K)
        + 2.5 * np.log(d)
    )
    return 8 * Q_max * d * logarithm


@formula()
def beta_of_theorem(
    K: Real, d: Real, gamma: Real, B: Real, W_max: Real, R_max: Real, delta: Real, C: Real
) -> Real:
    """The exploration coefficient as Theorem main-full states it, for an absolute constant C.

    C H R_max d log(B H W_max R_max d K / delta). With C from `constant_of_theorem` it equals
    the lemma's `beta`.

    Examples
    --------
    >>> round(beta_of_theorem(1000, d=12, gamma=0.9, B=1, W_max=1, R_max=1, delta=0.1, C=75))
    125980
    """
    H = horizon(gamma)
    return C * H * R_max * d * np.log(B * H * W_max * R_max * d * K / delta)


def constant_of_theorem(
    K: Real, d: Real, gamma: Real, B: Real, W_max: Real, R_max: Real, delta: Real
) -> Real:
    """The C for which `beta_of_theorem` equals the lemma's `beta`.

    An absolute C exists: Q_max <= 2 H R_max for R_max >= 1, and the lemma's logarithm holds at most
    the 13/2-th powers of the theorem's factors (H comes with Q_max^4 L_max^{5/2}) besides a
    constant and log log K. It is between 15 and 130 for all sizes that we tried.

    Examples
    --------
    >>> round(constant_of_theorem(1000, d=12, gamma=0.9, B=1, W_max=1, R_max=1, delta=0.1), 1)
    75.4
    """
    given = (K, d, gamma, B, W_max, R_max, delta)
    return beta(*given) / beta_of_theorem(*given, C=1)
