"""Finite MDPs with known arrays: exact values, optima, occupancies and regret."""

from optimist.mdp.affine import AffineRewards
from optimist.mdp.augmented import augment, with_heaven
from optimist.mdp.comparison import (
    RegretDecomposition,
    best_in_hindsight,
    decompose_regret,
    regret,
)
from optimist.mdp.finite import FiniteMDP
from optimist.mdp.kernel import build_kernel
from optimist.mdp.linear import LinearMDP
from optimist.mdp.matching import Matching, match_next_state, match_occupancy, match_timed
from optimist.mdp.optimum import Optimum
from optimist.mdp.timed import policy_of, state_laws, timed_occupancy

__all__ = [
    "AffineRewards",
    "FiniteMDP",
    "LinearMDP",
    "Matching",
    "Optimum",
    "RegretDecomposition",
    "augment",
    "best_in_hindsight",
    "build_kernel",
    "decompose_regret",
    "match_next_state",
    "match_occupancy",
    "match_timed",
    "policy_of",
    "regret",
    "state_laws",
    "timed_occupancy",
    "with_heaven",
]
