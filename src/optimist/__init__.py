"""Provably efficient exploration in infinite-horizon discounted MDPs with linear features."""

from optimist import agents, core, envs, features, mdp
from optimist.agents import Configuration, OptimisticVI, RaviUcb, Rmax, RmaxRaviUcb
from optimist.core import load_policy
from optimist.mdp import FiniteMDP, LinearMDP

__version__ = "0.1.0"

__all__ = [
    "Configuration",
    "FiniteMDP",
    "LinearMDP",
    "OptimisticVI",
    "RaviUcb",
    "Rmax",
    "RmaxRaviUcb",
    "__version__",
    "agents",
    "core",
    "envs",
    "features",
    "load_policy",
    "mdp",
]
