"""Style of the figures: widths, fonts, panels, and colours that also differ in grey."""

import math
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from optimist.report.data import ShownWorld

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

NARROW, WIDE = 3.25, 6.75
"""Widths in inches: a column of a two-column paper, and the text of a one-column paper."""

STYLE = Path(__file__).with_name("figures.mplstyle")
"""The style sheet of matplotlib."""

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Okabe and Ito's palette in the order of the page, without yellow, which is faint on paper."""

DASHES: tuple[Any, ...] = (
    "solid",
    (0, (4, 1.6)),
    (0, (1, 1.3)),
    (0, (5, 1.4, 1, 1.4)),
    (0, (9, 1.8)),
    (0, (4, 1.3, 1, 1.3, 1, 1.3)),
)

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">", "p", "h")

LETTERS_AN_INCH, LINE = 16, 0.13
"""Approximate letters per inch, by which names are wrapped, and height of a line in inches."""

ONE_SEED = "one seed"


@contextmanager
def style() -> Iterator[None]:
    """Apply the style of the figures; the user's settings are restored afterwards."""
    from matplotlib.style import context

    with context(["default", STYLE]):
        yield


def look(i: int) -> dict[str, Any]:
    """Colour, dash and marker of the i-th agent.

    When colours repeat, dashes are shifted by three, so that any two of twelve agents differ in
    dash or lightness; further agents differ in their markers.
    """
    turn, colour = divmod(i, len(COLOURS))
    return {
        "color": COLOURS[colour],
        "linestyle": DASHES[(colour + 3 * turn) % len(DASHES)],
        "marker": MARKERS[i % len(MARKERS)],
    }


def number(x: float, _: int | None = None) -> str:
    """Format a number for a tick; matplotlib passes its position as well.

    Examples
    --------
    >>> [number(x) for x in (0, 0.05, 1.0, 1500, 20_000, 3e6)]
    ['0', '0.05', '1', '1.5k', '20k', '3M']
    """
    units = ((1e9, "G"), (1e6, "M"), (1e3, "k"), (0, ""))
    unit, letter = next(pair for pair in units if abs(x) >= pair[0])
    return f"{x / (unit or 1):.4g}{letter}".replace("-", "\N{MINUS SIGN}")


def panels(worlds: Sequence[ShownWorld], height: float) -> tuple["Figure", list["Axes"], int]:
    """A figure with a panel for each world, its axes, and the number of columns.

    A single panel is as wide as a column of a two-column paper; several share the width of a page,
    at most four in a row. The title of a panel is the name of the world, and notes if it has one
    seed only. ``height`` is that of a panel in inches.
    """
    from matplotlib.figure import Figure

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


def wrapped(name: str, letters: int) -> str:
    """A name in lines of at most this many letters."""
    return textwrap.fill(name, letters)


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


def fixed_layout(figure: "Figure") -> "Figure":
    """Fix the layout of a figure, so that it is the same in all formats and under all settings."""
    figure.draw_without_rendering()  # matplotlib creates the ticks when it first draws
    figure.set_layout_engine("none")
    return figure
