"""Bonuses CB: what is added to the estimate of a pair (x, a), beside the ascension function.

===============  ==============================================  ================================
Bonus            CB(x, a)                                        Gives
===============  ==============================================  ================================
`FixedBonus`     beta u                                          the paper's, and its theorem
`VarianceBonus`  gamma c sqrt(Var V(x')) u                       what has no scale to be tuned
===============  ==============================================  ================================

The uncertainty of a pair is u = ||phi(x, a)|| in the norm of the inverse covariance at the start of
the epoch: one over the root of its visits, with one-hot features.
"""

from dataclasses import dataclass
from typing import ClassVar

from optimist import checks

FIXED, VARIANCE = range(2)
"""The codes by which the compiled loops know them."""

ROUNDING = 1e-12
"""A variance below this part of the second moment is the rounding of their difference: 0."""


@dataclass(frozen=True)
class FixedBonus:
    """CB = beta u, the paper's choice (Algorithm 1): beta is in the units of the values.

    Examples
    --------
    >>> FixedBonus(beta=0.5).coefficient
    0.5
    """

    beta: float
    code: ClassVar[int] = FIXED

    def __post_init__(self) -> None:
        if checks.real_number(self.beta, "beta") < 0:
            raise ValueError(f"beta = {self.beta} must not be negative")

    @property
    def coefficient(self) -> float:
        """What the compiled loops multiply with."""
        return float(self.beta)


@dataclass(frozen=True)
class VarianceBonus:
    """CB = gamma c sqrt(Var) u, with the variance of V over the next states of a pair.

    V and V^2 are regressed on the features at the start of an epoch, from the prior mean v of the
    values on (0, but for `Novelty`): with M the regression of all data,

        Var = max(phi . M (V - v)^2 - (phi . M (V - v))^2, 0),

    but for the prior's share in either: with one-hot features it is the variance of the next states
    seen, and u one over the root of their number.

    Whatever the units of the rewards, c counts standard deviations of the estimate. A bonus
    knows nothing of what was never seen: that is for the ascension function. It is no bound of the
    paper's: Lemma good-event-holds is about `FixedBonus`.

    Examples
    --------
    >>> VarianceBonus(c=1).coefficient
    1.0
    """

    c: float = 0.3
    code: ClassVar[int] = VARIANCE

    def __post_init__(self) -> None:
        if checks.real_number(self.c, "c") < 0:
            raise ValueError(f"c = {self.c} must not be negative")

    @property
    def coefficient(self) -> float:
        """What the compiled loops multiply with."""
        return float(self.c)


Bonus = FixedBonus | VarianceBonus


def bonus_name(bonus: Bonus) -> list[str]:
    """A bonus as text: its name and its number."""
    return [type(bonus).__name__, repr(bonus.coefficient)]


def bonus_named(name: str, number: str) -> Bonus:
    """The bonus of such a text.

    Examples
    --------
    >>> bonus_named(*bonus_name(VarianceBonus(0.5)))
    VarianceBonus(c=0.5)
    """
    kinds: dict[str, type[FixedBonus] | type[VarianceBonus]] = {
        "FixedBonus": FixedBonus,
        "VarianceBonus": VarianceBonus,
    }
    if name not in kinds:
        raise ValueError(f"{name!r} is not a bonus")
    return kinds[name](float(number))
