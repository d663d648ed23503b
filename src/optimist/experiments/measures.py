"""Measure a run: by exact values in a known MDP, by returns elsewhere."""

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

import numpy as np

from optimist.agents import Agent, PythonAgent
from optimist.envs import Gym
from optimist.errors import FileError
from optimist.experiments import curves, returns
from optimist.experiments.curves import Curves
from optimist.experiments.learners import ImitationConfig
from optimist.experiments.maps import corners, is_drawn
from optimist.experiments.specification import Specification
from optimist.mdp import FiniteMDP


class Measure(ABC):
    """The curves and the result of a run."""

    @abstractmethod
    def rows(self, history: Any, steps_before: int) -> Curves:
        """The rows of the curves for some episodes, after ``steps_before`` steps."""

    @abstractmethod
    def last_row(self, episodes: int) -> int:
        """The episode of the last row, after this many episodes."""

    @abstractmethod
    def completed(self, rows: Curves) -> Curves:
        """The curves of a run, from all of its rows."""

    @abstractmethod
    def result(self, rows: Curves, agent: Agent) -> dict[str, Any]:
        """The numbers that summarise a finished run."""


def measure_of(spec: Specification) -> Measure:
    """The measure for the run of a specification."""
    if isinstance(spec.world, Gym):
        return ByReturns(spec.world, spec.stride)
    return ByValues(spec.world.mdp, spec.stride)


def check_curves(rows: Curves, spec: Specification, path: Path) -> None:
    """Raise `FileError` unless the curves are those of the finished run."""
    first = np.arange(1, spec.episodes + 1, spec.stride)  # the first episode of each window
    if isinstance(spec.world, Gym):
        shown = ["return"]
        expected = np.minimum(first + spec.stride - 1, spec.episodes)
    else:
        shown = ["suboptimality", "regret"]
        shown += ["matching_error"] if isinstance(spec.agent, ImitationConfig) else []
        expected = first
    complete = np.array_equal(rows.get("episode", ()), expected)
    if not complete or not all(_is_finite(rows.get(name), len(expected)) for name in shown):
        raise FileError(f"{path} is damaged: its rows do not match the run")


def _is_finite(column: Any, n: int) -> bool:
    """Whether a column has n finite numbers."""
    return (
        isinstance(column, np.ndarray)
        and column.shape == (n,)
        and column.dtype == np.float64
        and bool(np.isfinite(column).all())
    )


class ByValues(Measure):
    """Exact values of every ``stride``-th policy."""

    def __init__(self, mdp: FiniteMDP, stride: int) -> None:
        self.mdp, self.stride = mdp, stride

    def rows(self, history: Any, steps_before: int) -> Curves:
        return curves.curves_of(history, steps_before, self.mdp)

    def last_row(self, episodes: int) -> int:
        return (episodes - 1) // self.stride * self.stride + 1

    def completed(self, rows: Curves) -> Curves:
        return curves.with_regret(rows)

    def result(self, rows: Curves, agent: Agent) -> dict[str, Any]:
        return {
            "optimal": self.mdp.optimal().value,
            "uniform": float(self.mdp.value(self.mdp.uniform_policy)),
            "regret": float(rows["regret"][-1]),
            "average_suboptimality": curves.average(rows),
            "final_suboptimality": curves.final(rows),
        }


class ByReturns(Measure):
    """Returns, averaged over windows of ``stride`` episodes."""

    def __init__(self, world: Gym, stride: int) -> None:
        self.world, self.stride = world, stride

    def rows(self, history: Any, steps_before: int) -> Curves:
        return returns.returns_of(history, steps_before, self.stride)

    def last_row(self, episodes: int) -> int:
        return episodes

    def completed(self, rows: Curves) -> Curves:
        return rows

    def result(self, rows: Curves, agent: Agent) -> dict[str, Any]:
        return {
            "mean_return": returns.mean_return(rows),
            "final_return": returns.final_return(rows),
            "states": None if isinstance(agent, PythonAgent) else len(agent.diagnostics.V),
            "actions": self.world.n_actions,
            "plane": corners(self.world).tolist() if is_drawn(self.world, agent) else None,
        }
