"""Bonuses CB, added to the estimate of a pair (x, a), beside the ascension function.

===============  ==========================================  =====================================
Bonus            CB(x, a)                                    Gives
===============  ==========================================  =====================================
`FixedBonus`     beta u                                      the paper's, and its theorem
`VarianceBonus`  gamma c (1 + log N)^2 sqrt(Var V(x')) u     the rule without a knob (`Optimist`)
`NoiseBonus`     phi . xi, xi ~ N(0, sigma^2 Lambda^{-1})    randomised value iteration (`Rlsvi`)
===============  ==========================================  =====================================

The uncertainty of a pair is u = ||phi(x, a)|| in the norm of the inverse covariance at the start of
the epoch: one over the root of its visits, with one-hot features. The formulas are in
`optimist.core.optimism`.
"""

from dataclasses import dataclass
from typing import ClassVar

from optimist import checks
from optimist.core.optimism import BonusKind


@dataclass(frozen=True)
class FixedBonus:
    """CB = beta u, the paper's choice (Algorithm 1): beta is in the units of the values.

    Attributes
    ----------
    beta
        Exploration coefficient.
    """

    beta: float
    kind: ClassVar[BonusKind] = BonusKind.FIXED

    def __post_init__(self) -> None:
        if checks.real_number(self.beta, "beta") < 0:
            raise ValueError(f"beta must not be negative; got {self.beta}")


@dataclass(frozen=True)
class VarianceBonus:
    """CB = gamma c (1 + log N)^2 sqrt(Var) u, with the variance of V over next states.

    V and V^2 are regressed on the features at the start of an epoch, shrunk to the prior mean v of
    the values (0, but for `Novelty`). With M the regression of all data,

        Var = max(phi . M (V - v)^2 - (phi . M (V - v))^2, 0),

    without the prior's share in either, and u without the prior's visits: with one-hot features CB
    is gamma c (1 + log N)^2 sqrt(Var / n), with the empirical variance over the n next states that
    were seen of the pair, in N visits of its state.

    With `Confidence` it is gamma c sqrt(2 L Var) u, the variance term of a Bernstein bound.

    c counts standard deviations of the estimate, whatever the units of the rewards. A variance says
    nothing of states that were never seen: the ascension function covers those. Lemma
    good-event-holds is about `FixedBonus` and does not cover this bonus.

    Attributes
    ----------
    c
        Number of standard deviations of the estimate at the first visit of a state.
    """

    c: float = 0.015
    kind: ClassVar[BonusKind] = BonusKind.VARIANCE

    def __post_init__(self) -> None:
        if checks.real_number(self.c, "c") < 0:
            raise ValueError(f"c must not be negative; got {self.c}")


@dataclass(frozen=True)
class NoiseBonus:
    """CB = phi . xi, with a draw of xi from N(0, sigma^2 Lambda^{-1}) after each episode.

    Lambda is the covariance of all data so far. The bonus of a pair is normal with deviation
    sigma u, and may be negative.

    Attributes
    ----------
    sigma
        Scale of the noise.
    """

    sigma: float
    kind: ClassVar[BonusKind] = BonusKind.NOISE

    def __post_init__(self) -> None:
        checks.positive(self.sigma, "sigma")


Bonus = FixedBonus | VarianceBonus | NoiseBonus
"""Any of the bonuses CB(x, a)."""
