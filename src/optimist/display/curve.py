"""One curve, drawn by matplotlib."""

from typing import TYPE_CHECKING, Any

import numpy as np

from optimist.checks import FloatArray, IntArray
from optimist.display.style import COLOURS, NARROW, set_limits, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HEIGHT = 1.9
"""In inches."""


def draw_curve(
    x: IntArray, y: FloatArray, name: str, log: str, ax: "Axes | None", **line: Any
) -> Any:
    """Draw a quantity over episodes, into given axes or a new figure; return the axes."""
    if log not in ("", "x", "y", "xy"):
        raise ValueError(f"log must be '', 'x', 'y' or 'xy'; got {log!r}")
    shown = np.where(y > 0, y, np.nan) if "y" in log else y
    scales = {f"{axis}scale": "log" for axis in log}
    if ax is not None:
        ax.plot(x, shown, **line)
        ax.set(xlabel="episode", ylabel=name, **scales)
        return ax
    from optimist.display.figure import Figure

    with style():
        figure = Figure(figsize=(NARROW, HEIGHT), layout="constrained")
        ax = figure.add_subplot()
        ax.plot(x, shown, **{"color": COLOURS[0], "linewidth": 1.1, **line})
        ax.set(xlabel="episode", ylabel=name)
        ax.grid(visible=True)
        numbers = shown[np.isfinite(shown)]
        set_limits(ax, "x", x.astype(np.float64), "x" in log, zero=False)
        set_limits(ax, "y", numbers, "y" in log, margin=0.04, zero=bool((numbers >= 0).all()))
    return figure
