"""Optimistic value iteration, in the manner of UCBVI and LSVI-UCB."""

import math

from optimist.agents.configuration import Configuration
from optimist.agents.rmax_ravi_ucb import RmaxRaviUcb
from optimist.core import Truncation
from optimist.envs import World
from optimist.features import FeatureMap
from optimist.mdp import FiniteMDP


class OptimisticVI(RmaxRaviUcb):
    """The truncation rule without regularisation, eta = infinity: greedy for the last values.

    A pair without data is worth its reward and its bonus, so that it counts as promising only if
    beta is of the order of R_max H; below that, exploration is left to chance.

    Examples
    --------
    >>> from optimist import envs
    >>> agent = OptimisticVI(envs.RiverSwim(6, gamma=0.9), seed=0)
    >>> agent.learn(3000).suboptimality() < 0.1
    True
    """

    def __init__(
        self,
        world: World | FiniteMDP,
        features: FeatureMap | None = None,
        beta: float = 1.0,
        updates: int = 10,
        seed: int = 0,
        stride: int = 10,
    ) -> None:
        config = Configuration(math.inf, beta, Truncation(), updates=updates)
        super().__init__(world, features, config, seed=seed, stride=stride)
