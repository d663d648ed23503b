"""LSVI-UCB for discounted worlds (Jin, Yang, Wang and Jordan, 2020)."""

import math
from dataclasses import dataclass
from typing import Unpack

from optimist.agents.configuration import Configuration
from optimist.agents.rmax_ravi_ucb import AnyWorld, RmaxRaviUcb
from optimist.agents.terms import AnyFeatures, Terms
from optimist.core import Truncation


@dataclass(frozen=True)
class LsviUcbConfig:
    """The parameters of LSVI-UCB.

    Attributes
    ----------
    beta
        The exploration coefficient: bonuses are beta times the uncertainty of a pair.
    ridge
        The initial covariance is ridge times the identity: 1 in the paper. A small one makes pairs
        without data promising, and leaves the values of others as large as they are.
    updates
        Sweeps of least-squares value iteration at the start of an epoch.
    """

    beta: float = 0.3
    ridge: float = 0.01
    updates: int = 100

    def __post_init__(self) -> None:
        self.rule()  # refuses bad parameters at once

    def rule(self) -> Configuration:
        """The engine's configuration."""
        return Configuration(
            eta=math.inf,
            beta=self.beta,
            ascension=Truncation(),
            ridge=self.ridge,
            updates=self.updates,
            lazy=True,
        )


class LsviUcb(RmaxRaviUcb):
    """LSVI-UCB: least-squares value iteration with bonuses, planned when the determinant doubles.

    With the regression M V of the values on the features of all data, at the start of an epoch

        Q <- min(r + beta ||phi||_{Lambda^{-1}} + gamma phi . M V, R_max H),  V = max_a Q,

    for ``updates`` sweeps, and the greedy policy is played until the next. The sweeps stand for the
    stages of the paper's finite horizon, as in Zhou, He and Gu (2021), whose discounted worlds have
    epochs too. `OptimisticVI` has the same update, and differs in when: there a few sweeps follow
    every episode, with the data as of then and the bonuses as of the epoch's start.

    Examples
    --------
    >>> from optimist import envs
    >>> agent = LsviUcb(envs.RandomLinear(5, 30, 3), config=LsviUcbConfig(beta=0.1), seed=0)
    >>> agent.learn(500).suboptimality() < 0.1
    True
    """

    Config = LsviUcbConfig

    def __init__(
        self,
        world: AnyWorld,
        features: AnyFeatures | None = None,
        config: LsviUcbConfig | None = None,
        seed: int = 0,
        stride: int = 10,
        **terms: Unpack[Terms],
    ) -> None:
        rule = (config or LsviUcbConfig()).rule()
        super().__init__(world, features, rule, seed=seed, stride=stride, **terms)
