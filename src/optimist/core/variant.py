"""One algorithm of the family: which bonus, which ascension function, and their parameters."""

import math
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np

from optimist import checks
from optimist.core.ascension import Ascension, Confidence, Contraction, Novelty, Sigmoid
from optimist.core.bonus import Bonus, FixedBonus, NoiseBonus, VarianceBonus
from optimist.core.optimism import Optimism
from optimist.core.state import Rule
from optimist.theory import parameters

LEAST = 1e-3
"""A ridge that leaves the data to themselves, in units of B^2."""

ASCENSIONS = tuple(kind.__name__ for kind in get_args(Ascension))
BONUSES = tuple(kind.__name__ for kind in get_args(Bonus))

BETA, ETA, UPDATES, K = 0.5, 10.0, 10, 10_000
ALPHA, OMEGA = float(parameters.alpha(K)), float(parameters.omega(K))
"""The defaults of Algorithm 1 for rewards in [0, 1], outside the theorem: bonuses of the size of a
reward, several updates an episode, and the paper's sigmoid at K = 10,000
(docs/explanation/rule.md)."""


@dataclass(frozen=True)
class Variant:
    """A point of the family of algorithms that Section 3.3 describes.

    Attributes
    ----------
    eta
        Learning rate of the policy; infinity makes it greedy for the last update.
    bonus
        The bonus CB (`optimist.core.bonus`).
    ascension
        The ascension function p+ (`optimist.core.ascension`).
    r_max
        Upper bound on the rewards, R_max.
    ridge
        The initial covariance is ridge times the identity: 1 in the paper. None is `LEAST` B^2,
        which is negligible whatever the scale of the features.
    updates
        Updates of values and policy after an episode: 1 in the paper, which conjectures that
        several improve its bound.
    observe_last
        Whether the last pair of an episode is learnt from. In the pseudocode the reset comes before
        the next state is seen, so it is not.
    midway
        Whether an episode that an environment ends itself, perhaps after many steps, is learnt from
        before it ends: when a pair is to be tried again that was tried as often since the last
        update as before it, and at least once, as in UCRL2 (Jaksch, Ortner and Auer, 2010); but not
        before a step for every hundred states met, so that updates cost no more than steps. It has
        no effect on geometric episodes, or where features are not counts.
    anytime
        Whether omega = log K and alpha = 2 omega follow a doubling guess of K, each guess beginning
        a new epoch, instead of the sigmoid's own numbers.
    lazy
        Whether updates wait for the next epoch, instead of following every episode. Over T steps
        that makes O(d log T) rounds of updates. The paper's proof does not cover it: the policy is
        then the softmax of eta times a sum of ``updates`` Q's alone.
    v_max
        Upper bound on the optimal values of all states, if one below R_max H is known; it is what
        heaven is worth.
    tolerance
        Updates after an episode end when no value changes by more than this share of what heaven
        pays a step, which is R_max unless ``v_max`` is given; 0 makes all of them.
    """

    eta: float = ETA
    bonus: Bonus = FixedBonus(BETA)  # noqa: RUF009 - frozen
    ascension: Ascension = Sigmoid(ALPHA, OMEGA)  # noqa: RUF009 - frozen
    r_max: float = 1.0
    ridge: float | None = 1.0
    updates: int = 1
    observe_last: bool = False
    midway: bool = False
    anytime: bool = False
    lazy: bool = False
    v_max: float | None = None
    tolerance: float = 0.0

    def __post_init__(self) -> None:
        if not self.eta > 0:
            raise ValueError(f"eta must be positive (infinity is greedy); got {self.eta}")
        if not isinstance(self.ascension, Ascension):
            kinds = ", ".join(ASCENSIONS)
            raise TypeError(f"ascension must be one of {kinds}; got {self.ascension!r}")
        if not isinstance(self.bonus, Bonus):
            raise TypeError(f"bonus must be one of {', '.join(BONUSES)}; got {self.bonus!r}")
        if not 0 <= self.tolerance < 1:
            raise ValueError(f"tolerance must be in [0, 1); got {self.tolerance}")
        checks.positive(self.r_max, "r_max")
        if self.ridge is not None:
            checks.positive(self.ridge, "ridge")
        if self.anytime and type(self.ascension) is not Sigmoid:
            raise ValueError("anytime needs a Sigmoid, whose numbers it chooses")
        if self.learns_prior and math.isinf(self.eta):
            raise ValueError("eta must be finite with Novelty, which needs odds of actions")
        checks.count(self.updates, "updates", below=checks.MOST)
        if self.v_max is not None:
            checks.positive(self.v_max, "v_max")

    def variant(self) -> "Variant":
        """The algorithm itself, as of every configuration."""
        return self

    @property
    def learns_prior(self) -> bool:
        """Whether a prior over next states is fitted (`optimist.core.prior`)."""
        return isinstance(self.ascension, Novelty)

    @property
    def evaluates(self) -> bool:
        """Whether updates evaluate the policy, and the last one moves it (`Contraction`)."""
        return isinstance(self.ascension, Contraction)

    @property
    def keeps_moments(self) -> bool:
        """Whether there is room for the regressions of V and of its square."""
        return isinstance(self.bonus, VarianceBonus) or isinstance(
            self.ascension, Novelty | Confidence
        )

    def ridge_for(self, bound: float) -> float:
        """The ridge for features of this norm bound B."""
        return float(LEAST * bound**2 if self.ridge is None else self.ridge)

    def known(self, value_bound: float | None) -> "Variant":
        """The same, with a bound on the optimal values if one is given."""
        if value_bound is None:
            return self
        if self.v_max is not None:
            raise ValueError(f"value_bound = {value_bound:g} and v_max = {self.v_max:g}: give one")
        return replace(self, v_max=value_bound)

    def scaled(self, R_max: float) -> "Variant":
        """The same algorithm for rewards in [0, R_max] instead of [0, 1].

        It makes the same run, with values R_max times as large. ``anytime`` is refused: it chooses
        alpha for rewards in [0, 1].

        Examples
        --------
        >>> v = Variant().scaled(2.0)
        >>> v.eta, v.bonus, v.r_max
        (5.0, FixedBonus(beta=1.0), 2.0)
        """
        if self.anytime:
            raise ValueError("anytime must be False: it chooses alpha for rewards in [0, 1]")
        bonus, ascension = self.bonus, self.ascension
        if isinstance(bonus, FixedBonus):
            bonus = FixedBonus(bonus.beta * R_max)
        if isinstance(bonus, NoiseBonus):
            bonus = NoiseBonus(bonus.sigma * R_max)
        if isinstance(ascension, Sigmoid):
            ascension = replace(ascension, alpha=ascension.alpha / R_max)
        v_max = None if self.v_max is None else self.v_max * R_max
        eta, r_max = self.eta / R_max, self.r_max * R_max
        return replace(self, eta=eta, bonus=bonus, ascension=ascension, r_max=r_max, v_max=v_max)

    def heaven(self, gamma: float) -> float:
        """The value of heaven: R_max H, or v_max; twice that with `Confidence`.

        Examples
        --------
        >>> round(Variant().heaven(gamma=0.99), 9)
        100.0
        """
        most = float(self.r_max) * (1 / (1 - gamma))
        if self.v_max is not None and self.v_max > most * (1 + checks.RANGE_TOLERANCE):
            raise ValueError(f"v_max must be at most R_max H = {most:g}; got {self.v_max:g}")
        worth = most if self.v_max is None else float(self.v_max)
        return 2 * worth if isinstance(self.ascension, Confidence) else worth

    def stage(self, episode: int) -> int:
        """The present guess of K, counting episodes from 0; 0 if the parameters do not change.

        Examples
        --------
        >>> v = Variant(anytime=True)
        >>> [v.stage(k) for k in (0, 7, 8, 15, 16)]
        [8, 8, 16, 16, 32]
        """
        return max(8, 1 << episode.bit_length()) if self.anytime else 0

    def ascension_in(self, stage: int) -> Ascension:
        """The ascension function while the guess of K is ``stage``."""
        if stage <= 0:  # there is none, or the epoch is to end
            return self.ascension
        return Sigmoid(parameters.alpha(stage), parameters.omega(stage))

    def rule(self, gamma: float, bound: float, stage: int, learns_heaven: bool) -> Rule:
        """The parameters as compiled code takes them, with features of norm bound B."""
        heaven = self.heaven(gamma)
        return Rule(
            optimism=optimism_with(
                self.bonus, self.ascension_in(stage), gamma, self.ridge_for(bound)
            ),
            eta=float(self.eta),
            heaven=heaven,
            updates=int(self.updates),
            tolerance=float(self.tolerance) * (1 - gamma) * heaven,
            evaluates=bool(self.evaluates),
            lazy=bool(self.lazy),
            observe_last=bool(self.observe_last),
            gamma=gamma,
            stage=stage,
            learns_heaven=learns_heaven,
            keeps=gamma / (1 + self.ridge_for(bound) / bound**2),
        )


def optimism_with(bonus: Bonus, ascension: Ascension, gamma: float, ridge: float) -> Optimism:
    """A bonus and an ascension function as the formula takes them: their parameters in order."""
    (coefficient,) = vars(bonus).values()
    a, b, *_ = (*vars(ascension).values(), 0.0, 0.0)
    return Optimism(
        bonus=int(bonus.kind),
        coefficient=float(coefficient),
        ascension=int(ascension.kind),
        a=float(a),
        b=float(b),
        gamma=float(gamma),
        ridge=float(ridge),
    )


def plain_numbers(config: Any) -> None:
    """Make every number of a frozen dataclass a plain Python number, however it was given."""
    for name, value in vars(config).items():
        if isinstance(value, np.generic):
            object.__setattr__(config, name, value.item())
