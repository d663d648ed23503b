"""Episodes until policies are certified over those until they truly are that good."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from optimist.display.style import WIDE, fixed_layout, number, style, wrapped
from optimist.report.certificates import half_by
from optimist.report.data import LEVELS, ReportData
from optimist.report.figures_panels import legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

LEVEL_COLOURS = ("#a6cee3", "#6baed6", "#3182bd", "#08519c", "#08224d")
"""From the widest level to the narrowest, light to dark."""

NEVER = tuple(1.8 * 1.35**j for j in range(len(LEVELS)))
"""Where points of each level are drawn that are not certified by the end: so many times as late."""


@style()
def certificates_figure(data: ReportData) -> "Figure":
    """Draw a point for each world and level, in a panel for each agent with certificates.

    Both episodes are those by which half of the seeds got there. Triangles in the strip at the top
    are not certified by the end of their runs; levels that are not reached at all are left out.

    Parameters
    ----------
    data
        The data of the report, of a study that asks for certificates.
    """
    from optimist.display.figure import Figure

    agents = [a.name for a in data.agents if any(a.name in w.certified for w in data.worlds)]
    if not agents:
        raise ValueError("the report has no certificates to draw: give the study certify=")
    rows = math.ceil(len(agents) / 4)
    columns = math.ceil(len(agents) / rows)
    figure = Figure(figsize=(WIDE, 1.75 * rows + 0.5), layout="constrained")
    grid = figure.add_gridspec(rows, columns)
    most = max(world.length for world in data.worlds)
    low, high = 0.7 * _first(data), 1.4 * NEVER[-1] * most
    marks: dict[str, Line2D] = {}
    for i, agent in enumerate(agents):
        ax = figure.add_subplot(grid[divmod(i, columns)])
        ax.set_title(wrapped(agent, 24), loc="left")
        marks |= _panel(ax, data, agent)
        ax.plot([low, most], [low, most], color="#888888", linewidth=0.7, zorder=1)
        ax.axhspan(1.3 * most, high, color="#f0f0f0", linewidth=0, zorder=0)
        ax.set(xscale="log", yscale="log", xlim=(low, 1.5 * most), ylim=(low, high))
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_formatter(lambda x, _: number(x))
            axis.set_minor_formatter(lambda x, _: "")
        ax.tick_params(labelleft=i % columns == 0, labelbottom=i + columns >= len(agents))
        ax.grid(visible=True)
    figure.supxlabel("episodes until the certified policy truly is that good")
    figure.supylabel("episodes until certified")
    legend(figure, marks)
    return fixed_layout(figure)


def _first(data: ReportData) -> float:
    """The first episode of any point; 1 if there is none."""
    found = np.concatenate([c.truly.ravel() for w in data.worlds for c in w.certified.values()])
    return float(np.nanmin(found)) if not np.isnan(found).all() else 1.0


def _panel(ax: "Axes", data: ReportData, agent: str) -> dict[str, "Line2D"]:
    """Draw the points of an agent. Returns a mark of each level, and of what is not certified."""
    marks = {}
    for j, (level, colour) in enumerate(zip(LEVELS, LEVEL_COLOURS, strict=True)):
        points = [
            (half_by(found.truly[:, j]), half_by(found.certified[:, j]), world.length)
            for world in data.worlds
            if (found := world.certified.get(agent)) is not None
        ]
        known = [(x, y) for x, y, _ in points if not math.isnan(x) and not math.isnan(y)]
        late = [(x, NEVER[j] * n) for x, y, n in points if not math.isnan(x) and math.isnan(y)]
        looks: dict[str, Any] = {"linestyle": "none", "color": colour, "zorder": 3}
        [marks[f"within {100 * level:g}%"]] = ax.plot(
            *_columns(known), marker="o", markersize=3.8, markeredgewidth=0, **looks
        )
        [never] = ax.plot(*_columns(late), marker="^", markersize=3, markeredgewidth=0, **looks)
    return {**marks, "not certified": never}


def _columns(points: list[tuple[float, float]]) -> tuple[list[float], list[float]]:
    return [x for x, _ in points], [y for _, y in points]
