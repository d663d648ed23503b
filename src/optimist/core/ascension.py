"""Ascension functions p+: the probability that the augmented MDP moves from (x, a) to heaven.

They are the axis on which the algorithms of this family lie (Section 3.3):

===============  ==========================================  =====================================
Ascension        p+(x, a)                                    Gives
===============  ==========================================  =====================================
`Sigmoid`        sigma(alpha CB(x, a) - omega)               RMAX-RAVI-UCB
`Truncation`     1 where the target reaches R_max H          RAVI-UCB; at eta = infinity LSVI-UCB
`Threshold`      1 where the uncertainty exceeds a level     R-max
`Never`          0                                           plain bonuses, unbounded values
`Novelty`        estimated probability of an unseen state    the rule without a knob (`Optimist`)
===============  ==========================================  =====================================

The uncertainty of a pair is u = ||phi(x, a)|| in the norm of the inverse covariance at the start of
the epoch; its bonus CB is beta u in the paper (`optimist.core.bonus`). The formulas are in
`optimist.core.optimism`.
"""

from dataclasses import dataclass
from typing import ClassVar

from optimist import checks
from optimist.core.optimism import AscensionKind


@dataclass(frozen=True)
class Sigmoid:
    """p+ = sigma(alpha CB - omega), the paper's choice (Algorithm 1).

    With alpha = infinity it is the limit: 1 where CB > 0, and sigma(-omega) where CB = 0.

    Attributes
    ----------
    alpha
        Slope of the sigmoid; infinity makes it a step.
    omega
        Threshold of the sigmoid.
    """

    alpha: float
    omega: float
    kind: ClassVar[AscensionKind] = AscensionKind.SIGMOID

    def __post_init__(self) -> None:
        if not self.alpha > 0:
            raise ValueError(f"alpha = {self.alpha} must be positive (infinity is a step)")
        checks.real_number(self.omega, "omega")


@dataclass(frozen=True)
class Truncation:
    """p+ = 1 where r + CB + gamma P V reaches R_max H, else 0: values are cut off there."""

    kind: ClassVar[AscensionKind] = AscensionKind.TRUNCATION


@dataclass(frozen=True)
class Threshold:
    """p+ = 1 where the uncertainty u exceeds a level, else 0.

    With one-hot features u^2 = 1 / (ridge + visits), so that `after(m)` calls a pair known after m
    visits, as R-max does.

    Attributes
    ----------
    level
        The uncertainty above which a pair is unknown.

    Examples
    --------
    >>> Threshold.after(visits=3)
    Threshold(level=0.5345224838248488)
    """

    level: float
    kind: ClassVar[AscensionKind] = AscensionKind.THRESHOLD

    def __post_init__(self) -> None:
        if checks.real_number(self.level, "level") < 0:
            raise ValueError(f"level = {self.level} must not be negative")

    @classmethod
    def after(cls, visits: int, ridge: float = 1.0) -> "Threshold":
        """The level that one-hot pairs fall below at this many visits, halfway to the last one."""
        return cls((checks.count(visits, "visits") - 0.5 + ridge) ** -0.5)


@dataclass(frozen=True)
class Never:
    """p+ = 0: no second optimism. Values may then grow without bound."""

    kind: ClassVar[AscensionKind] = AscensionKind.NEVER


@dataclass(frozen=True)
class Novelty:
    """p+ = estimated probability of an unseen next state; 1 where the prior outweighs the data.

    A prior over next states is fitted to all pairs (`optimist.core.prior`). Its share in the
    estimate of a pair is theta u^2, in units of ||phi||^2: theta / (n + theta) after n visits with
    one-hot features. The probability that a next state which is new to its pair was never seen at
    all is s. In an epoch that began after k episodes,

        p+ = 1 where theta u^2 > level, else min(s theta u^2 (1 + 2 log k), 1).

    At the level 1/3 the data outweigh the prior two to one. In a deterministic world theta is near
    0, and a pair is known after one visit; where transitions are random theta is near 1 or larger.
    The ridge of the regression becomes theta times the ridge given, and it shrinks to the mean
    value instead of 0. A ridge that small can extrapolate beyond the values that it was fitted to,
    so the values that enter the next regression are kept in [0, R_max H]; the policy is not
    affected.

    In finite worlds with fixed rewards and no bound on the values given, the worth of heaven is
    learnt: it pays what the pair pays, then gamma w, where w is the largest Q of the last update,
    starting from R_max H and never above it. New pairs for which that exceeds all that was known of
    their state at the start of the epoch share the reward of the best action of their state, so
    that one episode tries all of them. Elsewhere heaven is worth R_max H: in an environment the
    rewards of untried pairs are unknown, and rewards that change make w outdated. The paper's
    algebra of the augmented MDP holds for any p+, its regret bound for the sigmoid alone.

    Attributes
    ----------
    level
        Share of the prior above which a pair is unknown.
    """

    level: float = 1 / 3
    kind: ClassVar[AscensionKind] = AscensionKind.NOVELTY

    def __post_init__(self) -> None:
        if not 0 < self.level < 1:
            raise ValueError(f"level = {self.level} must lie in (0, 1)")


Ascension = Sigmoid | Truncation | Threshold | Never | Novelty
