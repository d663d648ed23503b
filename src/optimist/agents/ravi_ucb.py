"""RAVI-UCB: bonuses alone, with values cut off at R_max H (Moulin and Neu, 2023)."""

from dataclasses import dataclass
from typing import Unpack

from optimist.agents.configuration import Configuration
from optimist.agents.rmax_ravi_ucb import AnyWorld, RmaxRaviUcb
from optimist.agents.terms import AnyFeatures, Terms
from optimist.core import Truncation


@dataclass(frozen=True)
class RaviUcbConfig:
    """The parameters of RAVI-UCB.

    Attributes
    ----------
    beta
        The exploration coefficient: bonuses are beta times the uncertainty of a pair.
    eta
        The learning rate of the policy.
    ridge
        The initial covariance is ridge times the identity: 1 in the paper. A small one makes pairs
        without data promising, and leaves the values of others as large as they are.
    updates
        Updates of values and policy at the end of an episode.
    """

    beta: float = 0.3
    eta: float = 10.0
    ridge: float = 0.01
    updates: int = 10

    def __post_init__(self) -> None:
        self.rule()  # refuses bad parameters at once

    def rule(self) -> Configuration:
        """The engine's configuration."""
        return Configuration(
            self.eta, self.beta, Truncation(), ridge=self.ridge, updates=self.updates
        )


class RaviUcb(RmaxRaviUcb):
    """Optimistic once: bonuses, and values cut off at R_max H.

    It is the algorithm with the truncation rule for its ascension function (Section 3.3). Cut-off
    values have no closed form, so on finite worlds its policies are tables.

    Examples
    --------
    >>> from optimist import envs
    >>> agent = RaviUcb(envs.RiverSwim(6, gamma=0.99), config=RaviUcbConfig(beta=1.0), seed=0)
    >>> agent.learn(1000).suboptimality() < 0.1
    True
    """

    Config = RaviUcbConfig

    def __init__(
        self,
        world: AnyWorld,
        features: AnyFeatures | None = None,
        config: RaviUcbConfig | None = None,
        seed: int = 0,
        stride: int = 10,
        **terms: Unpack[Terms],
    ) -> None:
        rule = (config or RaviUcbConfig()).rule()
        super().__init__(world, features, rule, seed=seed, stride=stride, **terms)
