"""Randomised least-squares value iteration (Osband, Van Roy and Wen, 2016)."""

import math
from dataclasses import dataclass

from optimist.agents.variant_agent import VariantAgent
from optimist.core import NoiseBonus, Truncation, Variant
from optimist.core.variant import plain_numbers


@dataclass(frozen=True)
class RlsviConfig:
    """The parameters of randomised least-squares value iteration.

    Attributes
    ----------
    sigma
        Noise: the value of a pair is perturbed by a normal of sigma times the pair's uncertainty.
    ridge
        The initial covariance is ridge times the identity, so that the prior of the parameters is
        normal with variance sigma^2 / ridge.
    lazy
        Whether noise is drawn when the determinant has doubled, instead of after every episode.
    updates
        Maximal number of sweeps of value iteration with one draw of the noise; they end when no
        value changes by more than one part in 100,000 of R_max H.
    """

    sigma: float = 0.1
    ridge: float = 0.01
    lazy: bool = False
    updates: int = 100

    def __post_init__(self) -> None:
        plain_numbers(self)
        self.variant()  # refuses bad parameters at once

    def variant(self) -> Variant:
        """The algorithm."""
        return Variant(
            eta=math.inf,
            bonus=NoiseBonus(self.sigma),
            ascension=Truncation(),
            ridge=self.ridge,
            updates=self.updates,
            lazy=self.lazy,
            tolerance=1e-5,
        )


class Rlsvi(VariantAgent):
    """Randomised least-squares value iteration: greedy for values perturbed by their uncertainty.

    It is optimistic value iteration with noise in the place of bonuses: with the regression M V of
    the values on the features, one draw of xi from N(0, sigma^2 Lambda^{-1}), and rewards known,

        Q <- min(r + phi . (gamma M V + xi), R_max H),  V = max_a Q,

    over some sweeps. So Theta = gamma M V + xi is drawn from the posterior of Bayesian regression,
    as in Osband, Van Roy and Wen (2016), whose horizon is finite, and who draw anew at each of its
    stages; here one draw serves all sweeps, as values do not depend on time. The cut-off is ours.
    The first episode is played uniformly. It plays finite worlds only.

    Examples
    --------
    >>> from optimist import envs
    >>> agent = Rlsvi(envs.RandomLinear(5, 30, 3), sigma=0.1, seed=0)
    >>> agent.learn(500).suboptimality() < 0.1
    True
    """

    Config = RlsviConfig
