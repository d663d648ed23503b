"""Sums of the bonuses CB_k = beta ||phi||_{Lambda_{t_e}^-1} (Lemma expected-bonuses-bound)."""

import numpy as np

from optimist.theory.covariance import number_of_epochs
from optimist.theory.numbers import Real, formula
from optimist.theory.parameters import log_determinant, steps


@formula()
def expectation_bound(total: Real, M: Real, K: Real, gamma: Real, delta: Real) -> Real:
    """2 (1 - gamma) sum_k sum_t f_k(X_t, A_t) + 4 M log(2 K / delta)^2.

    It bounds sum_k <mu(pi_k), f_k> with probability 1 - delta on E_L, for functions f_k in [0, M]
    that are known before episode k (Lemma expectation-to-highprob). The proof also uses M L_max as
    a bound on the mean of an episode's sum, which E_L does not imply. Episodes longer than L_max
    add at most delta M (log(K / delta) + 1), which the step from log(K / delta) to log(2 K / delta)
    covers.

    Parameters
    ----------
    total
        The sum of f_k over all pairs played.
    M
        The largest value of the f_k.

    Examples
    --------
    >>> round(expectation_bound(total=500, M=1, K=1000, gamma=0.9, delta=0.1), 1)
    492.3
    """
    return 2 * (1 - gamma) * total + 4 * M * np.log(2 * K / delta) ** 2


@formula("B >= 1")
def bonus_sum(K: Real, d: Real, gamma: Real, B: Real, beta: Real, delta: Real) -> Real:
    """The bound on sum_k <mu(pi_k), CB_k> of Lemma expected-bonuses-bound, as printed.

    4 (1 - gamma) beta B sqrt(d T log(1 + B^2 T / d)) + 4 beta B log(2 K / delta)^2, T = L_max K.
    Two corrections are needed: add `bonus_sum_at_epoch_starts`, and divide by gamma if the last
    pair of an episode is not recorded, as in the pseudocode. The recorded pairs are then gamma H of
    the H steps of an episode in the mean.

    Examples
    --------
    >>> round(bonus_sum(1000, d=12, gamma=0.9, B=1, beta=1.0, delta=0.1))
    1650
    """
    T = steps(K, gamma, delta)
    played = 2 * (beta * B) * np.sqrt(T * log_determinant(T, d, B))
    return expectation_bound(played, beta * B, K, gamma, delta)


@formula("B >= 1")
def squared_bonus_sum(K: Real, d: Real, gamma: Real, B: Real, beta: Real, delta: Real) -> Real:
    """The bound on sum_k <mu(pi_k), CB_k^2> of Lemma expected-bonuses-bound, as printed.

    8 (1 - gamma) beta^2 B^2 d log(1 + B^2 T / d) + 4 beta^2 B^2 log(2 K / delta)^2, T = L_max K.
    It needs the corrections of `bonus_sum`, with `squared_bonus_sum_at_epoch_starts`.

    Examples
    --------
    >>> round(squared_bonus_sum(1000, d=12, gamma=0.9, B=1, beta=1.0, delta=0.1))
    478
    """
    played = 4 * (beta * B) ** 2 * log_determinant(steps(K, gamma, delta), d, B)
    return expectation_bound(played, (beta * B) ** 2, K, gamma, delta)


@formula("B >= 1")
def bonus_sum_at_epoch_starts(
    K: Real, d: Real, gamma: Real, B: Real, beta: Real, delta: Real
) -> Real:
    """10 beta B log(K / delta) d log(1 + B^2 T / d), an upper bound on what `bonus_sum` omits.

    Lemma expectation-to-highprob assumes functions known before the episode. But if an epoch starts
    with episode k, CB_k depends on the data of that episode. The lemma applies to CB_{k-1}, which
    is known before and no smaller. Then the determinant may have more than doubled within those
    E(K) episodes, and each adds up to 2 (1 - gamma) L_max beta B.

    The omission matters. Let each of n = 10,000 states lead to itself, start in a uniformly drawn
    state, and play n episodes at gamma = 0.999. A new state almost surely starts an epoch, and the
    sum of <mu(pi_k), CB_k^2> is about (1 - 1/e) n beta^2 = 6,321 beta^2; `squared_bonus_sum` is
    1,344 beta^2 for delta = 0.1. The correction does not change the order of the regret in K.

    Examples
    --------
    >>> round(bonus_sum_at_epoch_starts(1000, d=12, gamma=0.9, B=1, beta=1.0, delta=0.1))
    9887
    """
    chance = 2 * np.log(K / delta)  # 2 (1 - gamma) L_max
    return chance * (beta * B) * number_of_epochs(steps(K, gamma, delta), d, B)


@formula("B >= 1")
def squared_bonus_sum_at_epoch_starts(
    K: Real, d: Real, gamma: Real, B: Real, beta: Real, delta: Real
) -> Real:
    """10 beta^2 B^2 log(K / delta) d log(1 + B^2 T / d), omitted by `squared_bonus_sum`.

    `bonus_sum_at_epoch_starts` explains why.

    Examples
    --------
    >>> round(squared_bonus_sum_at_epoch_starts(1000, d=12, gamma=0.9, B=1, beta=2.0, delta=0.1))
    39549
    """
    return beta * B * bonus_sum_at_epoch_starts(K, d, gamma, B, beta, delta)
