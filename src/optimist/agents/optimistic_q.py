"""Optimistic Q-learning for discounted worlds (Dong, Wang, Chen and Wang, 2019)."""

from dataclasses import dataclass

from optimist import checks
from optimist.agents.tabular_agent import R_MAX, TabularAgent
from optimist.core.tabular import Peer, TableRule


@dataclass(frozen=True)
class OptimisticQConfig:
    """The parameters of optimistic Q-learning.

    Attributes
    ----------
    c
        The scale of the bonuses; the theory's is H times the root of a logarithm.
    """

    c: float = 0.01

    def __post_init__(self) -> None:
        object.__setattr__(self, "c", checks.real_number(self.c, "c"))
        if self.c < 0:
            raise ValueError(f"c = {self.c:g} must not be negative")

    def rule(self, gamma: float) -> TableRule:
        """The parameters as compiled code takes them."""
        return TableRule(kind=Peer.OPTIMISTIC_Q, heaven=R_MAX / (1 - gamma), c=self.c)


class OptimisticQ(TabularAgent):
    """Optimistic Q-learning: greedy for a table that begins high, with a bonus at every step.

    At the n-th visit of a pair, with the rate l = (H + 1) / (H + n) and from R_max H on,

        q <- (1 - l) q + l (r + c sqrt(H / n) + gamma V(x')),  Q <- min(Q, q),  V = max_a Q.

    It is infinite Q-learning with UCB of Dong, Wang, Chen and Wang (2019), whose c is a multiple of
    H sqrt(log), and whose H in the rate has a logarithm besides. Of actions that are equally good
    one is drawn. It learns while it plays: the policy that is kept of an episode is the one that it
    begins with.

    Examples
    --------
    >>> from optimist import envs
    >>> agent = OptimisticQ(envs.RiverSwim(6, gamma=0.9), c=0.01, seed=0)
    >>> agent.learn(3000).suboptimality() < 0.2
    True
    """

    Config = OptimisticQConfig
