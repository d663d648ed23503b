"""Figures for papers: curves, summary and pictures of optimism, as PDF, PNG or SVG.

Each function takes the data of the report and returns a matplotlib Figure. It uses neither pyplot
nor the user's settings. Missing numbers leave gaps.
"""

import io
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from optimist.checks import FloatArray
from optimist.core import storage
from optimist.display.style import LINE, fixed_layout, look, set_limits, style, wrapped
from optimist.report.data import Curves, ReportData, ShownBand, ShownWorld
from optimist.report.figures_board import imitation_figure, optimism_figure
from optimist.report.figures_certificates import certificates_figure
from optimist.report.figures_panels import legend, panels
from optimist.report.figures_peers import peers_figure
from optimist.report.labels import ALL, VALUES, Quantity

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

QUANTITIES = {q.key: q for labels in ALL for q in labels.quantities}
"""The quantities by key; in figures the two kinds of returns are one."""

MARKS = 4
"""Markers on each curve."""

DATES = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {}}
"""The formats, and the metadata that keep the time of writing out of each."""


@style()
def curves_figure(
    data: ReportData,
    what: str = "regret",
    log: Literal["", "x", "y", "xy"] = "",
    over: Literal["episodes", "steps"] | None = None,
) -> "Figure":
    """Draw the mean over the seeds and its bootstrap band of each agent, one panel per world.

    Parameters
    ----------
    data
        The data of the report.
    what
        The quantity: ``"regret"``, ``"suboptimality"``, ``"matching_error"``,
        ``"average_matching_error"`` or ``"return"``. Suboptimality is a fraction of the optimal
        value and has the same scale in all panels; the others have one scale per panel. Matching
        errors, the distances of a policy's features from the expert's, exist for imitators only,
        and worlds without imitators are left out. Returns exist for Gymnasium environments only.
    log
        The logarithmic axes. With ``"xy"``, regret of order sqrt(K) is a line of slope 1/2. Curves
        and bands have gaps where they are not positive, and are cut off four decades below the
        largest value.
    over
        The x axis, by default what the lengths of the runs are counted in; the other is a mean over
        the seeds.
    """
    plan = _plan(data, what, log, over)
    figure, axes, columns = panels(plan.worlds, height=1.25 if len(plan.worlds) > 1 else 1.8)
    heights = [_y_values(world, what, "y" in log) for world in plan.worlds]
    shared = np.concatenate(heights) if plan.quantity.form == "percent" else None
    lines: dict[str, Line2D] = {}
    for i, (ax, world) in enumerate(zip(axes, plan.worlds, strict=True)):
        lines |= _draw_world(ax, world, plan, heights[i] if shared is None else shared)
        ax.tick_params(labelleft=shared is None or i % columns == 0)
    figure.supxlabel(plan.x_label)
    figure.supylabel(plan.quantity.axis)
    legend(figure, {agent: lines[agent] for agent in plan.agents if agent in lines})
    return fixed_layout(figure)


def draw_curves(
    ax: "Axes",
    data: ReportData,
    what: str = "regret",
    log: Literal["", "x", "y", "xy"] = "",
    over: Literal["episodes", "steps"] | None = None,
) -> "Axes":
    """Draw the panel of one world of `curves_figure` into given axes."""
    plan = _plan(data, what, log, over)
    if len(plan.worlds) > 1:
        raise ValueError(f"ax= takes the panel of one world, of {len(plan.worlds)}: give world=")
    [world] = plan.worlds
    lines = _draw_world(ax, world, plan, _y_values(world, what, "y" in log))
    ax.set(title=world.name, xlabel=plan.x_label, ylabel=plan.quantity.axis)
    ax.legend(lines.values(), lines)
    return ax


class _Plan(NamedTuple):
    """The curves to draw, and their style."""

    worlds: list[ShownWorld]
    agents: list[str]
    quantity: Quantity
    log: str
    over: str

    @property
    def counted(self) -> str:
        """The unit of the lengths of the runs."""
        return f"{self.worlds[0].labels.by}s"

    @property
    def x_label(self) -> str:
        name = "episode" if self.over == "episodes" else "steps"
        return name if self.over == self.counted else f"{name}, mean over the seeds"


def _plan(data: ReportData, what: str, log: str, over: str | None) -> _Plan:
    if log not in ("", "x", "y", "xy"):
        raise ValueError(f"log must be '', 'x', 'y' or 'xy'; got {log!r}")
    if over not in ("episodes", "steps", None):
        raise ValueError(f"over must be 'episodes' or 'steps'; got {over!r}")
    quantity, worlds = _worlds_with(data, what)
    agents = [agent.name for agent in data.agents]
    return _Plan(worlds, agents, quantity, log, over or f"{worlds[0].labels.by}s")


def _draw_world(
    ax: "Axes", world: ShownWorld, plan: _Plan, heights: FloatArray
) -> dict[str, "Line2D"]:
    """Draw the curves of a world; its y axis fits these numbers. Returns the line of each agent."""
    what, log, agents = plan.quantity.key, plan.log, plan.agents
    lines: dict[str, Line2D] = {}
    for j, agent in enumerate(agents):
        curves = world.curves.get(agent)
        if curves and len(curves.episode) and what in curves.of:
            x = _drawable(_x(curves, plan.over), "x" in log)
            lines[agent] = _line(ax, x, curves.of[what].mean, log, j, len(agents))
    ends = [world.length] if plan.over == plan.counted else []
    xs = [_drawable(_x(curves, plan.over), "x" in log) for curves in world.curves.values()]
    set_limits(ax, "x", _finite([np.array(ends, dtype=float), *xs]), "x" in log)
    set_limits(ax, "y", heights, "y" in log, margin=0.04, zero=not world.labels.higher)
    ax.grid(visible=True)
    if not _y_values(world, what, "y" in log).size:
        ax.text(0.5, 0.5, "nothing to draw", transform=ax.transAxes, ha="center")
    return lines


