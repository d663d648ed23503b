"""The paper, computed: its parameters, bounds and inequalities as plain functions of plain numbers.

=====================  =============================================================
Module                 What it holds
=====================  =============================================================
`parameters`           omega, alpha, eta, beta, L_max, T, Q_max (Theorem main-full)
`ascension`            the sigmoid: what it keeps small, and the two biases
`covariance`           the elliptical potential and the number of epochs
`bonuses`              the sums of the bonuses
`concentration`        the covering number and why beta is as large as it is
`regret`               the bound on the regret, term by term
`sample_complexity`    how many episodes it takes to say something
`imitation`            what FRA-IL guarantees, and what it needs
`lower_bounds`         what no imitator can beat
`rates`                all of it without constants, as stated in five places
`literature`           the costs of other imitators (Appendix C)
`practice`             the numbers used in practice instead
`explanation`          all of it for one world: `explain`
=====================  =============================================================

Numbers in, a float out; arrays in, and they broadcast. Where a statement of the paper needs a
correction, the docstring of its function says which.
"""

from optimist.theory import (
    ascension,
    bonuses,
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
from optimist.theory.practice import PRACTICE, Practice
from optimist.theory.regret import RegretBound, regret_bound

__all__ = [
    "PRACTICE",
    "Explanation",
    "Practice",
    "RegretBound",
    "ascension",
    "bonuses",
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
