"""RAVI-UCB: bonuses alone, with values cut off at R_max H (Moulin and Neu, 2023)."""

from dataclasses import dataclass

from optimist.agents.variant_agent import VariantAgent
from optimist.core import FixedBonus, Truncation, Variant
from optimist.core.variant import plain_numbers


@dataclass(frozen=True)
class RaviUcbConfig:
    """The parameters of RAVI-UCB.

    Attributes
    ----------
    beta
        Exploration coefficient: bonuses are beta times the uncertainty of a pair.
    eta
        Learning rate of the policy.
    ridge
        The initial covariance is ridge times the identity: 1 in the paper. A small one makes pairs
        without data promising, and shrinks the values of others less.
    updates
        Updates of values and policy after an episode.
    """

    beta: float = 0.3
    eta: float = 10.0
    ridge: float = 0.01
    updates: int = 10

    def __post_init__(self) -> None:
        plain_numbers(self)
        self.variant()  # refuses bad parameters at once

    def variant(self) -> Variant:
        """The algorithm."""
        return Variant(
            eta=self.eta,
            bonus=FixedBonus(self.beta),
            ascension=Truncation(),
            ridge=self.ridge,
            updates=self.updates,
        )


class RaviUcb(VariantAgent):
    """Optimistic once: bonuses, and values cut off at R_max H.

    It is the family with the truncation rule for its ascension function (Section 3.3). Values that
    are cut off have no closed form, so on finite worlds its policies are tables.

    Examples
    --------
    >>> from optimist import envs
    >>> agent = RaviUcb(envs.RiverSwim(6, gamma=0.99), beta=1.0, seed=0)
    >>> agent.learn(1000).suboptimality() < 0.1
    True
    """

    Config = RaviUcbConfig
