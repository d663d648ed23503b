"""Small pictures of numbers as SVG, for cards."""

from collections.abc import Iterable
from html import escape

import numpy as np
from numpy.typing import ArrayLike

from optimist.checks import FloatArray
from optimist.display.boards import Map

INK = "#3b8bc4"
"""The one colour, which is legible on white and on black."""

WIDTH, HEIGHT, POINTS = 160, 40, 80
"""The size of a curve in pixels, and the most points of it."""

LEVELS, FAINTEST = 16, 0.08
"""Shades of a board, and how opaque the faintest is."""

LARGEST, SIDE = 130, 14
"""The longest side of a board, and of a cell, in pixels."""


def sparkline(numbers: ArrayLike, says: str) -> str:
    """A curve over a line at zero; each point is a mean. Empty for fewer than two numbers."""
    y = np.asarray(numbers, dtype=np.float64)
    y = y[np.isfinite(y)]
    if len(y) < 2:
        return ""
    y = np.array([part.mean() for part in np.array_split(y, min(len(y), POINTS))])
    down = _down(np.append(y, 0.0))
    points = zip(np.linspace(1, WIDTH - 1, len(y)), down[:-1], strict=True)
    line = " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
    return _svg(
        (WIDTH, HEIGHT),
        f'<path d="M0 {down[-1]:.1f}h{WIDTH}" stroke="currentColor" stroke-opacity=".4"/>'
        f'<polyline points="{line}" fill="none" stroke="{INK}" stroke-width="1.5"/>',
        says,
    )


def bars(numbers: ArrayLike, says: str) -> str:
    """A bar for each number, up or down from zero."""
    y = np.asarray(numbers, dtype=np.float64)
    down = _down(np.append(y, 0.0))
    drawn = "".join(
        f"M{i} {down[-1]:.2f}V{d:.2f}h1V{down[-1]:.2f}z" for i, d in enumerate(down[:-1])
    )
    picture = f'<path d="{drawn}" fill="{INK}"/>'
    return _svg((len(y), HEIGHT), picture, says, (WIDTH, HEIGHT), stretched=True)


def _down(y: FloatArray) -> FloatArray:
    """The distance of some numbers from the upper edge."""
    low, high = y.min(), y.max()
    return np.asarray((HEIGHT - 2) * (high - y) / (high - low or 1.0) + 1)


def board(world: Map, values: FloatArray, says: str) -> str:
    """A map whose states are the darker the larger their values; walls are grey, goals have a G."""
    high, wide = len(world.board), max(map(len, world.board))
    cells = [(i, j, c) for i, line in enumerate(world.board) for j, c in enumerate(line)]
    low, span = values.min(), np.ptp(values) or 1.0
    level = np.round((LEVELS - 1) * (values - low) / span).astype(int)
    walls = _squares((i, j) for i, j, c in cells if c == "#")
    drawn = [f'<path d="{walls}" fill="currentColor" fill-opacity=".6"/>']
    for one in np.unique(level):
        opacity = FAINTEST + (1 - FAINTEST) * one / (LEVELS - 1)
        squares = _squares(world.cells[level == one])
        drawn.append(f'<path d="{squares}" fill="{INK}" fill-opacity="{opacity:.2f}"/>')
    letter = 'font-size=".9" font-weight="bold" text-anchor="middle" fill="currentColor"'
    drawn += [
        f'<text x="{j + 0.5}" y="{i + 0.82}" {letter}>{"G" if c == "$" else "S"}</text>'
        for i, j, c in cells
        if c in "s$"
    ]
    side = min(SIDE, LARGEST / max(high, wide))
    return _svg((wide, high), "".join(drawn), says, (round(wide * side), round(high * side)))


def _squares(cells: Iterable[Iterable[int]]) -> str:
    return "".join(f"M{j} {i}h1v1h-1z" for i, j, *_ in cells)


def _svg(
    box: tuple[int, int],
    drawn: str,
    says: str,
    size: tuple[int, int] | None = None,
    stretched: bool = False,
) -> str:
    """A picture in a box of such a size, shown at another if it is given."""
    width, height = size or box
    how = ' preserveAspectRatio="none"' if stretched else ""
    said = escape(says)
    return (
        f'<svg width="{width}" height="{height}" viewBox="0 0 {box[0]} {box[1]}"{how} role="img" '
        f'aria-label="{said}"><title>{said}</title>{drawn}</svg>'
    )
