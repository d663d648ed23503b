"""One curve, drawn by matplotlib."""

from typing import TYPE_CHECKING, Any

import numpy as np

from optimist.checks import FloatArray, IntArray
from optimist.display.style import COLOURS, NARROW, set_limits, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HEIGHT = 1.9
"""In inches."""


@style()
def draw_curve(
    x: IntArray, y: FloatArray, name: str, log: str, ax: "Axes | None", **line: Any
) -> Any:
    """Draw a quantity over episodes, into axes that are returned, or else into a new figure."""
    from optimist.display.figure import Figure

    if log not in ("", "x", "y", "xy"):
        raise ValueError(f"log must be '', 'x', 'y' or 'xy'; got {log!r}")
    if ax is not None:
        figure, axes = None, ax
    else:
        figure = Figure(figsize=(NARROW, HEIGHT), layout="constrained")
        axes = figure.add_subplot()
    looks: dict[str, Any] = {"color": COLOURS[0], "linewidth": 1.1} if ax is None else {}
    shown = np.where(y > 0, y, np.nan) if "y" in log else y
    axes.plot(x, shown, **(looks | line))
    axes.set(xlabel="episode", ylabel=name, **{f"{axis}scale": "log" for axis in log})
    if figure is None:
        return axes
    axes.grid(visible=True)
    numbers = shown[np.isfinite(shown)]
    set_limits(axes, "x", x.astype(np.float64), "x" in log, zero=False)
    set_limits(axes, "y", numbers, "y" in log, margin=0.04, zero=bool((numbers >= 0).all()))
    return figure
