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
from optimist.mdp.optimum import Optimum

__all__ = [
    "AffineRewards",
    "FiniteMDP",
    "LinearMDP",
    "Optimum",
    "RegretDecomposition",
    "augment",
    "best_in_hindsight",
    "build_kernel",
    "decompose_regret",
    "regret",
    "with_heaven",
]