def _worlds_with(data: ReportData, what: str) -> tuple[Quantity, list[ShownWorld]]:
    """A quantity, and the worlds in which it is measured."""
    if what not in QUANTITIES:
        raise ValueError(f"what must be one of {', '.join(map(repr, QUANTITIES))}; got {what!r}")
    if not data.worlds:
        raise ValueError("the report must have at least one world to draw; it has none")
    measured = {key: [w for w in data.worlds if _is_measured(w, key)] for key in QUANTITIES}
    if not measured[what]:
        there = ", ".join(repr(key) for key, worlds in measured.items() if worlds)
        raise ValueError(f"what must be measured in a world of the report: {there}; got {what!r}")
    return QUANTITIES[what], measured[what]


def _is_measured(world: ShownWorld, what: str) -> bool:
    """Whether a quantity is that of a world; matching errors need an imitator."""
    if "matching_error" in what:
        return any(what in curves.of for curves in world.curves.values())
    return world.labels.quantity(what) is not None


def _x(curves: Curves, over: str) -> FloatArray:
    return np.asarray(curves.episode if over == "episodes" else curves.steps, dtype=np.float64)


def _line(
    ax: "Axes", x: FloatArray, band: ShownBand, log: str, agent: int, agents: int
) -> "Line2D":
    mean, low, high = (_drawable(y, "y" in log) for y in (band.value, band.low, band.high))
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
def summary_figure(data: ReportData) -> "Figure":
    """Draw the average suboptimality of each agent with its interval, one panel per world.

    Suboptimality is a fraction of the optimal value. All panels share one axis, which is
    logarithmic if all numbers are positive and span more than two decades.
    """
    worlds = [world for world in data.worlds if world.labels is VALUES]
    agents = [agent.name for agent in data.agents]
    names = [wrapped(agent, 26) for agent in agents]
    pitch = 1.1 * LINE * max(name.count("\n") + 1 for name in names)
    figure, axes, columns = panels(worlds, height=pitch * len(names) + 0.25)
    scores = [score for world in worlds for score in world.scores.values()]
    numbers = _finite([np.array([e.value, e.low, e.high]) for e in scores])
    log = bool(numbers.size and numbers.min() > 0 and numbers.max() > 100 * numbers.min())
    for i, (ax, world) in enumerate(zip(axes, worlds, strict=True)):
        for agent, score in world.scores.items():
            y = agents.index(agent)
            looks = look(y)
            ax.plot([score.low, score.high], [y, y], color=looks["color"], linewidth=1.2)
            ax.plot(score.value, y, color=looks["color"], marker=looks["marker"], markersize=4)
        set_limits(ax, "x", numbers, log, 0.06)
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
    data: ReportData, folder: str | Path, formats: Sequence[str] = ("pdf", "png")
) -> list[Path]:
    """Write all figures of a report into a folder and return their paths.

    The files are called by the quantities that are measured, as regret, matching-error or return;
    summary, where an optimum is known; peers, if the study has a subject; certificates, if it has
    any; optimism-WORLD for each world with a picture, of its first run with bonuses; and
    imitation-WORLD-AGENT of imitators.
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


def _figures(data: ReportData) -> Iterator[tuple[str, "Figure"]]:
    """Draw the figures one at a time; yields the name of the file, then the figure."""
    for key, quantity in QUANTITIES.items():
        if any(_is_measured(world, key) for world in data.worlds):
            yield key.replace("_", "-"), curves_figure(data, key, quantity.log)
    if any(world.labels is VALUES for world in data.worlds):
        yield "summary", summary_figure(data)
    if data.comparison and data.comparison.worlds:
        yield "peers", peers_figure(data)
    if any(world.certified for world in data.worlds):
        yield "certificates", certificates_figure(data)
    taken: set[str] = set()
    for world in data.worlds:
        runs = world.picture.runs if world.picture else ()
        if runs:
            run = next((run for run in runs if run.bonus is not None), runs[0])
            yield _file_name(f"optimism-{world.name}", taken), optimism_figure(world, run.agent)
        for agent in dict.fromkeys(run.agent for run in runs if run.difference is not None):
            called = _file_name(f"imitation-{world.name}-{agent}", taken)
            yield called, imitation_figure(world, agent)


def _file_name(wanted: str, taken: set[str]) -> str:
    """An unused name that any file system and LaTeX accept."""
    plain = re.sub(r"[^A-Za-z0-9]+", "-", wanted)[:80].strip("-")
    name, i = plain, 1
    while name.lower() in taken:
        i += 1
        name = f"{plain}-{i}"
    taken.add(name.lower())
    return name


def _drawable(numbers: FloatArray, log: bool) -> FloatArray:
    """The numbers, nan where one cannot be shown on a log axis."""
    return np.where(numbers > 0, numbers, np.nan) if log else numbers


def _finite(parts: list[FloatArray]) -> FloatArray:
    """The finite numbers of some arrays."""
    numbers: FloatArray = np.concatenate([np.empty(0), *parts])
    return numbers[np.isfinite(numbers)]


def _y_values(world: ShownWorld, what: str, log: bool) -> FloatArray:
    """All y values in the panel of a world."""
    bands = [curves.of[what].mean for curves in world.curves.values() if what in curves.of]
    return _finite([_drawable(y, log) for b in bands for y in (b.value, b.low, b.high)])
