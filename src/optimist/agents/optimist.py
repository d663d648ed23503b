"""Optimist: the agent without a knob."""

import math
from dataclasses import dataclass
from typing import Any

from optimist import checks
from optimist.agents.variant_agent import VariantAgent, VariantConfig
from optimist.core import Confidence, Novelty, VarianceBonus, Variant


@dataclass(frozen=True)
class OptimistConfig(VariantConfig):
    """The known facts about the world; there is nothing to tune. `proven` has a guarantee.

    Attributes
    ----------
    r_max
        Upper bound on the rewards.
    v_max
        Upper bound on the optimal values of all states, if one below R_max H is known; it caps the
        optimistic value.
    delta
        Makes the constants those of the proof in docs/explanation/rule.md, which holds with
        probability 1 - delta in finite worlds with fixed rewards and one-hot features.
    """

    r_max: float = 1.0
    v_max: float | None = None
    delta: float | None = None

    def __post_init__(self) -> None:
        checks.positive(self.r_max, "r_max")  # variant() divides by it
        super().__post_init__()

    def variant(self) -> Variant:
        """The algorithm. Its constants were chosen on part of the exploration study."""
        common: dict[str, Any] = {"ridge": None, "updates": 100, "tolerance": 1e-4}
        if self.delta is not None:
            bound = Confidence(self.delta)
            return self.variant_with(
                eta=math.inf, bonus=VarianceBonus(1.0), ascension=bound, **common
            )
        eta = 10.0 / self.r_max
        return self.variant_with(
            eta=eta, bonus=VarianceBonus(), ascension=Novelty(), midway=True, **common
        )

    @classmethod
    def proven(cls, delta: float, r_max: float = 1.0) -> "OptimistConfig":
        """The rule's form with the constants of its proof: optimism with probability 1 - delta.

        Examples
        --------
        >>> OptimistConfig.proven(0.05).variant().ascension
        Confidence(delta=0.05)
        """
        return cls(r_max=r_max, delta=delta)


class Optimist(VariantAgent):
    """The agent without a knob: optimistic where the next state may be new.

    Transitions to heaven are for pairs whose outcome may be unseen (`core.Novelty`), bonuses are a
    multiple of the standard deviation of the estimate (`core.VarianceBonus`), and actions that were
    tried seldom are tried again (`core.trials`). None of it has the units of a reward. The rule
    and a proof that no action is given up for ever are in docs/explanation/rule.md, its evidence in
    docs/results/exploration.md; the paper's regret bound does not cover it.

    Examples
    --------
    >>> import gymnasium
    >>> from optimist import envs
    >>> agent = Optimist(envs.RiverSwim(6, gamma=0.99), seed=0)
    >>> history = agent.learn(episodes=2000)
    >>> history.steps.size, history.suboptimality() < 0.05
    (2000, True)
    >>> agent.predict(3)          # swim right
    1
    >>> agent = Optimist(gymnasium.make("FrozenLake-v1", is_slippery=False), gamma=0.95)
    >>> agent.learn(episodes=100).reward[-20:].mean()       # 1 for reaching the goal
    np.float64(1.0)
    """

    Config = OptimistConfig
