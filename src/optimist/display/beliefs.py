"""The estimates of an agent on the map of its world: a board for each quantity."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from optimist.checks import FloatArray
from optimist.display.boards import Map, draw_row
from optimist.display.style import WIDE, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LINEAR = "value"
"""The quantity whose scale is linear, and whose board has the arrows of the policy."""

TITLE, BAR, TICKS, GAP = 0.2, 0.07, 0.45, 0.06
"""Inches: the height of a title, the width of a colour bar and of its ticks, and between both."""

FLAT = 0.35
"""Boards that are flatter than this stand one above the other."""

ROOM, CELL = 2.4, 0.45
"""The most inches that a board is high, and that a cell is."""


@style()
def boards_figure(world: Map, values: Mapping[str, FloatArray], policy: FloatArray) -> "Figure":
    """Draw a board for each quantity, with a scale of its own."""
    from optimist.display.figure import Figure

    n = len(values)
    across = max(map(len, world.board))
    tall = len(world.board) / across
    columns, rows = (1, n) if tall < FLAT else (n, 1)
    wide = min(WIDE / columns - BAR - TICKS - GAP, ROOM / tall, CELL * across)
    high = wide * tall
    cell, line = wide + BAR + TICKS + GAP, high + TITLE
    figure = Figure(figsize=(columns * cell, rows * line))
    for i, (name, numbers) in enumerate(values.items()):
        left = i * cell if columns > 1 else 0.0
        bottom = 0.03 if columns > 1 else (n - 1 - i) * line + 0.03
        size = np.array([columns * cell, rows * line, columns * cell, rows * line])
        ax = figure.add_axes(tuple(np.array([left, bottom, wide, high]) / size))
        bar = figure.add_axes(tuple(np.array([left + wide + GAP, bottom, BAR, high]) / size))
        ax.set_title(name)
        _draw(ax, bar, world, name, numbers, policy)
    return figure


@style()
def draw_board(ax: "Axes", world: Map, name: str, values: FloatArray, policy: FloatArray) -> "Axes":
    """Draw the board of one quantity into given axes."""
    ax.set_title(name)
    bar = ax.inset_axes((1.03, 0, 0.05, 1))
    _draw(ax, bar, world, name, values, policy)
    return ax


def _draw(
    ax: "Axes", bar: "Axes", world: Map, name: str, values: FloatArray, policy: FloatArray
) -> None:
    arrows = [policy] if name == LINEAR else []
    figure: Any = ax.get_figure(root=True)
    draw_row(figure, [ax], bar, world, values[None], arrows, log=name != LINEAR)
