"""Style of the figures: widths, fonts, and colours that also differ in grey."""

import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from optimist.checks import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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

DECADES = 4
"""Decades that a logarithmic axis shows below its largest value. Without a limit the rounding
errors of an exact optimum would stretch the axis."""


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


def wrapped(name: str, letters: int) -> str:
    """A name in lines of at most this many letters."""
    return textwrap.fill(name, letters)


def fixed_layout(figure: "Figure") -> "Figure":
    """Fix the layout of a figure, so that it is the same in all formats and under all settings."""
    figure.draw_without_rendering()  # matplotlib creates the ticks when it first draws
    figure.set_layout_engine("none")
    return figure


def set_limits(
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
