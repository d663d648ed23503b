"""Posterior sampling (Strens, 2000; Osband, Russo and Van Roy, 2013)."""

from dataclasses import dataclass

from optimist.agents.tabular_agent import TabularAgent, TabularConfig
from optimist.core.tabular import Peer


@dataclass(frozen=True)
class PsrlConfig(TabularConfig):
    """The parameters of posterior sampling.

    Attributes
    ----------
    alpha
        The mass of the prior, in transitions: each of the X next states has alpha / X.
    lazy
        Whether transitions are sampled when an epoch begins, instead of after every episode: when a
        pair has been visited twice as often as when they last were, or for the first time, or the
        epoch has more episodes than the one before it.
    updates
        Sweeps of value iteration in a plan, at most; it ends when its policy is optimal up to one
        ten-thousandth of R_max H.
    """

    alpha: float = 0.1
    lazy: bool = False
    updates: int = 2000
    kind = Peer.PSRL
    tolerance = 1e-4


class Psrl(TabularAgent):
    """Posterior sampling: the best policy of a world drawn from the posterior.

    The prior of a pair's transitions is Dirichlet over all states, since which of them can follow
    is not known; rewards are known. The world is drawn anew after every episode (Osband, Russo and
    Van Roy, 2013), or when an epoch begins, by the rule of Ouyang, Gagrani, Nayyar and Jain (2017)
    with episodes in the place of steps. The first episode is played uniformly.

    Examples
    --------
    >>> from optimist import envs
    >>> agent = Psrl(envs.RiverSwim(6, gamma=0.99), alpha=0.1, seed=0)
    >>> agent.learn(1000).suboptimality() < 0.1
    True
    """

    Config = PsrlConfig
