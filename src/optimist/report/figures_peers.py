"""A subject against the best of its peers, one row per world on a logarithmic axis."""

import math
import textwrap
from typing import TYPE_CHECKING

from optimist.display.style import WIDE, fixed_layout, look, number, style, wrapped
from optimist.report.data import Compared, Comparison, ReportData
from optimist.report.figures_panels import legend
from optimist.report.ratios import any_beyond, beyond, grouped, limits

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

ROW = 0.165
"""Height of a row in inches."""

CAPTION = (
    "{subject} has one setting in all worlds; every peer has the best setting of its grid in each "
    "world, chosen in hindsight. Filled: at most {within:g} times the best peer, by the means over "
    "the seeds. Bars: {level:g}% intervals over the seeds."
)
BEYOND = " +n: n peers lie beyond the axis."
FAILS = " Fails: at the end it loses over {fails:.0%} of what uniform play loses, a peer under"
FAILS += " {succeeds:.0%}."


@style()
def peers_figure(data: ReportData) -> "Figure":
    """Draw the ratios of the subject and of every peer to the best peer, one row per world.

    The subject has one setting, and an interval; each peer has its best setting in the world,
    chosen in hindsight. The axis is logarithmic, with lines at 1 and at the factor that counts as
    close. A row without a ratio, because the best peer loses nothing, says so. Worlds held out
    come last, under a heading.

    Parameters
    ----------
    data
        The data of the report, of a study that has a subject.
    """
    from matplotlib.ticker import LogLocator, NullFormatter

    from optimist.display.figure import Figure

    peers = data.comparison
    if peers is None or not peers.worlds:
        raise ValueError("the report has no comparison with peers: give the study a subject")
    rows = _rows(peers)
    figure = Figure(figsize=(WIDE, ROW * len(rows) + 0.9), layout="constrained")
    ax = figure.add_subplot()
    low, high = limits(peers)
    ax.set(xscale="log", xlim=(low, high), ylim=(len(rows) - 0.5, -0.5))
    ax.axvline(1, color="#555555", linewidth=0.8, zorder=1)
    ax.axvline(peers.within, color="#555555", linewidth=0.6, linestyle=(0, (3, 2)), zorder=1)
    for y, (_, world) in enumerate(rows):
        if world:
            _row(ax, y, world, peers, high)
    ax.set_yticks(range(len(rows)), [name for name, _ in rows])
    for label, (_, world) in zip(ax.get_yticklabels(), rows, strict=True):
        label.set_fontweight("normal" if world else "bold")
    ax.tick_params(axis="y", length=0)
    ax.grid(visible=True)
    ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5), numticks=12))
    ax.xaxis.set_major_formatter(lambda x, _: number(x))
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.set_xlabel("average suboptimality, as a multiple of the best peer's")
    figure.supxlabel(textwrap.fill(_caption(data, peers, high), 150), fontsize=7, color="#555555")
    marks = {name: _mark(ax, i, math.nan, math.nan) for i, name in enumerate(peers.families)}
    legend(figure, marks)
    return fixed_layout(figure)


def _rows(peers: Comparison) -> list[tuple[str, Compared | None]]:
    """The rows from the top: the label, and the world unless it is a heading."""
    rows: list[tuple[str, Compared | None]] = []
    for heading, worlds in grouped(peers):
        rows += [(heading, None)] if heading else []
        rows += [(wrapped(world.name, 60), world) for world in worlds]
    return rows


def _row(ax: "Axes", y: int, world: Compared, peers: Comparison, high: float) -> None:
    ratio = world.ratio
    if math.isnan(ratio.value):
        ax.text(1, y, "  no ratio: the best peer loses nothing", va="center", fontsize=6.5)
    for i, name in reversed(list(enumerate(peers.families))):
        family = world.families.get(name)
        if name != peers.subject and family is not None and family.ratio <= high:
            _mark(ax, i, family.ratio, y)
    if not math.isnan(ratio.value):
        colour = look(0)["color"]
        if not math.isnan(ratio.low):
            ends = [max(ratio.low, ax.get_xlim()[0]), ratio.high]  # zero is off the axis
            ax.plot(ends, [y, y], color=colour, alpha=0.45, linewidth=2.4, zorder=2)
        _mark(ax, 0, ratio.value, y, hollow=world.verdict == "behind")
    notes = ["fails"] if world.fails_alone else []
    outside = len(beyond(world, high))
    notes += [f"+{outside}"] if outside else []
    ax.annotate(
        " ".join(notes),
        (1, y),
        xytext=(3, 0),
        xycoords=("axes fraction", "data"),
        textcoords="offset points",
        va="center",
        fontsize=6.5,
        color="#555555",
    )


def _mark(ax: "Axes", i: int, x: float, y: float, hollow: bool = False) -> "Line2D":
    """Draw the marker of a family; the first is the subject, whose marker is large."""
    looks = look(i)
    [line] = ax.plot(
        [x],
        [y],
        linestyle="none",
        marker=looks["marker"],
        color=looks["color"],
        markersize=4 if i else 5.5,
        markerfacecolor="white" if hollow else looks["color"],
        markeredgecolor="white" if i else looks["color"],
        markeredgewidth=0.3 if i else 1.1,
        zorder=3 if i else 5,
    )
    return line


def _caption(data: ReportData, peers: Comparison, high: float) -> str:
    text = CAPTION
    text += BEYOND if any_beyond(peers, high) else ""
    fails = any(world.fails_alone for world in peers.worlds)
    text += FAILS if fails else ""
    return text.format(**vars(peers), level=100 * data.level)
