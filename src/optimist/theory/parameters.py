"""The parameters of the main theorem, with the constants that the proofs make explicit.

All quantities are those of Theorem 1 and its proof (Appendix B.7), for K episodes, features of
dimension d with ||phi|| <= B, A actions, rewards ||w|| <= W_max in [0, R_max], and failure
probability delta. H = 1 / (1 - gamma).
"""

import math


def horizon(gamma: float) -> float:
    """H = 1 / (1 - gamma).

    Examples
    --------
    >>> horizon(0.75)
    4.0
    """
    return 1 / (1 - gamma)


def longest_episode(K: int, gamma: float, delta: float) -> float:
    """L_max = H log(K / delta): no episode is longer, with probability 1 - delta (Lemma lmax)."""
    return horizon(gamma) * math.log(K / delta)


def omega(K: int) -> float:
    """omega = log K (Theorem main-full)."""
    return math.log(K)


def alpha(K: int) -> float:
    """alpha = 2 log K (Theorem main-full)."""
    return 2 * math.log(K)


def value_bound(gamma: float, R_max: float, omega: float, alpha: float) -> float:
    """Q_max = H (R_max + 2 omega / alpha), which bounds every |Q_k| (Lemma qmax).

    Examples
    --------
    >>> value_bound(gamma=0.5, R_max=1.0, omega=3.0, alpha=6.0)
    4.0
    """
    return horizon(gamma) * (R_max + 2 * omega / alpha)


def eta(
    K: int, d: int, n_actions: int, gamma: float, B: float, R_max: float, delta: float
) -> float:
    """The learning rate of Theorem main-full, with T = L_max K."""
    T = longest_episode(K, gamma, delta) * K
    numerator = 5 * d * math.log(1 + B**2 * T / d) * math.log(n_actions)
    return math.sqrt(numerator / (8 * R_max**2 * horizon(gamma) ** 2.5 * K))


def beta(K: int, d: int, gamma: float, B: float, W_max: float, R_max: float, delta: float) -> float:
    """The exploration coefficient of Lemma good-event-holds, with its c = 60 * 26.

    8 Q_max d log(c alpha W_max R_max B^{9/2} Q_max^4 L_max^{5/2} K^{7/2} d^{5/2} / delta).
    """
    L_max, slope = longest_episode(K, gamma, delta), alpha(K)
    Q_max = value_bound(gamma, R_max, omega(K), slope)
    logarithm = (
        math.log(60 * 26 * slope * W_max * R_max / delta)
        + 4.5 * math.log(B)
        + 4 * math.log(Q_max)
        + 2.5 * math.log(L_max)
        + 3.5 * math.log(K)
        + 2.5 * math.log(d)
    )
    return 8 * Q_max * d * logarithm
