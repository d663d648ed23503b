"""Figures for papers: curves, summary and pictures of optimism, as PDF, PNG or SVG.

Each function takes the data of the report, a plain dictionary, and returns a matplotlib Figure. It
uses neither pyplot nor the user's settings. Missing numbers are None and leave gaps.
"""

import io
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from optimist.checks import FloatArray
from optimist.core import storage
from optimist.report.figures_grid import optimism_figure
from optimist.report.figures_imitation import imitation_figure
from optimist.report.figures_peers import peers_figure
from optimist.report.figures_style import (
    LINE,
    fixed_layout,
    legend,
    look,
    number,
    panels,
    style,
    wrapped,
)
from optimist.report.kinds import with_imitators, with_losses, with_returns, worlds_with

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

LABELS = {
    "regret": "cumulative regret",
    "suboptimality": "relative suboptimality",
    "matching_error": "matching error",
    "average_matching_error": "average matching error",
    "return": "return",
}
"""Labels of the y axis; suboptimality is relative to the optimal value."""

DECADES = 4
"""Decades that a logarithmic axis shows below its largest value. Without a limit the rounding
errors of an exact optimum would stretch the axis."""

MARKS = 4
"""Markers on each curve."""

DATES = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {}}
"""The formats, and the metadata that keep the time of writing out of each."""


@style()
def curves_figure(
    data: dict[str, Any],
    what: Literal[
        "regret", "suboptimality", "matching_error", "average_matching_error", "return"
    ] = "regret",
    log: Literal["", "x", "y", "xy"] = "",
) -> "Figure":
    """Draw the mean over the seeds and its bootstrap band of each agent, one panel per world.

    Parameters
    ----------
    data
        The data of the report.
    what
        The quantity. Suboptimality is a fraction of the optimal value and has the same scale in
        all panels; the others have one scale per panel. Matching errors, the distances of a
        policy's features from the expert's, exist for imitators only, and worlds without imitators
        are left out. Returns exist for Gymnasium environments only.
    log
        The logarithmic axes. With ``"xy"``, regret of order sqrt(K) is a line of slope 1/2. Curves
        and bands have gaps where they are not positive, and are cut off four decades below the
        largest value.

    Examples
    --------
    >>> regret = {"mean": [0.5, 1.0, 1.2], "low": [0.4, 0.8, 0.9], "high": [0.6, 1.2, 1.5]}
    >>> curves = {"R-max": {"episode": [1, 2, 3], "regret": regret}}
    >>> world = {"name": "Maze", "seeds": 5, "episodes": 3, "curves": curves}
    >>> figure = curves_figure({"agents": [{"name": "R-max"}], "worlds": [world]})
    >>> figure.axes[0].lines[0].get_ydata()
    array([0.5, 1. , 1.2])
    """
    if what not in LABELS:
        raise ValueError(f"what must be one of {', '.join(map(repr, LABELS))}; got {what!r}")
    if log not in ("", "x", "y", "xy"):
        raise ValueError(f"log must be '', 'x', 'y' or 'xy'; got {log!r}")
    agents = [agent["name"] for agent in data["agents"]]
    worlds = worlds_with(data, what)
    figure, axes, columns = panels(worlds, height=1.25 if len(worlds) > 1 else 1.8)
    heights = [_y_values(world, what, "y" in log) for world in worlds]
    shared = np.concatenate(heights) if what == "suboptimality" else None
    lines: dict[str, Line2D] = {}
    for i, (ax, world) in enumerate(zip(axes, worlds, strict=True)):
        for j, agent in enumerate(agents):
            curve = world["curves"].get(agent)
            if curve and curve["episode"] and what in curve:
                lines[agent] = _curve(ax, curve, what, log, j, len(agents))
        _set_limits(ax, "x", _x_values(world, "x" in log), "x" in log)
        shown = heights[i] if shared is None else shared
        _set_limits(ax, "y", shown, "y" in log, margin=0.04, zero=what != "return")
        ax.tick_params(labelleft=shared is None or i % columns == 0)
        ax.grid(visible=True)
        if not heights[i].size:
            ax.text(0.5, 0.5, "nothing to draw", transform=ax.transAxes, ha="center")
    figure.supxlabel("episode")
    figure.supylabel(LABELS[what])
    legend(figure, {agent: lines[agent] for agent in agents if agent in lines})
    return fixed_layout(figure)


