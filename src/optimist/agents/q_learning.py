"""Q-learning with random exploration (Watkins, 1989)."""

from dataclasses import dataclass

from optimist import checks
from optimist.agents.tabular_agent import R_MAX, TabularAgent
from optimist.core.tabular import Peer, TableRule


@dataclass(frozen=True)
class QLearningConfig:
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

    def __post_init__(self) -> None:
        for name in ("epsilon", "step", "power"):
            object.__setattr__(self, name, checks.probability(getattr(self, name), name))
        checks.positive(self.step, "step")

    def rule(self, gamma: float) -> TableRule:
        """The parameters as compiled code takes them."""
        return TableRule(
            kind=Peer.Q_LEARNING,
            heaven=R_MAX / (1 - gamma),
            epsilon=self.epsilon,
            step=self.step,
            power=self.power,
        )


class QLearning(TabularAgent):
    """Q-learning: one table, improved at every step, and now and then an action at random.

    It starts from Q = 0, and of actions that are equally good one is drawn. It learns while it
    plays: the policy that is kept of an episode is the one that it begins with.

    Examples
    --------
    >>> from optimist import envs
    >>> agent = QLearning(envs.GridWorld(), epsilon=0.1, seed=0)
    >>> agent.learn(1000).suboptimality() < 0.4
    True
    """

    Config = QLearningConfig
