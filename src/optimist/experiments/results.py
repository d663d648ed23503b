"""The results of a study: numbers, tables, figures and the report."""

import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

import numpy as np

from optimist.display.card import card, table
from optimist.display.notebook import Page
from optimist.display.numbers import FORMS
from optimist.errors import DamageWarning, FileError
from optimist.experiments import statistics
from optimist.experiments.cells import Cell
from optimist.experiments.peers import compare
from optimist.experiments.statistics import Estimate
from optimist.experiments.study import Run, Study, named
from optimist.experiments.study_folder import StudyFolder
from optimist.registry import import_trusted
from optimist.report.labels import ALL

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from optimist.report.data import Comparison, ReportData

MOST_ROWS = 50
"""Rows of a table that a notebook shows."""

T = TypeVar("T")

What = Literal["regret", "suboptimality", "matching_error", "average_matching_error", "return"]
Log = Literal["", "x", "y", "xy"]
Over = Literal["episodes", "steps"]

NOT_MEASURED = Estimate(math.nan, math.nan, math.nan, n=0)


class Results:
    """The results of a study so far, read from its folder.

    Examples
    --------
    >>> import optimist as opt
    >>> study = opt.Study({"river": opt.envs.RiverSwim(6)}, {"R-max": opt.Rmax}, 200, seeds=2)
    >>> results = opt.run(study, jobs=1)
    >>> results.cell("river", "R-max").curves["regret"].shape
    (2, 200)
    >>> print(results.table().columns("world", "agent", "seeds"))
    world  agent  seeds
    river  R-max  2
    """

    def __init__(self, folder: StudyFolder, study: Study) -> None:
        self.folder, self.study = folder, study
        self.damaged: dict[Run, str] = {}
        """Runs with a damaged file, and the error of reading it."""
        self._cells: dict[tuple[str, str], Cell] = {}

    def __repr__(self) -> str:
        facts = ", ".join(f"{name}={value}" for name, value in self._facts.items())
        return f"Results({self.study.title!r}, {facts})"

    def _repr_html_(self) -> str:
        return card(self.study.title, self._facts, self.table()._repr_html_())

    @property
    def _facts(self) -> dict[str, object]:
        facts: dict[str, object] = {"finished": f"{len(self.finished)}/{len(self.study.runs)}"}
        failed = {"failed": len(self.failures)} if self.failures else {}
        sizes = {n: len(getattr(self.study, n)) for n in ("worlds", "agents", "numbers")}
        sizes["seeds"] = sizes.pop("numbers")
        return facts | failed | sizes

    @cached_property
    def finished(self) -> tuple[Run, ...]:
        """The finished runs whose numbers are not damaged."""
        return tuple(
            r
            for r in self.study.runs
            if self.folder.of(r).finished and self.unless_damaged(r, self._check_numbers)
        )

    def _check_numbers(self, run: Run) -> Literal[True]:
        self.folder.of(run).check_numbers(run.spec)
        return True

    def unless_damaged(self, run: Run, read: Callable[[Run], T]) -> T | None:
        """The value of ``read``; None, with a `DamageWarning`, if a file of the run is damaged."""
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
        """The runs whose last attempt failed, with the reasons."""
        left = [r for r in self.study.runs if not self.folder.of(r).finished]
        found = {r: self.folder.of(r).failure for r in left}
        return {r: message for r, message in found.items() if message is not None}

    @property
    def unfinished(self) -> int:
        """The number of runs that have neither finished nor failed."""
        return sum(not self.folder.of(r).finished for r in self.study.runs) - len(self.failures)

    @property
    def environments(self) -> list[dict[str, str]]:
        """The distinct environments (versions, machine) of the finished runs."""
        found: list[dict[str, str]] = []
        for r in self.finished:
            seen = self.unless_damaged(r, lambda r: self.folder.of(r).environments) or []
            found += [e for e in seen if e not in found]
        return found

    def shots(self, run: Run) -> Any:
        """The beliefs of an agent as recorded during a run, in a world that can be drawn.

        They are `Snapshots`, or `Maps` in a Gymnasium environment; None if they are damaged.
        """
        return self.unless_damaged(run, lambda r: self.folder.of(r).shots(r.spec.world))

    @cached_property
    def _by_cell(self) -> dict[tuple[str, str], list[Run]]:
        """The finished runs by world and agent."""
        found: dict[tuple[str, str], list[Run]] = {}
        for r in self.finished:
            found.setdefault((r.world, r.agent), []).append(r)
        return found

    def cell(self, world: str, agent: str) -> Cell | None:
        """The results of all seeds of an agent in a world; None if no run has finished."""
        key = (world, agent)
        if key not in self._cells:
            runs = self._by_cell.get(key)
            if runs is None:
                return None
            folders = [self.folder.of(r) for r in runs]
            self._cells[key] = Cell(self.study.track(world), runs, folders)
        return self._cells[key]

    def first_runs(self, world: str) -> dict[str, Run]:
        """The first finished run of each agent in a world."""
        first = {r.agent: r for r in reversed(self.finished) if r.world == world}
        return {agent: first[agent] for agent in self.study.agents if agent in first}

    def table(self) -> "Rows":
        """The measures of each agent in each world, with intervals, as rows of plain values.

        Measures that a world does not have are nan there.
        """
        rows = Rows()
        there = [self.study.track(world).labels for world in self.study.worlds]
        measures = [m.key for labels in ALL if labels in there for m in labels.measures]
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
        """The probability that a run of an agent is better on average than one of another.

        Better means a lower suboptimality or, in a Gymnasium environment, a higher return.
        """
        a, b = self.cell(world, agent), self.cell(world, other)
        if a is None or b is None:
            return None
        rng = np.random.default_rng(0)
        return statistics.probability_of_improvement(a.losses, b.losses, rng)

    @cached_property
    def peers(self) -> "Comparison | None":
        """The comparison of the subject with the best peers; None if the study has no subject."""
        return compare(self)

    # Figures and report

    @cached_property
    def data(self) -> "ReportData":
        """The data of figures and report."""
        from optimist.experiments.summary import summary

        return summary(self)

    @overload
    def plot(
        self,
        what: What = ...,
        log: Log = ...,
        over: Over | None = ...,
        world: str | None = ...,
        ax: None = ...,
    ) -> "Figure": ...
    @overload
    def plot(
        self,
        what: What = ...,
        log: Log = ...,
        over: Over | None = ...,
        world: str | None = ...,
        *,
        ax: "Axes",
    ) -> "Axes": ...
    def plot(
        self,
        what: What = "regret",
        log: Log = "",
        over: Over | None = None,
        world: str | None = None,
        ax: "Axes | None" = None,
    ) -> "Figure | Axes":
        """Draw the curves of all worlds, or of one, as a matplotlib figure.

        Matching errors exist for imitators only, returns for Gymnasium environments only, and the
        other quantities for known MDPs only. ``log`` names logarithmic axes. By default the curves
        are over episodes, or over steps in a study by steps; over the other they are at the means
        over the seeds. ``ax`` are axes of a figure of one's own, for the panel of one world; they
        are returned then.
        """
        from optimist.report.figures import curves_figure, draw_curves

        data = self.data
        if world is not None:
            if world not in self.study.worlds:
                there = ", ".join(map(repr, self.study.worlds))
                raise ValueError(f"world must be one of {there}; got {world!r}")
            data = replace(data, worlds=tuple(w for w in data.worlds if w.name == world))
        if ax is not None:
            return draw_curves(ax, data, what, log, over)
        return curves_figure(data, what, log, over)

    def figures(self, folder: str | Path, formats: Sequence[str] = ("pdf", "png")) -> list[Path]:
        """Write all figures into a folder and return their paths."""
        from optimist.report.figures import save_figures

        return save_figures(self.data, Path(folder), tuple(formats))

    def report(self, path: str | Path | None = None) -> Page:
        """Write the report, one self-contained page; by default into the folder of the study.

        A notebook shows the path that is returned as the page itself, some 3 MB.
        """
        from optimist.report.page import write_page

        file = Page(self.folder.path / "report.html" if path is None else path)
        write_page(self.data, file)
        return file


