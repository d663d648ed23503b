"""The engine: statistics, optimism, value iteration and policies."""

from optimist.core.ascension import Ascension, Never, Sigmoid, Threshold, Truncation
from optimist.core.policy import SoftmaxPolicy, TablePolicy, load_policy
from optimist.core.rewards import Adversary, Drifting, Fixed, Rewards, Sequence, Switching

__all__ = [
    "Adversary",
    "Ascension",
    "Drifting",
    "Fixed",
    "Never",
    "Rewards",
    "Sequence",
    "Sigmoid",
    "SoftmaxPolicy",
    "Switching",
    "TablePolicy",
    "Threshold",
    "Truncation",
    "load_policy",
]
