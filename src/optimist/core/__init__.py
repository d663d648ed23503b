"""The engine: statistics, optimism, value iteration and policies."""

from optimist.core.ascension import Ascension, Never, Novelty, Sigmoid, Threshold, Truncation
from optimist.core.bonus import Bonus, FixedBonus, VarianceBonus
from optimist.core.policy import SoftmaxPolicy, TablePolicy, load_policy
from optimist.core.rewards import Adversary, Drifting, Fixed, Rewards, Sequence, Switching

__all__ = [
    "Adversary",
    "Ascension",
    "Bonus",
    "Drifting",
    "Fixed",
    "FixedBonus",
    "Never",
    "Novelty",
    "Rewards",
    "Sequence",
    "Sigmoid",
    "SoftmaxPolicy",
    "Switching",
    "TablePolicy",
    "Threshold",
    "Truncation",
    "VarianceBonus",
    "load_policy",
]
