"""Provably efficient exploration in infinite-horizon discounted MDPs with linear features."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from optimist import core, envs, features, mdp
from optimist.core import load_policy
from optimist.mdp import FiniteMDP, LinearMDP

if TYPE_CHECKING:
    from optimist import agents
    from optimist.agents import Configuration, OptimisticVI, RaviUcb, Rmax, RmaxRaviUcb

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


def __getattr__(name: str) -> Any:
    """The learners, loaded when first asked for: they need numba, and a saved policy does not."""
    if name not in __all__:
        raise AttributeError(f"module 'optimist' has no attribute {name!r}")
    agents = import_module("optimist.agents")
    return agents if name == "agents" else getattr(agents, name)


def __dir__() -> list[str]:
    return sorted(__all__)
