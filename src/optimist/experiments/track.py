"""The measurements of a run (`optimist.experiments.measures` has each kind).

A track makes the curves of a run from what its agent has recorded, one row for each evaluated
policy, for each window of ``stride`` episodes, or for each window of steps:

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

With certificates there are the columns of `optimist.experiments.certified` too.

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

In a run by steps a window lies between two points of a grid, the same for every seed and
agent: ``steps`` is its end, ``episode`` how many episodes have ended by then, and the means are of
those that ended in the window or, if none did, of the one that was under way.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from optimist.agents import Agent
from optimist.checks import FloatArray, IntArray
from optimist.errors import FileError
from optimist.experiments.certified import COLUMNS
from optimist.experiments.curves import Curves
from optimist.experiments.specification import Specification
from optimist.experiments.statistics import Estimate
from optimist.report.labels import Labels

if TYPE_CHECKING:
    from optimist.experiments.cells import Cell


class Track(ABC):
    """The measurements in a world."""

    labels: ClassVar[Labels]
    """The measures and quantities, which direction is better, and their names."""

    column: ClassVar[Literal["episode", "steps"]] = "episode"
    """The column that is the same for all seeds."""

    # One run

    @abstractmethod
    def rows(self, history: Any, before: int, after: int, stride: int) -> Curves:
        """The rows of some episodes, given the numbers of steps before and after them."""

    @abstractmethod
    def episodes(self, episodes: int, stride: int) -> IntArray:
        """The episode of each recorded row after this many episodes."""

    def at(self, spec: Specification) -> IntArray:
        """The column `column` of the curves of a finished run."""
        return self.episodes(spec.length, spec.stride)

    def completed(self, rows: Curves) -> Curves:
        """The curves of a run, or of a part of it from its beginning, from its recorded rows."""
        return rows

    @abstractmethod
    def result(self, curves: Curves, agent: Agent) -> dict[str, Any]:
        """The numbers that summarise a finished run."""

    @abstractmethod
    def finite(self, config: Any) -> tuple[str, ...]:
        """The columns that a report needs, of the runs of an agent."""

    def check(self, curves: Curves, spec: Specification, path: Path) -> None:
        """Raise `FileError` unless the curves are those of the finished run."""
        expected = self.at(spec)
        complete = np.array_equal(curves.get(self.column, ()), expected)
        kinds = {"episode": "int64", "steps": "int64"}
        certified = COLUMNS if spec.certify is not None and COLUMNS[0] in curves else ()
        kinds |= dict.fromkeys((*self.finite(spec.agent), *certified), "float64")
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

    def points(self, numbers: FloatArray, at: IntArray, shown: IntArray) -> FloatArray:
        """The points of curves [n, T] that are shown; ``at`` has the episodes of their rows."""
        return numbers[:, shown]


def beliefs(history: Any) -> dict[str, Any]:
    """The columns of optimism, if the history has them: algorithms in plain Python do not."""
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
