"""Optimistic value iteration, in the manner of UCBVI and LSVI-UCB."""

import math
from dataclasses import dataclass
from typing import Unpack

from optimist.agents.configuration import Configuration
from optimist.agents.rmax_ravi_ucb import AnyWorld, RmaxRaviUcb
from optimist.agents.terms import AnyFeatures, Terms
from optimist.core import Truncation


@dataclass(frozen=True)
class OptimisticVIConfig:
    """The parameters of optimistic value iteration.

    Attributes
    ----------
    beta
        The exploration coefficient: bonuses are beta times the uncertainty of a pair.
    ridge
        The initial covariance is ridge times the identity: 1 in the paper. A small one makes pairs
        without data promising, and leaves the values of others as large as they are.
    updates
        Sweeps of value iteration at the end of an episode.
    """

    beta: float = 0.3
    ridge: float = 0.01
    updates: int = 10

    def __post_init__(self) -> None:
        self.rule()  # refuses bad parameters at once

    def rule(self) -> Configuration:
        """The engine's configuration."""
        return Configuration(
            math.inf, self.beta, Truncation(), ridge=self.ridge, updates=self.updates
        )


class OptimisticVI(RmaxRaviUcb):
    """Optimistic value iteration: bonuses, cut-off values, and greedy play.

    It is the truncation rule without regularisation, eta = infinity. A pair without data is worth
    its reward and its bonus, beta / sqrt(ridge) if features are one-hot; far below R_max H it does
    not count as promising, and exploration is left to chance.

    Examples
    --------
    >>> from optimist import envs
    >>> agent = OptimisticVI(envs.RiverSwim(6, gamma=0.9), seed=0)
    >>> agent.learn(3000).suboptimality() < 0.1
    True
    """

    Config = OptimisticVIConfig

    def __init__(
        self,
        world: AnyWorld,
        features: AnyFeatures | None = None,
        config: OptimisticVIConfig | None = None,
        seed: int = 0,
        stride: int = 10,
        **terms: Unpack[Terms],
    ) -> None:
        rule = (config or OptimisticVIConfig()).rule()
        super().__init__(world, features, rule, seed=seed, stride=stride, **terms)
