"""The kinds of measurement: exact values in a known MDP, returns elsewhere."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from optimist.agents import Agent, VariantAgent
from optimist.agents.plotted import cumulative
from optimist.checks import FloatArray, IntArray
from optimist.envs import Gym, World
from optimist.experiments import statistics
from optimist.experiments.certified import best_so_far
from optimist.experiments.curves import Curves, average, final
from optimist.experiments.experts import ExpertData
from optimist.experiments.maps import corners, is_drawn
from optimist.experiments.specification import Specification
from optimist.experiments.statistics import Estimate
from optimist.experiments.track import Track, beliefs
from optimist.experiments.worlds import StudyWorld
from optimist.imitation import ImitationHistory, ImitatorHistory
from optimist.report import labels

if TYPE_CHECKING:
    from optimist.experiments.cells import Cell

POINTS = 100
"""The most points of the curves of a run by steps."""


def track_of(world: StudyWorld, steps: int | None = None) -> Track:
    """The track of the runs in a world, by steps or by episodes."""
    if not isinstance(world, Gym):
        return ByValues(world)
    return ByReturns(world) if steps is None else BySteps(world, steps)


class ByValues(Track):
    """Exact values of every ``stride``-th policy; losses are shown relative to the optimum."""

    labels = labels.VALUES

    def __init__(self, world: World) -> None:
        self.world = world

    @property
    def scale(self) -> float:
        """The optimal value; 1 if it is 0, as then every suboptimality is 0 too."""
        return self.world.mdp.optimal().value or 1.0

    def rows(self, history: Any, before: int, after: int, stride: int) -> Curves:
        """The rows without the regret, which depends on all episodes.

        Imitators are evaluated by the rewards of the world; its optimal policy is their expert.
        """
        mdp = self.world.mdp
        at = history.evaluated - history.first
        steps = before + np.cumsum(history.steps)
        if isinstance(history, ImitationHistory):
            steps = steps + np.cumsum(history.rollouts)
            best = mdp.optimal()
            lost = history.regret(best.policy, mdp.r).imitation
            judged = {"value": best.value - lost, "suboptimality": lost}
            shown = mdp.occupancy(best.policy).ravel() @ history.Phi
            judged["matching_error"] = history.matching_errors(shown)
        elif isinstance(history, ImitatorHistory):
            best = mdp.optimal()
            lost = history.gaps(best.policy, mdp.r)
            judged = {"value": best.value - lost, "suboptimality": lost}
        else:
            judged = {"value": history.values(), "suboptimality": history.regrets()}
        rows = {"episode": history.evaluated + 1, "steps": steps[at]}
        found = {name: column[at] for name, column in beliefs(history).items()}
        epoch = {"epoch": found.pop("epoch")} if "epoch" in found else {}
        return {**rows, **epoch, **judged, **found}

    def episodes(self, episodes: int, stride: int) -> IntArray:
        return np.arange(1, episodes + 1, stride)

    def completed(self, rows: Curves) -> Curves:
        certified = best_so_far(rows) if "lower" in rows else {}
        return {**rows, **certified, "regret": cumulative(rows["episode"], rows["suboptimality"])}

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
            "slope": statistics.log_log_slope(cell.at, regret, rng),
        }


class ByReturns(Track):
    """Returns, averaged over windows of ``stride`` episodes; no optimum is known."""

    labels = labels.RETURNS

    def __init__(self, world: Gym) -> None:
        self.world = world

    def rows(self, history: Any, before: int, after: int, stride: int) -> Curves:
        """The first of the episodes starts a window."""
        n = len(history.steps)
        starts = np.arange(0, n, stride)
        ends = np.minimum(starts + stride, n)
        steps = before + np.cumsum(history.steps)[ends - 1]
        rows = {"episode": history.first + ends, "steps": steps}
        found = beliefs(history)
        epoch = {"epoch": found.pop("epoch")} if "epoch" in found else {}
        return rows | window_means({**epoch, "return": history.reward, **found}, starts, ends)

    def episodes(self, episodes: int, stride: int) -> IntArray:
        return np.minimum(np.arange(stride, episodes + stride, stride), episodes)

    def result(self, curves: Curves, agent: Agent) -> dict[str, Any]:
        mean, last = self.means(curves)
        return {
            "mean_return": mean,
            "final_return": last,
            "states": len(agent.diagnostics.V) if isinstance(agent, VariantAgent) else None,
            "actions": self.world.n_actions,
            "played": agent.played if isinstance(agent, VariantAgent) else None,
            "plane": corners(self.world).tolist() if is_drawn(self.world, agent) else None,
        }

    def finite(self, config: Any) -> tuple[str, ...]:
        return ("return",)

    def quantities(self, tables: Sequence[Curves]) -> dict[str, FloatArray]:
        return {"return": np.array([t["return"] for t in tables])}

    def means(self, curves: Curves) -> tuple[float, float]:
        """The mean of an episode, or over the steps, as windows differ in size."""
        sizes, last = np.diff(curves[self.column], prepend=0), -max(1, len(curves["return"]) // 10)
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

    def points(self, numbers: FloatArray, at: IntArray, shown: IntArray) -> FloatArray:
        """Each point is the mean since the one before, as returns are noisy."""
        sums = np.cumsum(numbers * np.diff(at, prepend=0), axis=1)[:, shown]
        return np.diff(sums, prepend=0) / np.diff(at[shown], prepend=0)


class BySteps(ByReturns):
    """Returns in runs by steps, at points that are the same for all seeds and agents.

    The return at a point is the mean over the episodes that ended since the point before. If none
    did, one episode was under way all that time, and it is the return of that one. A run ends with
    the episode that reaches its number of steps, and that episode counts for the last point.
    """

    labels = labels.RETURNS_BY_STEPS
    column = "steps"

    def __init__(self, world: Gym, steps: int) -> None:
        super().__init__(world)
        self.grid = step_points(steps)

    def at(self, spec: Specification) -> IntArray:
        return self.grid

    def rows(self, history: Any, before: int, after: int, stride: int) -> Curves:
        """Side by side, a learner may have used parts of the episodes dropped at the end."""
        found = super().rows(history, before, after, stride)
        found["steps"][-1] = after
        return found

    def completed(self, rows: Curves) -> Curves:
        """The recorded rows are episodes. Points that are not reached yet are left out."""
        ends = rows["steps"]
        at = self.grid[self.grid <= ends[-1]]
        last = np.searchsorted(ends, at, side="right")  # how many episodes have ended
        if len(at) == len(self.grid):
            last[-1] = len(ends)
        first = np.append(0, last)[:-1]
        means = {name: x for name, x in rows.items() if name not in ("episode", "steps")}
        return {"episode": last, "steps": at, **window_means(means, first, last)}

    def result(self, curves: Curves, agent: Agent) -> dict[str, Any]:
        return {**super().result(curves, agent), "steps": agent.steps}


def step_points(steps: int) -> IntArray:
    """The numbers of steps at which the curves of a run have points.

    Examples
    --------
    >>> step_points(3), step_points(20_000)[[0, 1, 98, 99]]
    (array([1, 2, 3]), array([  200,   400, 19800, 20000]))
    """
    n = min(steps, POINTS)
    return np.arange(1, n + 1) * steps // n


def window_means(columns: Curves, first: IntArray, last: IntArray) -> Curves:
    """The means of columns over rows first, ..., last - 1 of each window, and the last epoch.

    A window that is empty has row ``first``.

    Examples
    --------
    >>> first, last = np.array([[0, 2], [2, 2], [2, 3]]).T
    >>> window_means({"return": np.array([1.0, 2.0, 6.0])}, first, last)
    {'return': array([1.5, 6. , 6. ])}
    """
    last = np.maximum(last, first + 1)
    edges = np.stack([first, last], axis=1).ravel()

    def mean(column: FloatArray) -> FloatArray:
        sums = np.add.reduceat(np.append(column, 0.0), edges)[::2]
        return np.asarray(sums / (last - first))

    return {
        name: column[last - 1] if name == "epoch" else mean(column)
        for name, column in columns.items()
    }
