"""Provably efficient exploration in infinite-horizon discounted MDPs with linear features."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from optimist.stopping import guard_command

guard_command()  # before the slow imports

from optimist.ids import register_all  # noqa: E402

if TYPE_CHECKING:
    from optimist import (
        agents,
        core,
        envs,
        errors,
        experiments,
        features,
        imitation,
        mdp,
        report,
        testing,
        theory,
        verification,
    )
    from optimist.agents import (
        Algorithm,
        Cfpo,
        CountBonus,
        Evaluation,
        HashedQLearning,
        LsviUcb,
        Optimist,
        OptimisticQ,
        OptimisticVI,
        Prover,
        Psrl,
        PythonAgent,
        QLearning,
        RaviUcb,
        Rlsvi,
        Rmax,
        RmaxRaviUcb,
        StableBaselines,
        TrainedModel,
        Ucbvi,
        evaluate,
    )
    from optimist.core import load_policy
    from optimist.experiments import Results, Study, open_results, run
    from optimist.imitation import BehaviouralCloning, FraIL
    from optimist.mdp import FiniteMDP, LinearMDP

__version__ = "0.2.0.dev0"

__all__ = [
    "Algorithm",
    "BehaviouralCloning",
    "Cfpo",
    "CountBonus",
    "Evaluation",
    "FiniteMDP",
    "FraIL",
    "HashedQLearning",
    "LinearMDP",
    "LsviUcb",
    "Optimist",
    "OptimisticQ",
    "OptimisticVI",
    "Prover",
    "Psrl",
    "PythonAgent",
    "QLearning",
    "RaviUcb",
    "Results",
    "Rlsvi",
    "Rmax",
    "RmaxRaviUcb",
    "StableBaselines",
    "Study",
    "TrainedModel",
    "Ucbvi",
    "__version__",
    "agents",
    "core",
    "envs",
    "errors",
    "evaluate",
    "experiments",
    "features",
    "imitation",
    "live",
    "load_policy",
    "mdp",
    "open_results",
    "report",
    "run",
    "testing",
    "theory",
    "verification",
]

_ROOMS = {
    "agents": (
        *("Optimist", "RmaxRaviUcb", "RaviUcb", "OptimisticVI", "Rmax", "Cfpo"),
        *("Prover", "Psrl", "Ucbvi", "LsviUcb", "Rlsvi", "OptimisticQ", "QLearning"),
        *("Algorithm", "PythonAgent", "HashedQLearning", "CountBonus"),
        *("StableBaselines", "TrainedModel", "Evaluation", "evaluate"),
    ),
    "core": ("load_policy",),
    "envs": (),
    "errors": (),
    "experiments": ("Results", "Study", "open_results", "run"),
    "features": (),
    "imitation": ("BehaviouralCloning", "FraIL"),
    "live": (),
    "mdp": ("FiniteMDP", "LinearMDP"),
    "report": (),
    "testing": (),
    "theory": (),
    "verification": (),
}
_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names}


def __getattr__(name: str) -> Any:
    """Load the rooms and their public names on first use.

    So a saved policy acts without numba, and the command line answers at once.
    """
    if name in _ROOMS:
        return import_module(f"optimist.{name}")
    if name in _ROOM_OF:
        return getattr(import_module(f"optimist.{_ROOM_OF[name]}"), name)
    raise AttributeError(f"module 'optimist' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)


register_all()
