"""LSVI-UCB for discounted worlds (Jin, Yang, Wang and Jordan, 2020)."""

import math
from dataclasses import dataclass

from optimist.agents.variant_agent import VariantAgent
from optimist.core import FixedBonus, Truncation, Variant
from optimist.core.variant import plain_numbers


@dataclass(frozen=True)
class LsviUcbConfig:
    """The parameters of LSVI-UCB.

    Attributes
    ----------
    beta
        Exploration coefficient: bonuses are beta times the uncertainty of a pair.
    ridge
        The initial covariance is ridge times the identity: 1 in the paper. A small one makes pairs
        without data promising, and shrinks the values of others less.
    updates
        Sweeps of least-squares value iteration at the start of an epoch.
    """

    beta: float = 0.3
    ridge: float = 0.01
    updates: int = 100

    def __post_init__(self) -> None:
        plain_numbers(self)
        self.variant()  # refuses bad parameters at once

    def variant(self) -> Variant:
        """The algorithm."""
        return Variant(
            eta=math.inf,
            bonus=FixedBonus(self.beta),
            ascension=Truncation(),
            ridge=self.ridge,
            updates=self.updates,
            lazy=True,
        )


class LsviUcb(VariantAgent):
    """LSVI-UCB: least-squares value iteration with bonuses, planned when the determinant doubles.

    With the regression M V of the values on the features of all data, at the start of an epoch

        Q <- min(r + beta ||phi||_{Lambda^{-1}} + gamma phi . M V, R_max H),  V = max_a Q,

    for ``updates`` sweeps, and the greedy policy is played until the next epoch. The sweeps replace
    the stages of the paper's finite horizon, as in Zhou, He and Gu (2021), whose discounted worlds
    have epochs too. `OptimisticVI` has the same update, but a few sweeps follow every episode.

    Examples
    --------
    >>> from optimist import envs
    >>> agent = LsviUcb(envs.RandomLinear(5, 30, 3), beta=0.1, seed=0)
    >>> agent.learn(500).suboptimality() < 0.1
    True
    """

    Config = LsviUcbConfig
