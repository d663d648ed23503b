"""Optimistic value iteration, in the manner of UCBVI and LSVI-UCB."""

import math
from dataclasses import dataclass

from optimist.agents.variant_agent import VariantAgent
from optimist.core import FixedBonus, Truncation, Variant
from optimist.core.variant import plain_numbers


@dataclass(frozen=True)
class OptimisticVIConfig:
    """The parameters of optimistic value iteration.

    Attributes
    ----------
    beta
        Exploration coefficient: bonuses are beta times the uncertainty of a pair.
    ridge
        The initial covariance is ridge times the identity: 1 in the paper. A small one makes pairs
        without data promising, and shrinks the values of others less.
    updates
        Sweeps of value iteration after an episode.
    """

    beta: float = 0.3
    ridge: float = 0.01
    updates: int = 10

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
        )


class OptimisticVI(VariantAgent):
    """Optimistic value iteration: bonuses, values that are cut off, and greedy play.

    It is the truncation rule without regularisation, eta = infinity. A pair without data is worth
    its reward and its bonus, beta / sqrt(ridge) if features are one-hot; far below R_max H it is
    not promising, and exploration is left to chance.

    Examples
    --------
    >>> from optimist import envs
    >>> agent = OptimisticVI(envs.RiverSwim(6, gamma=0.9), seed=0)
    >>> agent.learn(3000).suboptimality() < 0.1
    True
    """

    Config = OptimisticVIConfig
