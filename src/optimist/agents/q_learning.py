"""Q-learning: with random exploration, and optimistic."""

from dataclasses import dataclass

from optimist.agents.tabular_agent import TabularAgent, TabularConfig
from optimist.core.tabular import Peer


@dataclass(frozen=True)
class QLearningConfig(TabularConfig):
    """The parameters of Q-learning.

    Attributes
    ----------
    epsilon
        Probability that an action is drawn uniformly from all.
    step
        The learning rate of the n-th visit of a pair is step / n^power.
    power
        Its exponent; the rate is constant if it is 0.
    """

    epsilon: float = 0.1
    step: float = 1.0
    power: float = 0.6
    kind = Peer.Q_LEARNING


class QLearning(TabularAgent):
    """Q-learning: one table, improved at every step, and now and then an action at random.

    It is that of Watkins (1989). It starts from Q = 0, and of actions that are equally good one is
    drawn. It learns while it plays: the policy that is kept of an episode is the one that it begins
    with.

    Examples
    --------
    >>> from optimist import envs
    >>> agent = QLearning(envs.GridWorld(), epsilon=0.1, seed=0)
    >>> agent.learn(1000).suboptimality() < 0.4
    True
    """

    Config = QLearningConfig


@dataclass(frozen=True)
class OptimisticQConfig(TabularConfig):
    """The parameters of optimistic Q-learning.

    Attributes
    ----------
    c
        The scale of the bonuses; the theory's is H times the root of a logarithm.
    """

    c: float = 0.01
    kind = Peer.OPTIMISTIC_Q


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
