"""Provably efficient exploration in infinite-horizon discounted MDPs with linear features."""

from optimist import envs, features, mdp
from optimist.mdp import FiniteMDP, LinearMDP

__all__ = ["FiniteMDP", "LinearMDP", "envs", "features", "mdp"]
