"""Display of a history: a card in a notebook, and a curve over the episodes."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal, overload

import numpy as np

from optimist.checks import FloatArray, IntArray
from optimist.display.card import card
from optimist.display.numbers import number, percent
from optimist.display.svg import sparkline

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WINDOWS = 200
"""The number of windows whose means are plotted for a column."""

LIGHT = 2_000_000
"""Policies of no more numbers in all are evaluated to be shown."""

Log = Literal["", "x", "y", "xy"]


def cumulative(episode: IntArray, suboptimality: FloatArray) -> FloatArray:
    """Sums over all episodes up to each; missing episodes are interpolated linearly.

    Examples
    --------
    >>> cumulative(np.array([1, 2, 4]), np.array([1.0, 1.0, 0.0]))      # episode 3 counts as 0.5
    array([1. , 2. , 2.5])
    """
    steps, rise = np.diff(episode), np.diff(suboptimality)
    # Each piece is the sum over j = 1, ..., n of s + rise j / n.
    pieces = steps * suboptimality[:-1] + rise * (steps + 1) / 2
    return np.cumsum(np.concatenate([suboptimality[:1], pieces]))


class Plotted:
    """Base class of histories that can be shown and plotted.

    Attributes
    ----------
    QUANTITIES
        What `plot` draws besides columns, and the labels of their axes.
    EXACT
        Those that are computed from the policies that were kept.
    """

    QUANTITIES: ClassVar[dict[str, str]] = {
        "regret": "cumulative regret",
        "suboptimality": "relative suboptimality",
        "matching_error": "matching error",
        "return": "return",
    }
    EXACT = ("regret", "suboptimality", "matching_error")

    columns: Mapping[str, Any]
    first: int

    def _repr_html_(self) -> str:
        steps = self.columns["steps"]
        facts = {"episodes": f"{len(steps):,}", "steps": f"{steps.sum():,}"}
        if (shown := self.course) is None:
            return card(type(self).__name__, facts)
        name, y = shown
        means = {name: y.mean(), "in the last tenth": y[-len(y) // 10 :].mean()}
        share = name == self.QUANTITIES["suboptimality"]
        facts |= {n: f"{percent(x)}%" if share else number(x) for n, x in means.items()}
        return card(type(self).__name__, facts, sparkline(y, f"{name} by episode"))

    @property
    def course(self) -> tuple[str, FloatArray] | None:
        """The curve that a card shows, with its name; None if it takes long to compute."""
        what, kept = self.main, self.columns.get("policies")
        if what in self.EXACT and (kept is None or not 0 < kept.size <= LIGHT):
            return None
        what = "suboptimality" if what == "regret" else what
        y = self.curve(what)[1]
        return (self.QUANTITIES.get(what, what), y) if len(y) else None

    @property
    def main(self) -> str:
        """The quantity that is plotted by default."""
        if "reward" not in self.columns:
            return "steps"
        return "regret" if "policies" in self.columns else "return"

    def losses(self) -> tuple[FloatArray, float]:
        """The exact regrets of the policies that were kept, [n], and the comparator's value."""
        raise NotImplementedError

    def curve(self, what: str) -> tuple[IntArray, FloatArray]:
        """Episodes, counted from 1, and a quantity at each of them: what `plot` draws."""
        if what in ("regret", "suboptimality"):
            (lost, value), at = self.losses(), self.columns["evaluated"] + 1
            return at, cumulative(at, lost) if what == "regret" else lost / (value or 1.0)
        column = self.columns.get("reward" if what == "return" else what)
        there = {n: c for n, c in self.columns.items() if np.ndim(c) == 1 and n != "evaluated"}
        if column is None or (what != "return" and what not in there):
            names = ", ".join(map(repr, there))
            raise ValueError(f"what must be {self.main!r} or a column: {names}; got {what!r}")
        n = len(column)
        ends = np.unique(np.linspace(0, n, min(n, WINDOWS) + 1).astype(np.int64))
        sums = np.append(0.0, np.cumsum(column, dtype=np.float64))[ends]
        return self.first + ends[1:], np.diff(sums) / np.diff(ends)

    @overload
    def plot(
        self, what: str | None = ..., log: Log = ..., *, ax: None = ..., **line: Any
    ) -> "Figure": ...
    @overload
    def plot(
        self, what: str | None = ..., log: Log = ..., *, ax: "Axes", **line: Any
    ) -> "Axes": ...
    def plot(
        self,
        what: str | None = None,
        log: Log = "",
        *,
        ax: "Axes | None" = None,
        **line: Any,
    ) -> "Figure | Axes":
        """Draw a quantity over the episodes as a matplotlib figure.

        Parameters
        ----------
        what
            In finite worlds "regret", summed over the episodes, or "suboptimality", as a fraction
            of the comparator's value; of `FraIL` there "matching_error". Elsewhere "return". Or any
            column: its means over 200 windows. By default the first of these that there is.
        log
            The logarithmic axes.
        ax
            The axes to draw into; they are then returned.
        line
            Further properties of matplotlib's line, such as ``label``.
        """
        from optimist.display.curve import draw_curve

        what = self.main if what is None else what
        x, y = self.curve(what)
        name = self.QUANTITIES.get(what, what.replace("_", " "))
        drawn: Figure | Axes = draw_curve(x, y, name, log, ax, **line)
        return drawn
