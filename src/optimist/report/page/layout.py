"""Colours, shapes and positions for the templates."""

import math
from collections.abc import Iterable, Mapping

from optimist.report.data import ShownEstimate

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#777777")
"""Okabe and Ito's colour-blind safe palette, without yellow, which is faint on paper, and with grey
instead of black, which is visible on light and dark."""

DASHES = ("solid", "9px,4px", "2px,3px", "9px,3px,2px,3px", "16px,4px", "5px,2px")
"""Seven colours and six dashes have no common factor, so that 42 agents differ."""

TICKS = tuple(m * 10.0**e for e in range(-4, 7) for m in (1, 2, 5))
"""Candidates for ticks of ratios."""

GROUPS = {"all": "all worlds", "chosen": "not held out", "held_out": "held out"}
"""The groups of worlds that are ranked."""

MOST_TICKS = 8
"""If there are more, only powers of ten are shown."""


def look(i: int) -> dict[str, str]:
    """Colour and dash of the i-th agent."""
    return {"colour": COLOURS[i % len(COLOURS)], "dash": DASHES[i % len(DASHES)]}


def notes_of(rows: Iterable[Mapping[str, ShownEstimate]]) -> dict[str, str]:
    """The distinct notes of the rows of a table, and their letters."""
    notes = dict.fromkeys(e.note for row in rows for e in row.values() if e.note)
    return {note: chr(ord("a") + i) for i, note in enumerate(notes)}


def range_of(estimates: Iterable[ShownEstimate], zero: bool) -> tuple[float, float]:
    """The range of all values and ends of intervals, including zero if ``zero``."""
    numbers = [x for e in estimates for x in (e.value, e.low, e.high) if not math.isnan(x)]
    shown = [0.0, *numbers] if zero or not numbers else numbers
    return min(shown), max(shown) if max(shown) > min(shown) else min(shown) + 1.0


def share(x: float, ends: tuple[float, float], log: bool = False) -> str:
    """A place between two ends in per cent; on a log axis numbers beyond are at its ends."""
    low, high = ends
    if log:
        part = min(math.log(max(x, low) / low) / math.log(high / low), 1.0)
    else:
        part = (x - low) / (high - low)
    return f"{100 * part:.2f}%"


def ticks(ends: tuple[float, float]) -> list[float]:
    """The ticks of a log axis."""
    shown = [tick for tick in TICKS if ends[0] <= tick <= ends[1]]
    if len(shown) > MOST_TICKS:
        shown = [tick for tick in shown if math.log10(tick).is_integer()]
    return shown


def known(x: float) -> bool:
    """Whether a number is not missing."""
    return not math.isnan(x)


USED = (look, notes_of, range_of, share, ticks, known)
"""The functions that the templates use."""
