"""A panel for each world, and a legend above them all."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from optimist.display.style import LETTERS_AN_INCH, LINE, NARROW, WIDE, wrapped
from optimist.report.data import ShownWorld

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

ONE_SEED = "one seed"


def panels(worlds: Sequence[ShownWorld], height: float) -> tuple["Figure", list["Axes"], int]:
    """A figure with a panel for each world, its axes, and the number of columns.

    A single panel is as wide as a column of a two-column paper; several share the width of a page,
    at most four in a row. The title of a panel is the name of the world, and notes if it has one
    seed only. ``height`` is that of a panel in inches.
    """
    from optimist.display.figure import Figure

    if not worlds:
        raise ValueError("the report must have at least one world to draw; it has none")
    rows = math.ceil(len(worlds) / 4)
    columns = math.ceil(len(worlds) / rows)
    width = NARROW if columns == 1 else WIDE
    letters = int(LETTERS_AN_INCH * (width / columns - 0.4))
    single = [world.seeds == 1 for world in worlds]
    names = [
        wrapped(world.name, letters - len(ONE_SEED) * one)
        for world, one in zip(worlds, single, strict=True)
    ]
    height += LINE * max(name.count("\n") + 1 for name in names)
    figure = Figure(figsize=(width, rows * height + 0.3), layout="constrained")
    grid = figure.add_gridspec(rows, columns)
    axes = [figure.add_subplot(grid[divmod(i, columns)]) for i in range(len(worlds))]
    for ax, name, one in zip(axes, names, single, strict=True):
        ax.set_title(name, loc="left")
        ax.set_title(ONE_SEED if one else "", loc="right", fontsize=6.5, color="#555555")
    return figure, axes, columns


def legend(figure: "Figure", lines: dict[str, "Line2D"]) -> None:
    """Add a legend above all panels, in as few rows as fit, and make room for it."""
    width, height = figure.get_size_inches()
    names = [wrapped(name, int(LETTERS_AN_INCH * (width - 0.6))) for name in lines]
    for rows in range(1, len(names) + 1):
        columns = math.ceil(len(names) / rows)
        drawn = figure.legend(lines.values(), names, ncols=columns, loc="outside upper center")
        box = drawn.get_window_extent()
        if columns == 1 or box.width <= width * figure.dpi:
            figure.set_figheight(height + box.height / figure.dpi)
            return
        drawn.remove()