def _curve(
    ax: "Axes", curve: dict[str, Any], what: str, log: str, agent: int, agents: int
) -> "Line2D":
    x = _drawable(curve["episode"], "x" in log)
    mean, low, high = (_drawable(curve[what][key], "y" in log) for key in ("mean", "low", "high"))
    looks = look(agent)
    if np.isfinite(low + high).any():
        shade = min(0.16, 0.8 / agents)  # lines stay visible under many bands
        ax.fill_between(x, low, high, color=looks["color"], alpha=shade, linewidth=0)
    [line] = ax.plot(
        x,
        mean,
        **looks,
        linewidth=1.1,
        markersize=3.2,
        markeredgecolor="white",
        markeredgewidth=0.3,
        markevery=_marker_indices(np.log(x) if "x" in log else x, (agent + 0.5) / agents),
        zorder=3 - agent / agents,  # the first agent lies on top
    )
    return line


def _marker_indices(x: FloatArray, turn: float) -> list[int]:
    """Indices of evenly spaced points for markers; ``turn`` shifts those of each agent."""
    if not np.isfinite(x).any():
        return []
    wanted = np.nanmin(x) + (np.nanmax(x) - np.nanmin(x)) * (np.arange(MARKS) + turn) / MARKS
    return [int(i) for i in np.unique(np.nanargmin(np.abs(x - wanted[:, None]), axis=1))]


@style()
def summary_figure(data: dict[str, Any]) -> "Figure":
    """Draw the average suboptimality of each agent with its interval, one panel per world.

    Suboptimality is a fraction of the optimal value. All panels share one axis, which is
    logarithmic if all numbers are positive and span more than two decades.
    """
    worlds, agents = with_losses(data), [agent["name"] for agent in data["agents"]]
    names = [wrapped(agent, 26) for agent in agents]
    pitch = 1.1 * LINE * max(name.count("\n") + 1 for name in names)
    figure, axes, columns = panels(worlds, height=pitch * len(names) + 0.25)
    estimates = [row["average"] for world in worlds for row in world["rows"]]
    numbers = _finite([_drawable([e["value"], e["low"], e["high"]]) for e in estimates])
    log = bool(numbers.size and numbers.min() > 0 and numbers.max() > 100 * numbers.min())
    for i, (ax, world) in enumerate(zip(axes, worlds, strict=True)):
        for row in world["rows"]:
            value, low, high = _drawable([row["average"][key] for key in ("value", "low", "high")])
            y = agents.index(row["agent"])
            looks = look(y)
            ax.plot([low, high], [y, y], color=looks["color"], linewidth=1.2)
            ax.plot(value, y, color=looks["color"], marker=looks["marker"], markersize=4)
        _set_limits(ax, "x", numbers, log, 0.06)
        ax.set_yticks(range(len(names)), names if i % columns == 0 else [""] * len(names))
        ax.set_ylim(len(names) - 0.5, -0.5)
        ax.tick_params(axis="y", length=0)
        ax.grid(visible=True)
    figure.supxlabel("average relative suboptimality")
    return fixed_layout(figure)


def save_figure(figure: "Figure", path: str | Path) -> None:
    """Write a figure as .pdf, .svg or .png, atomically and with the same bytes each time."""
    kind = Path(path).suffix[1:]
    if kind not in DATES:
        raise ValueError(f"path must end in .pdf, .svg or .png; got {path}")
    buffer = io.BytesIO()
    with style():
        figure.savefig(buffer, format=kind, metadata=DATES[kind])
    storage.write_bytes(path, buffer.getvalue())


def save_figures(
    data: dict[str, Any], folder: str | Path, formats: Sequence[str] = ("pdf", "png")
) -> list[Path]:
    """Write all figures of a report into a folder and return their paths.

    The files are called regret, suboptimality and summary, or return for Gymnasium environments;
    peers, if the study has a subject; and optimism-WORLD for each world with a picture, of its
    first run with bonuses. Imitators add matching-error, average-matching-error, and
    imitation-WORLD-AGENT for each world with a picture.
    """
    if not set(formats) <= set(DATES):
        raise ValueError(f"formats must be some of {', '.join(DATES)}; got {formats!r}")
    Path(folder).mkdir(parents=True, exist_ok=True)
    written = []
    for name, figure in _figures(data):
        for kind in formats:
            written.append(Path(folder) / f"{name}.{kind}")
            save_figure(figure, written[-1])
    return written


