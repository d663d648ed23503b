"""What the seeds of one agent in one world say."""

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
    """What the seeds of one agent in one world say. Suboptimality is a fraction of the optimum.

    Attributes
    ----------
    seeds
        The numbers of the seeds that have finished, [n].
    episode
        The episodes whose policies were evaluated, [T].
    suboptimality, regret
        Of each seed at each of them, [n, T]; the regret is in units of value.
    matching_error, average_matching_error
        How far the features of each policy are from the expert's, and the mean of that over all
        policies up to it, [n, T]; None if no expert is imitated.
    average, iqm
        The mean suboptimality over a run: its mean and its interquartile mean over the seeds.
    final
        The mean suboptimality over the last tenth of a run.
    total
        The regret at the end of a run.
    slope
        The slope of the regret in the logarithms, over the last tenth of the episodes and on.
    """

    MEASURES: ClassVar[tuple[str, ...]] = ("average", "iqm", "final", "regret", "slope")
    """What a table says."""

    def __init__(self, world: World, runs: Sequence[Run], folders: Sequence[RunFolder]) -> None:
        # Where nothing can be earned nothing can be lost either: any scale gives zero.
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
        """By what seeds are compared; the lower the better, [n]."""
        return self.averages

    @cached_property
    def estimates(self) -> dict[str, Estimate]:
        """Each of the measures with its interval."""
        rng = np.random.default_rng(0)
        return {
            "average": statistics.estimate(self.averages, "mean", rng),
            "iqm": statistics.estimate(self.averages, "iqm", rng),
            "final": statistics.estimate(self.finals, "mean", rng),
            "regret": statistics.estimate(self.regret[:, -1], "mean", rng),
            "slope": statistics.log_log_slope(self.episode, self.regret, rng),
        }


class ReturnCell:
    """What the seeds of one agent in one Gymnasium environment say, in the environment's own units.

    Attributes
    ----------
    seeds
        The numbers of the seeds that have finished, [n].
    episode
        The last episode of each window, [T].
    returns
        The mean return of each seed in each window, [n, T].
    averages, finals
        The mean return of each seed over the run, and over its last tenth, [n].
    """

    MEASURES: ClassVar[tuple[str, ...]] = ("mean_return", "final_return")
    """What a table says."""

    def __init__(self, runs: Sequence[Run], folders: Sequence[RunFolder]) -> None:
        tables = [folder.curves for folder in folders]
        self.seeds: IntArray = np.array([r.index for r in runs])
        self.episode: IntArray = tables[0]["episode"]
        self.returns: FloatArray = np.array([t["return"] for t in tables])
        self.averages: FloatArray = np.array([returns.mean_return(t) for t in tables])
        self.finals: FloatArray = np.array([returns.final_return(t) for t in tables])

    @property
    def losses(self) -> FloatArray:
        """By what seeds are compared; the lower the better, [n]."""
        return -self.averages

    @cached_property
    def estimates(self) -> dict[str, Estimate]:
        """Each of the measures with its interval."""
        rng = np.random.default_rng(0)
        return {
            "mean_return": statistics.estimate(self.averages, "mean", rng),
            "final_return": statistics.estimate(self.finals, "mean", rng),
        }


AnyCell = Cell | ReturnCell
