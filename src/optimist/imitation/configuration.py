"""The parameters of FRA-IL in one place."""

import math
from dataclasses import dataclass

import numpy as np

from optimist import checks
from optimist.agents import Configuration
from optimist.core import Ascension, Sigmoid
from optimist.imitation.weights import Ball, Box, Simplex, WeightClass
from optimist.theory import parameters

UNIT_BALL = Ball(1.0)

SIGMOID = Configuration.practical().ascension


@dataclass(frozen=True)
class FraILConfig:
    """The parameters of FRA-IL.

    Attributes
    ----------
    weights
        The class W of reward weights; it should hold the true ones.
    beta
        The policy player's exploration coefficient, for rewards in [0, 1]. With rewards in
        [0, R_max] beta, eta and alpha are scaled, which gives the same run as if rewards were.
    eta
        The policy player's learning rate, likewise.
    ascension
        The policy player's ascension function, likewise.
    ridge
        The initial covariance is ridge times the identity.
    updates
        Updates of values and policy at the end of an episode.
    fresh
        Whether the reward player draws (X_k, A_k) by a rollout of its own, as the pseudocode says,
        instead of taking the last pair of the episode, which is as good a draw of mu(pi_k).

    Notes
    -----
    Whatever else RMAX-RAVI-UCB can be told is as the paper has it: the last pair of an episode is
    not learnt from, and the ascension function does not change on the way.

    The ridge is small because rewards that were shifted make all values large: a ridge of 1 would
    pull those of pairs seen n times down by a factor n / (n + 1), by more than practical bonuses
    make up for.
    """

    weights: Ball | Box | Simplex | WeightClass = UNIT_BALL
    beta: float = 0.5
    eta: float = 10.0
    ascension: Ascension = SIGMOID
    ridge: float = 0.01
    updates: int = 10
    fresh: bool = False

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
        >>> FraILConfig().rule(R_max=2.0).beta, FraILConfig().rule(R_max=2.0).eta
        (1.0, 5.0)
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
        )

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
        return cls(weights, rule.beta / R_max, rule.eta * R_max, sigmoid, ridge=1.0, updates=1)
