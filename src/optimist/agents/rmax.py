"""R-max: heaven wherever a pair is not yet known (Brafman and Tennenholtz, 2002)."""

import math

from optimist.agents.configuration import Configuration
from optimist.agents.rmax_ravi_ucb import RmaxRaviUcb
from optimist.core import Threshold
from optimist.envs import World
from optimist.mdp import FiniteMDP


class Rmax(RmaxRaviUcb):
    """No bonuses; a pair leads to heaven until it has been tried ``visits`` times.

    It is R-max up to minor changes, as the paper puts it: the ridge shrinks empirical means, pairs
    turn known when an epoch begins, and ``updates`` sweeps of value iteration stand for planning.

    Examples
    --------
    >>> from optimist import envs
    >>> agent = Rmax(envs.GridWorld(), visits=5, seed=0)
    >>> agent.learn(1000).suboptimality() < 0.2
    True
    """

    def __init__(
        self,
        world: World | FiniteMDP,
        visits: int = 5,
        updates: int = 100,
        seed: int = 0,
        stride: int = 10,
    ) -> None:
        config = Configuration(math.inf, 0.0, Threshold.after(visits), updates=updates)
        super().__init__(world, None, config, seed=seed, stride=stride)