class Rows(list[dict[str, Any]]):
    """Rows of plain values."""

    def columns(self, *names: str) -> "Rows":
        """The rows with these columns only."""
        return Rows({name: row[name] for name in names} for row in self)

    def __str__(self) -> str:
        if not self:
            return "(nothing has finished)"
        cells = [list(self[0]), *([_text(v) for v in row.values()] for row in self)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        return "\n".join(
            "  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)).rstrip()
            for line in cells
        )

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """The estimates with their intervals, as many rows as `MOST_ROWS`."""
        there = dict.fromkeys(labels for labels in ALL)
        measures = {m.key: m for labels in there for m in labels.measures}
        shown = []
        for row in self[:MOST_ROWS]:
            texts: dict[str, Any] = {n: row[n] for n in ("world", "agent", "seeds") if n in row}
            for key in (key for key in measures if key in row):
                form = FORMS[measures[key].form]
                ends = row.get(f"{key}_low"), row.get(f"{key}_high")
                low, high = (form(math.nan if end is None else end) for end in ends)
                texts[measures[key].title] = f"{form(row[key])} ({low} to {high})"
            shown.append(texts)
        left = len(self) - len(shown)
        return table(shown) + (f"<div>and {left:,} more rows</div>" if left else "")

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
    """The results of the study in a folder, finished or not.

    Results are shown without importing the modules of environments, other than those of
    `envs.ToyText`, whose optimum is computed. ``trust`` names modules to import.
    """
    import_trusted(trust)
    there = StudyFolder(Path(folder))
    return Results(there, there.study)
