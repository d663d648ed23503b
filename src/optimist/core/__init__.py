"""The compiled mathematics: regression, optimism, value iteration and policies."""

from optimist.core.ascension import (
    Ascension,
    Confidence,
    Contraction,
    Never,
    Novelty,
    Sigmoid,
    Threshold,
    Truncation,
)
from optimist.core.bonus import Bonus, FixedBonus, NoiseBonus, VarianceBonus
from optimist.core.guarantee import Guarantee
from optimist.core.policy import SoftmaxPolicy, TablePolicy
from optimist.core.policy_files import load_policy
from optimist.core.rewards import Adversary, Drifting, Fixed, Rewards, Sequence, Switching
from optimist.core.timed import TimedPolicy
from optimist.core.variant import Variant

__all__ = [
    "Adversary",
    "Ascension",
    "Bonus",
    "Confidence",
    "Contraction",
    "Drifting",
    "Fixed",
    "FixedBonus",
    "Guarantee",
    "Never",
    "NoiseBonus",
    "Novelty",
    "Rewards",
    "Sequence",
    "Sigmoid",
    "SoftmaxPolicy",
    "Switching",
    "TablePolicy",
    "Threshold",
    "TimedPolicy",
    "Truncation",
    "VarianceBonus",
    "Variant",
    "load_policy",
]
