"""The parameters of FRA-IL in one place."""

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from optimist import checks
from optimist.agents import Configuration
from optimist.agents.configuration import says_fixed
from optimist.core import Ascension, Bonus, Sigmoid
from optimist.imitation.weights import Ball, Box, Simplex, WeightClass
from optimist.theory import parameters

UNIT_BALL = Ball(1.0)

ADAPTIVE, PRACTICAL = Configuration.adaptive(), Configuration.practical()


@dataclass(frozen=True)
class FraILConfig:
    """The parameters of FRA-IL.

    Attributes
    ----------
    weights
        The class W of reward weights; it should hold the true ones.
    beta
        The policy player's exploration coefficient, for rewards in [0, 1], if its bonuses are the
        paper's. With rewards in [0, R_max] beta, eta and alpha are scaled, which gives the same run
        as if rewards were.
    eta
        The policy player's learning rate, likewise.
    ascension
        The policy player's ascension function, likewise.
    ridge
        The initial covariance is ridge times the identity; None scales it with the features.
    updates
        Updates of values and policy at the end of an episode.
    fresh
        Whether the reward player draws (X_k, A_k) by a rollout of its own, as the pseudocode says,
        instead of taking the last pair of the episode, which is as good a draw of mu(pi_k).
    bonus
        The policy player's bonus, if it is not `FixedBonus(beta)`.
    tolerance
        Updates end when no value changes by more than this part of what heaven is worth.

    Notes
    -----
    Whatever else RMAX-RAVI-UCB can be told is as the paper has it: the last pair of an episode is
    not learnt from, and the ascension function does not change on the way. The default policy
    player is that of `RmaxRaviUcb`, which has nothing to be tuned; `practical` has the paper's.
    """

    weights: Ball | Box | Simplex | WeightClass = UNIT_BALL
    beta: float = ADAPTIVE.beta
    eta: float = ADAPTIVE.eta
    ascension: Ascension = ADAPTIVE.ascension
    ridge: float | None = ADAPTIVE.ridge
    updates: int = ADAPTIVE.updates
    fresh: bool = False
    bonus: Bonus | None = ADAPTIVE.bonus
    tolerance: float = ADAPTIVE.tolerance

    def __post_init__(self) -> None:
        if not isinstance(self.weights, WeightClass):
            raise TypeError(
                f"weights = {self.weights!r} is not an instance of a WeightClass, such as Ball(1.0)"
            )
        if not isinstance(self.fresh, bool | np.bool_):
            raise TypeError(f"fresh = {self.fresh!r} must be True or False")
        object.__setattr__(self, "fresh", bool(self.fresh))
        self.rule(1.0)  # refuses bad parameters at once

    def rule(self, R_max: float) -> Configuration:
        """The policy player's configuration for rewards in [0, R_max].

        Examples
        --------
        >>> FraILConfig().rule(R_max=2.0).eta, FraILConfig.practical().rule(R_max=2.0).beta
        (5.0, 1.0)
        """
        ascension = self.ascension
        if isinstance(ascension, Sigmoid):  # the others do not depend on the scale
            ascension = Sigmoid(ascension.alpha / R_max, ascension.omega)
        return Configuration(
            eta=checks.positive(self.eta, "eta") / R_max if self.eta != math.inf else math.inf,
            beta=checks.real_number(self.beta, "beta") * R_max,
            ascension=ascension,
            r_max=R_max,
            ridge=self.ridge,
            updates=self.updates,
            bonus=self.bonus,
            tolerance=self.tolerance,
        )

    @classmethod
    def practical(cls, weights: WeightClass = UNIT_BALL, **others: Any) -> Self:
        """The paper's bonus and sigmoid, with parameters that work in practice, or others.

        The ridge is small because rewards that were shifted make all values large: a ridge of 1
        would pull those of pairs seen n times down by a factor n / (n + 1), by more than practical
        bonuses make up for.
        """
        told = {
            "beta": PRACTICAL.beta,
            "eta": PRACTICAL.eta,
            "ascension": PRACTICAL.ascension,
            "ridge": 0.01,
            "updates": PRACTICAL.updates,
            "bonus": None,
            "tolerance": 0.0,
            **others,
        }
        return cls(weights=weights, **told)

    @classmethod
    def default_for(cls, told: Collection[str]) -> Self:
        """What holds of parameters that nobody told, if these were: as for `RmaxRaviUcb`."""
        return cls.practical() if says_fixed(told) else cls()

    @classmethod
    def theory(
        cls,
        weights: WeightClass,
        K: int,
        d: int,
        n_actions: int,
        gamma: float,
        B: float,
        W_max: float,
        R_max: float,
        delta: float = 0.1,
    ) -> "FraILConfig":
        """The parameters of Algorithm 2, which are those of the main theorem.

        d and B are those of the features of the linear MDP, `FraIL.features`; W_max bounds the
        weights of the shifted rewards r_k in them (R_max sqrt(X A) does if they are one-hot); and
        R_max is `FraIL.R_max`.
        """
        rule = Configuration.theory(K, d, n_actions, gamma, B, W_max, R_max, delta)
        sigmoid = Sigmoid(parameters.alpha(K) * R_max, parameters.omega(K))
        return cls(
            weights=weights,
            beta=rule.beta / R_max,
            eta=rule.eta * R_max,
            ascension=sigmoid,
            ridge=1.0,
            updates=1,
            bonus=None,
            tolerance=0.0,
        )
