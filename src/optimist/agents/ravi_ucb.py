"""RAVI-UCB: bonuses alone, with values cut off at R_max H (Moulin and Neu, 2023)."""

from optimist.agents.configuration import Configuration
from optimist.agents.rmax_ravi_ucb import RmaxRaviUcb
from optimist.core import Truncation
from optimist.envs import World
from optimist.features import FeatureMap
from optimist.mdp import FiniteMDP


class RaviUcb(RmaxRaviUcb):
    """The algorithm with the truncation rule for its ascension function (Section 3.3).

    Cut-off values have no closed form, so on finite worlds its policies are tables.

    Examples
    --------
    >>> from optimist import envs
    >>> agent = RaviUcb(envs.RiverSwim(6, gamma=0.99), seed=0)
    >>> agent.learn(1000).suboptimality() < 0.1
    True
    """

    def __init__(
        self,
        world: World | FiniteMDP,
        features: FeatureMap | None = None,
        beta: float = 1.0,
        eta: float = 10.0,
        updates: int = 10,
        seed: int = 0,
        stride: int = 10,
    ) -> None:
        config = Configuration(eta, beta, Truncation(), updates=updates)
        super().__init__(world, features, config, seed=seed, stride=stride)
