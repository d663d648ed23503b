"""Ascension functions p+: the probability that the augmented MDP moves from (x, a) to heaven.

They are the axis on which the algorithms of this family lie (Section 3.3):

===============  ==========================================  =====================================
Ascension        p+(x, a)                                    Gives
===============  ==========================================  =====================================
`Sigmoid`        sigma(alpha CB(x, a) - omega)               RMAX-RAVI-UCB
`Truncation`     1 where the target reaches R_max H          RAVI-UCB; at eta = infinity LSVI-UCB
`Contraction`    1 - sigma(omega - alpha CB)                 CFPO: policy optimisation of losses
`Threshold`      1 where the uncertainty exceeds a level     R-max
`Never`          0                                           plain bonuses, unbounded values
`Novelty`        estimated probability of an unseen state    the rule without a knob (`Optimist`)
`Confidence`     5 L / (n + 5 L)                             its form with constants of a proof
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
            raise ValueError(f"alpha must be positive (infinity is a step); got {self.alpha}")
        checks.real_number(self.omega, "omega")


@dataclass(frozen=True)
class Contraction(Sigmoid):
    """p+ = 1 - rho with rho = sigma(omega - alpha CB), the same number as of `Sigmoid` (`Cfpo`).

    Features are contracted to rho times their length, in policy optimisation on the losses
    R_max - r: an update is a sweep of V = <pi, Q>, the value of the present policy, and by the Q of
    the last one the policy moves, once after an episode. Updates end when no value changes by more
    than the tolerance of `Variant`. The ridge shrinks losses to 0, so that values go to heaven.
    """


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
            raise ValueError(f"level must not be negative; got {self.level}")

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
    """p+ = estimated probability of an unseen next state; 1 for untried pairs.

    A prior over next states is fitted to all pairs (`optimist.core.prior`). After n visits the next
    state of a pair is new to it with probability theta / (n + theta), with the concentration theta
    of its state, and was then never seen at all with probability s. In an epoch that began after k
    episodes,

        p+ = min(1, s (1 + 2 log k) theta / (n + theta)),

    where n = 1 / u^2 - ridge / ||phi||^2. A pair is untried where the ridge has more of a say in
    its estimate than the data. The ridge should be small (`Variant.ridge`). It shrinks the estimate
    to the mean value v instead of 0, and may extrapolate beyond the values that it was fitted to:
    the values that enter the next regression are kept in [0, R_max H], the policy is not affected.

    Actions that are untried, or tried too seldom to be given up, are played more often or less
    often than pi says (`optimist.core.trials`): every action of a state that is visited for ever is
    tried for ever.

    In finite worlds with fixed rewards and no bound on the values given, the worth of heaven is
    learnt: it pays what the pair pays, then gamma w, where w is the largest Q of the last update,
    starting from R_max H and never above it. Elsewhere heaven is worth R_max H: in an environment
    an untried pair may pay R_max, and rewards that change make w outdated. The paper's algebra of
    the augmented MDP holds for any p+, its regret bound for the sigmoid alone.
    """

    kind: ClassVar[AscensionKind] = AscensionKind.NOVELTY


@dataclass(frozen=True)
class Confidence:
    """p+ = 5 L / (n + 5 L) after n visits of a pair, 1 for untried pairs.

    Heaven is worth 2 R_max H, and L = log(3 X A T (T + 1) / delta) after T steps in a world of X
    states and A actions. p+ is the range term of an empirical Bernstein bound, whose other term is
    `VarianceBonus(1)`: with this ascension function that bonus is gamma sqrt(2 L Var / n). Both are
    computed anew for every update. With probability 1 - delta all values are at least the optimal
    ones, up to what updates have left (docs/explanation/rule.md). It needs one-hot features,
    known rewards.

    Attributes
    ----------
    delta
        Probability with which it may fail.
    """

    delta: float
    kind: ClassVar[AscensionKind] = AscensionKind.CONFIDENCE

    def __post_init__(self) -> None:
        if not 0 < checks.real_number(self.delta, "delta") < 1:
            raise ValueError(f"delta must be in (0, 1); got {self.delta}")


Ascension = Sigmoid | Contraction | Truncation | Threshold | Never | Novelty | Confidence
"""Any of the ascension functions p+(x, a)."""
