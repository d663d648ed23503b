"""R-max: heaven wherever a pair is not yet known (Brafman and Tennenholtz, 2002)."""

import math
from dataclasses import dataclass

from optimist.agents.variant_agent import VariantAgent, VariantConfig
from optimist.core import FixedBonus, Threshold, Variant


@dataclass(frozen=True)
class RmaxConfig(VariantConfig):
    """The parameters of R-max.

    Attributes
    ----------
    visits
        The number of tries after which a pair counts as known.
    """

    visits: int = 5
    updates: int = 100

    def variant(self) -> Variant:
        known = Threshold.after(self.visits)
        return self.variant_with(eta=math.inf, bonus=FixedBonus(0.0), ascension=known)


class Rmax(VariantAgent):
    """Heaven alone: a pair leads there until it has been tried `visits` times.

    It is R-max up to minor changes, as the paper puts it: the ridge shrinks empirical means, pairs
    become known when an epoch begins, and ``updates`` sweeps of value iteration replace planning.

    Examples
    --------
    >>> from optimist import envs
    >>> agent = Rmax(envs.GridWorld(), visits=5, seed=0)
    >>> agent.learn(1000).suboptimality() < 0.2
    True
    """

    Config = RmaxConfig
