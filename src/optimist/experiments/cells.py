"""Results of all seeds of one agent in one world."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from optimist.checks import FloatArray, IntArray
from optimist.experiments.certified import COLUMNS
from optimist.experiments.run_folder import RunFolder
from optimist.experiments.statistics import Estimate
from optimist.experiments.study import Run
from optimist.experiments.track import Track


class Cell:
    """Results of all seeds of one agent in one world.

    Suboptimality is a fraction of the optimal value; regret is in units of value, and returns are
    in those of the environment.

    Attributes
    ----------
    track
        The measurements in the world.
    seeds
        The numbers of the finished seeds, [n].
    at
        The episodes of the rows of their curves, or the steps in a study by steps, [T].
    episodes, steps
        The episodes and the steps of each seed up to each of these rows, [n, T].
    curves
        The quantities of `Track.labels` that the agent has: of each seed at each of these rows,
        [n, T].
    certified
        The bounds of certificates and the value of their policies (`COLUMNS`), of each seed at each
        of these rows, [n, T]; empty if there are none.
    averages, finals
        The mean suboptimality, or the mean return, of each seed over the run, and over its last
        tenth, [n].
    """

    def __init__(self, track: Track, runs: Sequence[Run], folders: Sequence[RunFolder]) -> None:
        tables = [folder.curves for folder in folders]
        self.track = track
        self.seeds: IntArray = np.array([r.index for r in runs])
        self.at: IntArray = tables[0][track.column]
        self.episodes: IntArray = np.array([t["episode"] for t in tables])
        self.steps: IntArray = np.array([t["steps"] for t in tables])
        self.curves: dict[str, FloatArray] = track.quantities(tables)
        names = COLUMNS if COLUMNS[0] in tables[0] else ()
        self.certified = {name: np.array([t[name] for t in tables]) for name in names}
        self.averages: FloatArray
        self.finals: FloatArray
        self.averages, self.finals = np.array([track.means(t) for t in tables]).T

    @property
    def losses(self) -> FloatArray:
        """The score by which seeds are compared; lower is better, [n]."""
        return -self.averages if self.track.labels.higher else self.averages

    @cached_property
    def estimates(self) -> dict[str, Estimate]:
        """The measures of `Track.labels` with their intervals."""
        return self.track.estimates(self)
