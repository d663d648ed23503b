"""Provably efficient exploration in infinite-horizon discounted MDPs with linear features."""

from optimist import features, mdp
from optimist.mdp import FiniteMDP, LinearMDP

__all__ = ["FiniteMDP", "LinearMDP", "features", "mdp"]
