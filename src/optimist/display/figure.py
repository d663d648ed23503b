"""The figures that are returned. This module imports matplotlib, so it is imported on first use."""

import io
from typing import Any

import matplotlib.figure

from optimist.display.style import style

SCREEN, SHARP = 125, 2
"""Pixels an inch in a notebook, where text of 8 points is then as large as other text; and how
many pixels of the picture there are for each of these."""


class Figure(matplotlib.figure.Figure):
    """A figure that a notebook shows without pyplot and without a magic command."""

    def _repr_mimebundle_(self, **asked: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """The picture, the same whether pyplot is imported or not."""
        buffer = io.BytesIO()
        with style():
            self.savefig(buffer, format="png", dpi=SCREEN * SHARP, metadata={"Software": None})
        width, height = (round(SCREEN * inches) for inches in self.get_size_inches())
        size = {"image/png": {"width": width, "height": height}}
        return {"image/png": buffer.getvalue(), "text/plain": repr(self)}, size
