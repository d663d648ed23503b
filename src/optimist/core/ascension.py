"""Ascension functions p+: how likely the augmented MDP rises to heaven from a pair (x, a).

They are the axis on which the algorithms of this family lie (Section 3.3):

===============  ==========================================  =====================================
Ascension        p+(x, a)                                    Gives
===============  ==========================================  =====================================
`Sigmoid`        sigma(alpha CB(x, a) - omega)               RMAX-RAVI-UCB
`Truncation`     1 where the target reaches R_max H          RAVI-UCB; at eta = infinity LSVI-UCB
`Threshold`      1 where the uncertainty exceeds a level     R-max
`Never`          0                                           plain bonuses, unbounded values
`Novelty`        the chance of a new state, times log k      what has no scale to be tuned
===============  ==========================================  =====================================

The uncertainty of a pair is u = ||phi(x, a)|| in the norm of the inverse covariance at the start of
the epoch; its bonus CB is beta u in the paper (`optimist.core.bonus`).
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from optimist import checks
from optimist.checks import FloatArray

NEVER, SIGMOID, TRUNCATION, THRESHOLD, NOVELTY = range(5)
"""The codes by which the compiled loops know them."""

EDGE = 1 + 1e-9
"""A share that is above a level by a smaller factor is equal but for rounding, as with counts."""


@dataclass(frozen=True)
class Sigmoid:
    """p+ = sigma(alpha CB - omega), the paper's choice (Algorithm 1).

    With alpha = infinity it is the limit: 1 where CB > 0, and sigma(-omega) where CB = 0.

    Examples
    --------
    >>> Sigmoid(alpha=2.0, omega=1.0)(np.array([0.0, 0.5, 50.0])).round(3)
    array([0.269, 0.5  , 1.   ])
    >>> Sigmoid(alpha=np.inf, omega=0.0)(np.array([0.0, 1e-9]))
    array([0.5, 1. ])
    """

    alpha: float
    omega: float
    code: ClassVar[int] = SIGMOID

    def __post_init__(self) -> None:
        if not self.alpha > 0:
            raise ValueError(f"alpha = {self.alpha} must be positive (infinity is a step)")
        checks.real_number(self.omega, "omega")

    @property
    def numbers(self) -> tuple[float, float]:
        """The parameters in the order of the compiled loops."""
        return self.alpha, self.omega

    def __call__(self, bonus: FloatArray) -> FloatArray:
        """p+ of bonuses."""
        with np.errstate(over="ignore", invalid="ignore"):
            z = np.where(bonus > 0, self.alpha * bonus, 0.0) - self.omega
            return np.asarray(1 / (1 + np.exp(-z)))


@dataclass(frozen=True)
class Truncation:
    """p+ = 1 where r + CB + gamma P V reaches R_max H, else 0: values are cut off there."""

    code: ClassVar[int] = TRUNCATION
    numbers: ClassVar[tuple[float, float]] = (0.0, 0.0)


@dataclass(frozen=True)
class Threshold:
    """p+ = 1 where the uncertainty u exceeds a level, else 0.

    With one-hot features u^2 = 1 / (lambda + visits), so that `after(m)` calls a pair known after
    m visits, as R-max does.

    Examples
    --------
    >>> Threshold.after(visits=3)
    Threshold(level=0.5345224838248488)
    """

    level: float
    code: ClassVar[int] = THRESHOLD

    def __post_init__(self) -> None:
        if checks.real_number(self.level, "level") < 0:
            raise ValueError(f"level = {self.level} must not be negative")

    @classmethod
    def after(cls, visits: int, ridge: float = 1.0) -> "Threshold":
        """The level that one-hot pairs fall below with this many visits, halfway to the last."""
        return cls((checks.count(visits, "visits") - 0.5 + ridge) ** -0.5)

    @property
    def numbers(self) -> tuple[float, float]:
        """The parameters in the order of the compiled loops."""
        return self.level, 0.0


@dataclass(frozen=True)
class Never:
    """p+ = 0: no second optimism. Values may then grow without bound."""

    code: ClassVar[int] = NEVER
    numbers: ClassVar[tuple[float, float]] = (0.0, 0.0)


@dataclass(frozen=True)
class Novelty:
    """p+ = the chance that the next state was never seen, and 1 where next to nothing is known.

    What is seen of all pairs says what to expect of one (`optimist.core.prior`): theta u^2, in
    units of ||phi||^2, is the share of that prior in the estimate of a pair, theta / (n + theta)
    after n visits with one-hot features, and s the chance that what is new to a pair is new
    altogether. So, in an epoch that began after k episodes,

        p+ = 1 where theta u^2 > level, else min(s theta u^2 (1 + 2 log k), 1).

    At the level 1/3 what was seen outweighs the prior two to one. In a world without chance theta
    is near 0, and a pair that was tried once is known; where chance rules theta is near 1 or
    beyond. Heaven fades as states cease to be new, more slowly by the logarithm. The ridge of the
    regression becomes theta times the ridge given, and it regresses to the mean of the values
    instead of 0. With so small a ridge the regression may point beyond the values that went into
    it, so those are kept in [0, R_max H]; what the policy is made of is not.

    Where the rewards of all pairs are known and do not change, and no bound on the values was
    said, what heaven is worth is learnt: it pays what the pair does, and then gamma w, with w the
    largest Q of the last update, from R_max H on and never above it. New pairs for which that is
    more than all that was known of their state when the epoch began are alike, so that one episode
    tries all of them: they are paid what the best action of their state is. Else, in environments
    and with rewards that change, heaven is worth R_max H. The paper's algebra of the augmented MDP
    holds for any p+, its regret bound for the sigmoid alone.

    Examples
    --------
    >>> ascension_named(*ascension_name(Novelty()))
    Novelty(level=0.3333333333333333)
    """

    level: float = 1 / 3
    code: ClassVar[int] = NOVELTY

    def __post_init__(self) -> None:
        if not 0 < self.level < 1:
            raise ValueError(f"level = {self.level} must lie in (0, 1)")

    @property
    def numbers(self) -> tuple[float, float]:
        """The parameters in the order of the compiled loops."""
        return self.level, 0.0


Ascension = Sigmoid | Truncation | Threshold | Never | Novelty


def ascension_name(ascension: Ascension) -> list[str]:
    """An ascension function as text: its name and its two numbers."""
    return [type(ascension).__name__, *(repr(float(number)) for number in ascension.numbers)]


def ascension_named(name: str, first: str, second: str) -> Ascension:
    """The ascension function of such a text.

    Examples
    --------
    >>> ascension_named(*ascension_name(Sigmoid(alpha=np.inf, omega=2.0)))
    Sigmoid(alpha=inf, omega=2.0)
    """
    if name == "Sigmoid":
        return Sigmoid(float(first), float(second))
    if name in ("Threshold", "Novelty"):
        return (Threshold if name == "Threshold" else Novelty)(float(first))
    others: dict[str, Ascension] = {
        "Truncation": Truncation(),
        "Never": Never(),
    }
    if name not in others:
        raise ValueError(f"{name!r} is not an ascension function")
    return others[name]
