"""The figures that are returned. This module imports matplotlib, so it is imported where one draws."""

import io
from typing import TYPE_CHECKING, Any

import matplotlib.figure

from optimist.display.style import NARROW, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SCREEN, SHARP = 125, 2
"""Pixels an inch in a notebook, where text of 8 points is then as large as other text; and how
many pixels of the picture there are for each of these."""


class Figure(matplotlib.figure.Figure):
    """A figure that a notebook shows without pyplot and without a magic command."""

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        buffer = io.BytesIO()
        with style():
            self.savefig(buffer, format="png", dpi=SCREEN * SHARP, metadata={"Software": None})
        width, height = (round(SCREEN * inches) for inches in self.get_size_inches())
        return buffer.getvalue(), {"width": width, "height": height}


def given_or_new(ax: "Axes | None", height: float) -> tuple[Any, "Axes"]:
    """What a function returns that draws into one pair of axes, and these.

    They are the axes that were given, or those of a new figure, which is returned.
    """
    if ax is not None:
        return ax, ax
    figure = Figure(figsize=(NARROW, height), layout="constrained")
    return figure, figure.add_subplot()
