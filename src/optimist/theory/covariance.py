"""The growth of the covariance Lambda_t = I + sum phi phi', and the number of epochs.

Lambda_0 = I fixes the unit of length. Only the ratio of B^2 to the ridge matters: features and the
root of the ridge may be scaled together, but not one alone.
"""

import numpy as np

from optimist.theory.numbers import Real, formula
from optimist.theory.parameters import log_determinant


@formula("B >= 1")
def elliptical_potential(log_det: Real, B: Real = 1.0) -> Real:
    """2 B^2 log(det Lambda_t / det Lambda_0) >= sum_j ||phi_j||^2_{Lambda_{j-1}^-1}.

    Lemma bound-elliptical-potential states it for ||phi|| <= 1 and Lambda_0 >= I; the proof of
    Lemma expected-bonuses-bound uses it for ||phi|| <= B, with the factor B^2 and B >= 1. A
    footnote there says that a ridge of 1 / B^2 removes the factor. It must be B^2, which makes
    every ||phi||^2_{Lambda^-1} at most 1.

    Parameters
    ----------
    log_det
        The growth log det Lambda_t - log det Lambda_0.
    B
        A bound on ||phi||, at least 1.

    Examples
    --------
    >>> elliptical_potential(log_det=3.0, B=2.0)
    24.0
    """
    return 2 * B**2 * log_det


@formula()
def elliptical_potential_sharp(log_det: Real, B: Real = 1.0) -> Real:
    """B^2 / log(1 + B^2) times the growth of log det, the best factor for ||phi|| <= B.

    A vector with x = ||phi||^2_{Lambda^-1} in [0, B^2] adds log(1 + x) to log det. As log is
    concave, x <= log(1 + x) B^2 / log(1 + B^2), with equality at both ends.

    Examples
    --------
    >>> round(elliptical_potential_sharp(log_det=3.0, B=2.0), 3)
    7.456
    """
    return B**2 / np.log1p(B**2) * log_det


@formula("B >= 1")
def number_of_epochs(T: Real, d: Real, B: Real) -> Real:
    """5 d log(1 + B^2 T / d) >= E(K) (Lemma number-epochs-bound).

    It follows from `number_of_epochs_sharp` for B >= 1 and T >= 1.

    Examples
    --------
    >>> round(number_of_epochs(T=92_103, d=12, B=1))
    537
    """
    return 5 * log_determinant(T, d, B)


@formula()
def number_of_epochs_sharp(T: Real, d: Real, B: Real) -> Real:
    """1 + (d / log 2) log(1 + B^2 T / d), as each epoch but the first doubles det Lambda.

    Examples
    --------
    >>> round(number_of_epochs_sharp(T=92_103, d=12, B=1))
    156
    """
    return 1 + log_determinant(T, d, B) / np.log(2)
