"""R-max: heaven wherever a pair is not yet known (Brafman and Tennenholtz, 2002)."""

import math
from dataclasses import dataclass
from typing import Unpack

from optimist.agents.configuration import Configuration
from optimist.agents.rmax_ravi_ucb import AnyWorld, RmaxRaviUcb
from optimist.agents.terms import AnyFeatures, Terms
from optimist.core import Threshold


@dataclass(frozen=True)
class RmaxConfig:
    """The parameters of R-max.

    Attributes
    ----------
    visits
        How often a pair is tried before it counts as known.
    updates
        Sweeps of value iteration at the end of an episode.
    """

    visits: int = 5
    updates: int = 100

    def __post_init__(self) -> None:
        self.rule()  # refuses bad parameters at once

    def rule(self) -> Configuration:
        """The engine's configuration."""
        return Configuration(math.inf, 0.0, Threshold.after(self.visits), updates=self.updates)


class Rmax(RmaxRaviUcb):
    """Heaven alone: a pair leads there until it has been tried so many times.

    It is R-max up to minor changes, as the paper puts it: the ridge shrinks empirical means, pairs
    turn known when an epoch begins, and ``updates`` sweeps of value iteration stand for planning.

    Examples
    --------
    >>> from optimist import envs
    >>> agent = Rmax(envs.GridWorld(), config=RmaxConfig(visits=5), seed=0)
    >>> agent.learn(1000).suboptimality() < 0.2
    True
    """

    Config = RmaxConfig

    def __init__(
        self,
        world: AnyWorld,
        features: AnyFeatures | None = None,
        config: RmaxConfig | None = None,
        seed: int = 0,
        stride: int = 10,
        **terms: Unpack[Terms],
    ) -> None:
        rule = (config or RmaxConfig()).rule()
        super().__init__(world, features, rule, seed=seed, stride=stride, **terms)
