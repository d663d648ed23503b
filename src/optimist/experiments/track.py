"""What is measured in a world: exact values in a known MDP, returns elsewhere.

A track makes the curves of a run from what its agent has recorded, one row for each evaluated
policy, or for each window of ``stride`` episodes:

===================  =============================================================================
Column               By exact values: for the policy pi_k of episode k
===================  =============================================================================
episode              k, counting from 1
steps                steps taken before and during it
epoch                the epoch after it
value                the exact value <nu0, V^{pi_k}>
suboptimality        the regret of pi_k, in units of value
regret               the sum of the regrets of all policies up to pi_k; those of policies that were
                     not evaluated are interpolated
optimistic_value     <nu0, V_k>, the agent's estimate
bonus, ascension     the means of CB and of p+ along its path
matching_error       the exact ||lambda(pi_k) - lambda(pi_E)||, for imitators only
===================  =============================================================================

===================  =============================================================================
Column               By returns: for the window that ends with episode k
===================  =============================================================================
episode              k, counting from 1; the last window may be shorter
steps                steps taken up to its end
epoch                the epoch after it
return               the mean return of an episode, in the environment's own units
optimistic_value     the mean of the agent's values of the first states
bonus, ascension     the means of CB and of p+ along the paths
===================  =============================================================================
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from optimist.agents import Agent, PythonAgent, VariantAgent
from optimist.checks import FloatArray, IntArray
from optimist.envs import Gym, World
from optimist.errors import FileError
from optimist.experiments import statistics
from optimist.experiments.curves import Curves, average, cumulative, final
from optimist.experiments.learners import ExpertData
from optimist.experiments.maps import corners, is_drawn
from optimist.experiments.specification import Specification
from optimist.experiments.statistics import Estimate
from optimist.experiments.worlds import StudyWorld
from optimist.imitation import ImitationHistory
from optimist.report import labels
from optimist.report.labels import Labels

if TYPE_CHECKING:
    from optimist.experiments.cells import Cell


class Track(ABC):
    """What is measured in a world."""

    labels: ClassVar[Labels]
    """The measures and quantities, which direction is better, and their names."""

    # One run

    @abstractmethod
    def rows(self, history: Any, steps_before: int, stride: int) -> Curves:
        """The rows of some episodes, after ``steps_before`` steps."""

    @abstractmethod
    def episodes(self, episodes: int, stride: int) -> IntArray:
        """The episode of each row of a run of this many episodes."""

    def completed(self, rows: Curves) -> Curves:
        """The curves of a run, from all of its rows."""
        return rows

    @abstractmethod
    def result(self, curves: Curves, agent: Agent) -> dict[str, Any]:
        """The numbers that summarise a finished run."""

    @abstractmethod
    def finite(self, config: Any) -> tuple[str, ...]:
        """The columns that a report needs, of the runs of an agent."""

    def check(self, curves: Curves, spec: Specification, path: Path) -> None:
        """Raise `FileError` unless the curves are those of the finished run."""
        expected = self.episodes(spec.episodes, spec.stride)
        complete = np.array_equal(curves.get("episode", ()), expected)
        kinds = {"steps": "int64", **dict.fromkeys(self.finite(spec.agent), "float64")}
        if not complete or not all(
            _is_finite(curves.get(name), kind, len(expected)) for name, kind in kinds.items()
        ):
            raise FileError(f"{path} is damaged: its rows do not match the run")

    # All seeds of an agent

    @abstractmethod
    def quantities(self, tables: Sequence[Curves]) -> dict[str, FloatArray]:
        """The quantities of each seed at each row, [n, T]."""

    @abstractmethod
    def means(self, curves: Curves) -> tuple[float, float]:
        """The mean of the first quantity over the run, and over its last tenth."""

    @abstractmethod
    def estimates(self, cell: "Cell") -> dict[str, Estimate]:
        """The measures with their intervals."""

    def points(self, numbers: FloatArray, episode: IntArray, at: IntArray) -> FloatArray:
        """The points of curves [n, T] that are shown, [n, len(at)]."""
        return numbers[:, at]


def track_of(world: StudyWorld) -> Track:
    """The track of a world."""
    return ByReturns(world) if isinstance(world, Gym) else ByValues(world)


def beliefs(history: Any) -> dict[str, Any]:
    """The columns that algorithms in plain Python do not have, as far as a history has them."""
    names = ("epoch", "optimistic_value", "bonus", "ascension")
    return {name: history.columns[name] for name in names if name in history.columns}


def _is_finite(column: Any, kind: str, n: int) -> bool:
    """Whether a column has n finite numbers of a kind."""
    return (
        isinstance(column, np.ndarray)
        and column.shape == (n,)
        and column.dtype == kind
        and bool(np.isfinite(column).all())
    )


class ByValues(Track):
    """Exact values of every ``stride``-th policy; losses are shown relative to the optimum."""

    labels = labels.VALUES

    def __init__(self, world: World) -> None:
        self.world = world

    @property
    def scale(self) -> float:
        """The optimal value. If it is 0, so is all suboptimality, and any scale will do."""
        return self.world.mdp.optimal().value or 1.0

    def rows(self, history: Any, steps_before: int, stride: int) -> Curves:
        """Without the regret, which depends on all episodes.

        Imitators are evaluated by the rewards of the world; its optimal policy is their expert.
        """
        mdp = self.world.mdp
        at = history.evaluated - history.first
        steps = steps_before + np.cumsum(history.steps)
        if isinstance(history, ImitationHistory):
            steps = steps + np.cumsum(history.rollouts)
            best = mdp.optimal()
            lost = history.regret(best.policy, mdp.r).imitation
            judged = {"value": best.value - lost, "suboptimality": lost}
            shown = mdp.occupancy(best.policy).ravel() @ history.Phi
            judged["matching_error"] = history.matching_errors(shown)
        else:
            judged = {"value": history.values(), "suboptimality": history.regrets()}
        rows = {"episode": history.evaluated + 1, "steps": steps[at]}
        found = {name: column[at] for name, column in beliefs(history).items()}
        epoch = {"epoch": found.pop("epoch")} if "epoch" in found else {}
        return {**rows, **epoch, **judged, **found}

    def episodes(self, episodes: int, stride: int) -> IntArray:
        return np.arange(1, episodes + 1, stride)

    def completed(self, rows: Curves) -> Curves:
        return {**rows, "regret": cumulative(rows["episode"], rows["suboptimality"])}

    def result(self, curves: Curves, agent: Agent) -> dict[str, Any]:
        mdp = self.world.mdp
        return {
            "optimal": mdp.optimal().value,
            "uniform": float(mdp.value(mdp.uniform_policy)),
            "regret": float(curves["regret"][-1]),
            "average_suboptimality": average(curves),
            "final_suboptimality": final(curves),
        }

    def finite(self, config: Any) -> tuple[str, ...]:
        imitates = isinstance(config, ExpertData)
        return ("suboptimality", "regret", *(("matching_error",) if imitates else ()))

    def quantities(self, tables: Sequence[Curves]) -> dict[str, FloatArray]:
        found = {
            "regret": np.array([t["regret"] for t in tables]),
            "suboptimality": np.array([t["suboptimality"] for t in tables]) / self.scale,
        }
        if "matching_error" in tables[0]:
            found["matching_error"] = errors = np.array([t["matching_error"] for t in tables])
            episode = tables[0]["episode"]
            sums = np.array([cumulative(episode, error) for error in errors])
            found["average_matching_error"] = sums / episode
        return found

    def means(self, curves: Curves) -> tuple[float, float]:
        return average(curves) / self.scale, final(curves) / self.scale

    def estimates(self, cell: "Cell") -> dict[str, Estimate]:
        rng, regret = np.random.default_rng(0), cell.curves["regret"]
        return {
            "average": statistics.estimate(cell.averages, "mean", rng),
            "iqm": statistics.estimate(cell.averages, "iqm", rng),
            "final": statistics.estimate(cell.finals, "mean", rng),
            "regret": statistics.estimate(regret[:, -1], "mean", rng),
            "slope": statistics.log_log_slope(cell.episode, regret, rng),
        }


class ByReturns(Track):
    """Returns, averaged over windows of ``stride`` episodes; no optimum is known."""

    labels = labels.RETURNS

    def __init__(self, world: Gym) -> None:
        self.world = world

    def rows(self, history: Any, steps_before: int, stride: int) -> Curves:
        """The first of the episodes starts a window."""
        n = len(history.steps)
        starts = np.arange(0, n, stride)
        ends = np.minimum(starts + stride, n)

        def means(column: FloatArray) -> FloatArray:
            return np.add.reduceat(column, starts) / (ends - starts)

        found = beliefs(history)
        epoch = {"epoch": found.pop("epoch")[ends - 1]} if "epoch" in found else {}
        return {
            "episode": history.first + ends,
            "steps": steps_before + np.cumsum(history.steps)[ends - 1],
            **epoch,
            "return": means(history.reward),
            **{name: means(column) for name, column in found.items()},
        }

    def episodes(self, episodes: int, stride: int) -> IntArray:
        return np.minimum(np.arange(stride, episodes + stride, stride), episodes)

    def result(self, curves: Curves, agent: Agent) -> dict[str, Any]:
        mean, last = self.means(curves)
        return {
            "mean_return": mean,
            "final_return": last,
            "states": None if isinstance(agent, PythonAgent) else len(agent.diagnostics.V),
            "actions": self.world.n_actions,
            "played": agent.played if isinstance(agent, VariantAgent) else None,
            "plane": corners(self.world).tolist() if is_drawn(self.world, agent) else None,
        }

    def finite(self, config: Any) -> tuple[str, ...]:
        return ("return",)

    def quantities(self, tables: Sequence[Curves]) -> dict[str, FloatArray]:
        return {"return": np.array([t["return"] for t in tables])}

    def means(self, curves: Curves) -> tuple[float, float]:
        """Of an episode, as the last window may be shorter."""
        sizes, last = np.diff(curves["episode"], prepend=0), -max(1, len(curves["return"]) // 10)
        mean, late = (
            float((curves["return"][first:] * sizes[first:]).sum() / sizes[first:].sum())
            for first in (0, last)
        )
        return mean, late

    def estimates(self, cell: "Cell") -> dict[str, Estimate]:
        rng = np.random.default_rng(0)
        return {
            "mean_return": statistics.estimate(cell.averages, "mean", rng),
            "final_return": statistics.estimate(cell.finals, "mean", rng),
        }

    def points(self, numbers: FloatArray, episode: IntArray, at: IntArray) -> FloatArray:
        """Each point is the mean since the one before, as returns are noisy."""
        sums = np.cumsum(numbers * np.diff(episode, prepend=0), axis=1)[:, at]
        return np.diff(sums, prepend=0) / np.diff(episode[at], prepend=0)
