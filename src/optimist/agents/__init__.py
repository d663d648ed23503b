"""Agents: the classes that a user constructs, ours and their peers."""

from typing import Any

from optimist.agents.agent import Agent
from optimist.agents.algorithm import Algorithm, DecisionProblem
from optimist.agents.certificate import Certificate
from optimist.agents.cfpo import Cfpo
from optimist.agents.diagnostics import Beliefs, Diagnostics, Transitions
from optimist.agents.estimate import Estimate
from optimist.agents.evaluation import Evaluation, evaluate
from optimist.agents.hashed import CountBonus, HashedQLearning
from optimist.agents.history import History
from optimist.agents.optimist import Optimist
from optimist.agents.optimistic_vi import LsviUcb, OptimisticVI, RaviUcb, Rlsvi
from optimist.agents.prover import Prover
from optimist.agents.psrl import Psrl
from optimist.agents.python_agent import PythonAgent
from optimist.agents.q_learning import OptimisticQ, QLearning
from optimist.agents.rmax import Rmax
from optimist.agents.rmax_ravi_ucb import RmaxRaviUcb
from optimist.agents.stable_baselines import StableBaselines
from optimist.agents.trained_model import TrainedModel
from optimist.agents.ucbvi import Ucbvi
from optimist.agents.variant_agent import VariantAgent

AGENTS: dict[str, type[Any]] = {
    agent.__name__: agent
    for agent in (
        *(Optimist, RmaxRaviUcb, RaviUcb, OptimisticVI, Rmax, Cfpo),
        *(Prover, Psrl, Ucbvi, LsviUcb, Rlsvi, OptimisticQ, QLearning, VariantAgent),
    )
}
"""Every agent by name; ``AGENTS[name].Config`` is the frozen dataclass of its parameters."""

ALGORITHMS: dict[str, type[Algorithm]] = {
    algorithm.__name__: algorithm for algorithm in (HashedQLearning, CountBonus)
}
"""Algorithms in plain Python by name, which `PythonAgent` plays in any environment."""

__all__ = [
    "AGENTS",
    "ALGORITHMS",
    "Agent",
    "Algorithm",
    "Beliefs",
    "Certificate",
    "Cfpo",
    "CountBonus",
    "DecisionProblem",
    "Diagnostics",
    "Estimate",
    "Evaluation",
    "HashedQLearning",
    "History",
    "LsviUcb",
    "Optimist",
    "OptimisticQ",
    "OptimisticVI",
    "Prover",
    "Psrl",
    "PythonAgent",
    "QLearning",
    "RaviUcb",
    "Rlsvi",
    "Rmax",
    "RmaxRaviUcb",
    "StableBaselines",
    "TrainedModel",
    "Transitions",
    "Ucbvi",
    "VariantAgent",
    "evaluate",
]
