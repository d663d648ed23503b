"""The paper's parameters, bounds and inequalities as plain functions of plain numbers.

=====================  =============================================================
Module                 Contents
=====================  =============================================================
`parameters`           omega, alpha, eta, beta, L_max, T, Q_max (Theorem main-full)
`ascension`            bounds on the sigmoid p+, and on the two biases
`covariance`           the elliptical potential and the number of epochs
`bonuses`              bounds on the sums of the bonuses
`concentration`        the covering number, and the proof that beta is large enough
`regret`               the bound on the regret, term by term
`sample_complexity`    the number of episodes for a given average regret
`imitation`            the guarantees of FRA-IL, and the samples it needs
`lower_bounds`         lower bounds for every imitator
`certifying`           a lower bound for every learner that certifies a policy
`rates`                the rates stated in the paper, without constants
`literature`           the costs of other imitators (Appendix C)
`explanation`          `explain`: the theorem evaluated for one world
=====================  =============================================================

Functions take numbers and return a float, or take arrays, which broadcast. If a statement of the
paper needs a correction, the docstring of its function says which.
"""

from optimist.theory import (
    ascension,
    bonuses,
    certifying,
    concentration,
    covariance,
    imitation,
    literature,
    lower_bounds,
    parameters,
    rates,
    regret,
    sample_complexity,
)
from optimist.theory.explanation import Explanation, explain
from optimist.theory.regret import RegretBound, regret_bound

__all__ = [
    "Explanation",
    "RegretBound",
    "ascension",
    "bonuses",
    "certifying",
    "concentration",
    "covariance",
    "explain",
    "imitation",
    "literature",
    "lower_bounds",
    "parameters",
    "rates",
    "regret",
    "regret_bound",
    "sample_complexity",
]