def _figures(data: dict[str, Any]) -> Iterator[tuple[str, "Figure"]]:
    """Draw the figures one at a time; yields the name of the file, then the figure."""
    if with_losses(data) or not data["worlds"]:
        yield "regret", curves_figure(data, "regret")
        yield "suboptimality", curves_figure(data, "suboptimality", log="x")
        yield "summary", summary_figure(data)
    if data.get("peers") and data["peers"]["worlds"]:
        yield "peers", peers_figure(data)
    if with_returns(data):
        yield "return", curves_figure(data, "return")
    if with_imitators(data):
        yield "matching-error", curves_figure(data, "matching_error", log="x")
        yield "average-matching-error", curves_figure(data, "average_matching_error", log="xy")
    taken: set[str] = set()
    for world in data["worlds"]:
        name, only = world["name"], {"worlds": [world]}
        runs = world["picture"]["runs"] if world["picture"] else []
        if runs:
            run = next((run for run in runs if run["bonus"]), runs[0])
            yield _file_name(f"optimism-{name}", taken), optimism_figure(only, name, run["agent"])
        for agent in dict.fromkeys(run["agent"] for run in runs if run["difference"]):
            called = _file_name(f"imitation-{name}-{agent}", taken)
            yield called, imitation_figure(only, name, agent)


def _file_name(wanted: str, taken: set[str]) -> str:
    """An unused name that any file system and LaTeX accept."""
    plain = re.sub(r"[^A-Za-z0-9]+", "-", wanted)[:80].strip("-")
    name, i = plain, 1
    while name.lower() in taken:
        i += 1
        name = f"{plain}-{i}"
    taken.add(name.lower())
    return name


def _drawable(values: Sequence[float | None], log: bool = False) -> FloatArray:
    """The values as an array, nan where one is missing or cannot be shown on a log axis."""
    numbers = np.array(values, dtype=np.float64)
    return np.where(numbers > 0, numbers, np.nan) if log else numbers


def _finite(parts: list[FloatArray]) -> FloatArray:
    """The finite numbers of some arrays."""
    numbers: FloatArray = np.concatenate([np.empty(0), *parts])
    return numbers[np.isfinite(numbers)]


def _y_values(world: dict[str, Any], what: str, log: bool) -> FloatArray:
    """All y values in the panel of a world."""
    curves = [curve[what] for curve in world["curves"].values() if what in curve]
    return _finite([_drawable(c[key], log) for c in curves for key in ("mean", "low", "high")])


def _x_values(world: dict[str, Any], log: bool) -> FloatArray:
    """All episodes in the panel of a world, including the last of its runs."""
    curves = world["curves"].values()
    return _finite(
        [_drawable([world["episodes"]], log), *(_drawable(c["episode"], log) for c in curves)]
    )


def _set_limits(
    ax: "Axes", which: str, numbers: FloatArray, log: bool, margin: float = 0.0, zero: bool = True
) -> None:
    """Fit the x or the y axis to these numbers; a linear axis includes 0 if ``zero``."""
    from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

    axis = getattr(ax, f"{which}axis")
    if log:
        high = numbers.max(initial=0) or 1.0
        low = max(numbers.min(initial=high), high / 10**DECADES)
        beyond = (high / low) ** margin if low < high else 2.0
        ax.set(**{f"{which}scale": "log", f"{which}lim": (low / beyond, high * beyond)})
        axis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 100 * low else (1,), numticks=6))
        axis.set_minor_formatter(NullFormatter())
    else:
        ends = numbers if numbers.size and not zero else np.append(numbers, 0.0)
        low, high = ends.min(), ends.max()
        high = high if high > low else low + 1.0
        beyond = margin * (high - low)
        ax.set(**{f"{which}lim": (low - beyond, high + beyond)})
        axis.set_major_locator(MaxNLocator(4 if which == "x" else 5, steps=(1, 2, 5, 10)))
    axis.set_major_formatter(number)
