"""The results of a study: numbers, tables, figures and the report."""

import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from optimist.envs import Gym
from optimist.envs.gym_world import import_trusted
from optimist.errors import DamageWarning, FileError
from optimist.experiments import statistics
from optimist.experiments.cells import AnyCell, Cell, ReturnCell
from optimist.experiments.peers import Comparison, compare
from optimist.experiments.statistics import Estimate
from optimist.experiments.study import Run, Study, named
from optimist.experiments.study_folder import StudyFolder

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

T = TypeVar("T")

NOT_MEASURED = Estimate(math.nan, math.nan, math.nan, n=0)


class Results:
    """What has come of a study so far, read from its folder.

    Examples
    --------
    >>> import optimist as opt
    >>> study = opt.Study({"river": opt.envs.RiverSwim(6)}, {"R-max": opt.Rmax}, 200, seeds=2)
    >>> results = opt.run(study, jobs=1)
    >>> results.cell("river", "R-max").regret.shape
    (2, 200)
    >>> print(results.table().columns("world", "agent", "seeds"))
    world  agent  seeds
    river  R-max  2
    """

    def __init__(self, folder: StudyFolder, study: Study) -> None:
        self.folder, self.study = folder, study
        self.damaged: dict[Run, str] = {}
        """The runs of which a file was refused when it was read, and why."""
        self._cells: dict[tuple[str, str], AnyCell] = {}

    @cached_property
    def finished(self) -> tuple[Run, ...]:
        """The runs that have finished, and whose numbers are not damaged."""
        return tuple(
            r
            for r in self.study.runs
            if self.folder.of(r).finished and self.unless_damaged(r, self._numbers_of)
        )

    def _numbers_of(self, run: Run) -> Literal[True]:
        self.folder.of(run).check_numbers(run.spec)
        return True

    def unless_damaged(self, run: Run, read: Callable[[Run], T]) -> T | None:
        """What is read of a run; or None and a `DamageWarning` if its file is refused."""
        try:
            return read(run)
        except FileError as error:
            self.damaged[run] = str(error)
            warnings.warn(
                f"{named(run)}, is damaged: {error}",
                DamageWarning,
                stacklevel=2,
            )
            return None

    @cached_property
    def failures(self) -> dict[Run, str]:
        """The runs that failed when they were last tried, and why."""
        left = [r for r in self.study.runs if not self.folder.of(r).finished]
        found = {r: self.folder.of(r).failure for r in left}
        return {r: message for r, message in found.items() if message is not None}

    @property
    def unfinished(self) -> int:
        """How many runs have neither finished nor failed."""
        return sum(not self.folder.of(r).finished for r in self.study.runs) - len(self.failures)

    @property
    def environments(self) -> list[dict[str, str]]:
        """What the finished runs ran on, each once."""
        found: list[dict[str, str]] = []
        for r in self.finished:
            seen = self.unless_damaged(r, lambda r: self.folder.of(r).environments) or []
            found += [e for e in seen if e not in found]
        return found

    def shots(self, run: Run) -> Any:
        """What the agent of a run believed on the way, in a world that can be drawn.

        They are `Snapshots`, and `Maps` in a Gymnasium environment; None if they are damaged.
        """
        return self.unless_damaged(run, lambda r: self.folder.of(r).shots(r.spec.world))

    @cached_property
    def _by_cell(self) -> dict[tuple[str, str], list[Run]]:
        """The runs that have finished, by their world and agent."""
        found: dict[tuple[str, str], list[Run]] = {}
        for r in self.finished:
            found.setdefault((r.world, r.agent), []).append(r)
        return found

    def cell(self, world: str, agent: str) -> AnyCell | None:
        """What the seeds of an agent in a world say, or None if none has finished."""
        key = (world, agent)
        if key not in self._cells:
            runs = self._by_cell.get(key)
            if runs is None:
                return None
            folders = [self.folder.of(r) for r in runs]
            there = self.study.worlds[world]
            self._cells[key] = (
                ReturnCell(runs, folders) if isinstance(there, Gym) else Cell(there, runs, folders)
            )
        return self._cells[key]

    def first_runs(self, world: str) -> dict[str, Run]:
        """The first run of each agent in a world that has finished."""
        first = {r.agent: r for r in reversed(self.finished) if r.world == world}
        return {agent: first[agent] for agent in self.study.agents if agent in first}

    def table(self) -> "Table":
        """The measures of each agent in each world, with intervals, as rows of plain values.

        They are those of `Cell` in known MDPs and of `ReturnCell` in Gymnasium environments. In a
        study that has both, the measures of the other kind are nan.
        """
        rows = Table()
        by_returns = [isinstance(world, Gym) for world in self.study.worlds.values()]
        measures = () if all(by_returns) else Cell.MEASURES
        measures += ReturnCell.MEASURES if any(by_returns) else ()
        for world in self.study.worlds:
            for agent in self.study.agents:
                cell = self.cell(world, agent)
                if cell is None:
                    continue
                row: dict[str, Any] = {"world": world, "agent": agent, "seeds": len(cell.seeds)}
                for name in measures:
                    found = cell.estimates.get(name, NOT_MEASURED)
                    row |= {name: found.value, f"{name}_low": found.low, f"{name}_high": found.high}
                rows.append(row)
        return rows

    def improvement(self, world: str, agent: str, other: str) -> Estimate | None:
        """The probability that a run of an agent does better on average than one of another.

        It loses less; in a Gymnasium environment, its return is higher.
        """
        a, b = self.cell(world, agent), self.cell(world, other)
        if a is None or b is None:
            return None
        rng = np.random.default_rng(0)
        return statistics.probability_of_improvement(a.losses, b.losses, rng)

    @cached_property
    def peers(self) -> Comparison | None:
        """The study's subject against the best of its peers in each world, if it has a subject."""
        return compare(self)

    # Looking at them

    @cached_property
    def data(self) -> dict[str, Any]:
        """Everything that figures and the report show, as plain data."""
        from optimist.experiments.summary import summary

        return summary(self)

    def plot(
        self,
        what: Literal[
            "regret", "suboptimality", "matching_error", "average_matching_error", "return"
        ] = "regret",
        log: Literal["", "x", "y", "xy"] = "",
    ) -> "Figure":
        """The curves of all worlds as a figure of matplotlib, with logarithmic axes if asked.

        Matching errors are those of imitators, in the worlds that have some; returns those of the
        Gymnasium environments, which have nothing else.
        """
        from optimist.report.figures import curves_figure

        return curves_figure(self.data, what, log)

    def figures(self, folder: str | Path, formats: Sequence[str] = ("pdf", "png")) -> list[Path]:
        """Write figures fit for a paper; the files."""
        from optimist.report.figures import save_figures

        return save_figures(self.data, Path(folder), tuple(formats))

    def report(self, path: str | Path | None = None) -> Path:
        """Write the report, one page that needs nothing else; by default into the folder."""
        from optimist.report.page import write_page

        file = self.folder.path / "report.html" if path is None else Path(path)
        write_page(self.data, file)
        return file


class Table(list[dict[str, Any]]):
    """Rows of plain values."""

    def columns(self, *names: str) -> "Table":
        """The same rows with these columns only."""
        return Table({name: row[name] for name in names} for row in self)

    def __str__(self) -> str:
        if not self:
            return "(nothing has finished)"
        cells = [list(self[0]), *([_text(v) for v in row.values()] for row in self)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        return "\n".join(
            "  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)).rstrip()
            for line in cells
        )

    def to_pandas(self) -> "pd.DataFrame":
        """The rows as a data frame."""
        try:
            import pandas as pd
        except ImportError:
            raise ImportError("pandas is not installed: pip install 'optimist[pandas]'") from None
        return pd.DataFrame(self)


def _text(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def open_results(folder: str | Path, trust: str | Iterable[str] = ()) -> Results:
    """The results of the study in a folder, as far as they have come.

    Modules of environments are not needed to show results, and not imported, but for those of
    `envs.ToyText`, whose optimum is computed; ``trust`` imports them.
    """
    import_trusted(trust)
    there = StudyFolder(Path(folder))
    return Results(there, there.study)
