"""Results of all seeds of one agent in one world."""

from collections.abc import Sequence
from functools import cached_property
from typing import ClassVar

import numpy as np

from optimist.checks import FloatArray, IntArray
from optimist.envs import World
from optimist.experiments import curves as columns
from optimist.experiments import returns, statistics
from optimist.experiments.run_folder import RunFolder
from optimist.experiments.statistics import Estimate
from optimist.experiments.study import Run


class Cell:
    """Results of all seeds of one agent in one known MDP.

    Suboptimality is a fraction of the optimal value; regret is in units of value.

    Attributes
    ----------
    seeds
        The numbers of the finished seeds, [n].
    episode
        The episodes whose policies were evaluated, [T].
    suboptimality, regret
        Of each seed at each of these episodes, [n, T].
    matching_error, average_matching_error
        The distance of each policy's features from the expert's, and its mean over all policies so
        far, [n, T]; None if the agent is no imitator.
    averages, finals
        The mean suboptimality of each seed over the run, and over its last tenth, [n].
    """

    MEASURES: ClassVar[tuple[str, ...]] = ("average", "iqm", "final", "regret", "slope")
    """The columns of a table of results."""

    def __init__(self, world: World, runs: Sequence[Run], folders: Sequence[RunFolder]) -> None:
        # If the optimal value is 0, so is all suboptimality, and any scale will do.
        scale = world.mdp.optimal().value or 1.0
        tables = [folder.curves for folder in folders]
        self.seeds: IntArray = np.array([r.index for r in runs])
        self.episode: IntArray = tables[0]["episode"]
        self.suboptimality: FloatArray = np.array([t["suboptimality"] for t in tables]) / scale
        self.regret: FloatArray = np.array([t["regret"] for t in tables])
        self.matching_error: FloatArray | None = None
        self.average_matching_error: FloatArray | None = None
        if "matching_error" in tables[0]:
            self.matching_error = np.array([t["matching_error"] for t in tables])
            sums = [columns.cumulative(self.episode, error) for error in self.matching_error]
            self.average_matching_error = np.array(sums) / self.episode
        self.averages: FloatArray = np.array([columns.average(t) for t in tables]) / scale
        self.finals: FloatArray = np.array([columns.final(t) for t in tables]) / scale

    @property
    def losses(self) -> FloatArray:
        """The score by which seeds are compared; lower is better, [n]."""
        return self.averages

    @cached_property
    def estimates(self) -> dict[str, Estimate]:
        """The measures with their intervals.

        They are the mean and the interquartile mean of `averages`, the mean of `finals`, the mean
        regret at the end, and the slope of log regret over the last decade of episodes.
        """
        rng = np.random.default_rng(0)
        return {
            "average": statistics.estimate(self.averages, "mean", rng),
            "iqm": statistics.estimate(self.averages, "iqm", rng),
            "final": statistics.estimate(self.finals, "mean", rng),
            "regret": statistics.estimate(self.regret[:, -1], "mean", rng),
            "slope": statistics.log_log_slope(self.episode, self.regret, rng),
        }


class ReturnCell:
    """Results of all seeds of one agent in one Gymnasium environment, in its own units.

    Attributes
    ----------
    seeds
        The numbers of the finished seeds, [n].
    episode
        The last episode of each window, [T].
    returns
        The mean return of each seed in each window, [n, T].
    averages, finals
        The mean return of each seed over the run, and over its last tenth, [n].
    """

    MEASURES: ClassVar[tuple[str, ...]] = ("mean_return", "final_return")
    """The columns of a table of results."""

    def __init__(self, runs: Sequence[Run], folders: Sequence[RunFolder]) -> None:
        tables = [folder.curves for folder in folders]
        self.seeds: IntArray = np.array([r.index for r in runs])
        self.episode: IntArray = tables[0]["episode"]
        self.returns: FloatArray = np.array([t["return"] for t in tables])
        self.averages: FloatArray = np.array([returns.mean_return(t) for t in tables])
        self.finals: FloatArray = np.array([returns.final_return(t) for t in tables])

    @property
    def losses(self) -> FloatArray:
        """The score by which seeds are compared; lower is better, [n]."""
        return -self.averages

    @cached_property
    def estimates(self) -> dict[str, Estimate]:
        """The means of `averages` and `finals`, with their intervals."""
        rng = np.random.default_rng(0)
        return {
            "mean_return": statistics.estimate(self.averages, "mean", rng),
            "final_return": statistics.estimate(self.finals, "mean", rng),
        }


AnyCell = Cell | ReturnCell
