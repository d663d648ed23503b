"""Value iteration with bonuses or with noise; values are cut off at R_max H.

The family with the truncation rule for its ascension function (Section 3.3): agents of this file
differ in the bonus, in when they plan, and in whether they play softly or greedily.
"""

import math
from dataclasses import dataclass

from optimist.agents.variant_agent import VariantAgent, VariantConfig
from optimist.core import FixedBonus, NoiseBonus, Truncation, Variant


@dataclass(frozen=True)
class RaviUcbConfig(VariantConfig):
    """The parameters of RAVI-UCB.

    Attributes
    ----------
    updates
        Updates of values and policy after an episode.
    """

    beta: float = 0.3
    eta: float = 10.0
    ridge: float = 0.01
    updates: int = 10

    def variant(self) -> Variant:
        return self.variant_with(bonus=FixedBonus(self.beta), ascension=Truncation())


class RaviUcb(VariantAgent):
    """Optimistic once: bonuses, and values cut off at R_max H.

    It is RAVI-UCB (Moulin and Neu, 2023). Values that are cut off have no closed form, so on finite
    worlds its policies are tables.

    Examples
    --------
    >>> from optimist import envs
    >>> agent = RaviUcb(envs.RiverSwim(6, gamma=0.99), beta=1.0, seed=0)
    >>> agent.learn(1000).suboptimality() < 0.1
    True
    """

    Config = RaviUcbConfig


@dataclass(frozen=True)
class OptimisticVIConfig(VariantConfig):
    """The parameters of optimistic value iteration."""

    beta: float = 0.3
    ridge: float = 0.01
    updates: int = 10

    def variant(self) -> Variant:
        return self.variant_with(eta=math.inf, bonus=FixedBonus(self.beta), ascension=Truncation())


class OptimisticVI(VariantAgent):
    """Optimistic value iteration: bonuses, values cut off at R_max H, and greedy play.

    It is `RaviUcb` without regularisation, eta = infinity, in the manner of UCBVI and LSVI-UCB. A
    pair without data is worth its reward and its bonus, beta / sqrt(ridge) if features are one-hot;
    far below R_max H it is not promising, and exploration is left to chance.

    Examples
    --------
    >>> from optimist import envs
    >>> agent = OptimisticVI(envs.RiverSwim(6, gamma=0.9), seed=0)
    >>> agent.learn(3000).suboptimality() < 0.1
    True
    """

    Config = OptimisticVIConfig


@dataclass(frozen=True)
class LsviUcbConfig(VariantConfig):
    """The parameters of LSVI-UCB.

    Attributes
    ----------
    updates
        Sweeps of least-squares value iteration at the start of an epoch.
    """

    beta: float = 0.3
    ridge: float = 0.01
    updates: int = 100

    def variant(self) -> Variant:
        bonus = FixedBonus(self.beta)
        return self.variant_with(eta=math.inf, bonus=bonus, ascension=Truncation(), lazy=True)


class LsviUcb(VariantAgent):
    """LSVI-UCB: least-squares value iteration with bonuses, planned when the determinant doubles.

    With the regression M V of the values on the features of all data, at the start of an epoch

        Q <- min(r + beta ||phi||_{Lambda^{-1}} + gamma phi . M V, R_max H),  V = max_a Q,

    for ``updates`` sweeps, and the greedy policy is played until the next epoch. The sweeps replace
    the stages of the finite horizon of Jin, Yang, Wang and Jordan (2020), as in Zhou, He and Gu
    (2021), whose discounted worlds have epochs too. `OptimisticVI` has the same update, but a few
    sweeps follow every episode.

    Examples
    --------
    >>> from optimist import envs
    >>> agent = LsviUcb(envs.RandomLinear(5, 30, 3), beta=0.1, seed=0)
    >>> agent.learn(500).suboptimality() < 0.1
    True
    """

    Config = LsviUcbConfig


@dataclass(frozen=True)
class RlsviConfig(VariantConfig):
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
        value changes by more than R_max / 1,000.
    """

    sigma: float = 0.1
    ridge: float = 0.01
    lazy: bool = False
    updates: int = 100

    def variant(self) -> Variant:
        bonus = NoiseBonus(self.sigma)
        return self.variant_with(eta=math.inf, bonus=bonus, ascension=Truncation(), tolerance=1e-3)


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
