"""Markers of families on the page, which differ in shape and in colour."""

import math

from optimist.report.page.parts import look


def _polygon(corners: int, turn: float, *radii: float) -> str:
    """A path of corners at alternating radii, clockwise from the top plus a turn."""
    points = []
    for k in range(corners):
        angle, radius = math.tau * (k / corners + turn), radii[k % len(radii)]
        points.append(f"{radius * math.sin(angle):.2f},{-radius * math.cos(angle):.2f}")
    return f"M{'L'.join(points)}Z"


SHAPES = (
    "M-5,0A5,5 0 1 1 5,0A5,5 0 1 1 -5,0Z",  # of the subject, and large
    "M-3.6,-3.6H3.6V3.6H-3.6Z",
    _polygon(3, 0, 4.8),
    _polygon(4, 0, 4.8),
    _polygon(3, 0.5, 4.8),
    "M-1.5,-4.5H1.5V-1.5H4.5V1.5H1.5V4.5H-1.5V1.5H-4.5V-1.5H-1.5Z",
    _polygon(8, 0.125, 5.8, 2.4),
    _polygon(10, 0, 5.4, 2.2),
    _polygon(3, 0.75, 4.8),
    _polygon(3, 0.25, 4.8),
    _polygon(5, 0, 4.6),
    _polygon(6, 0, 4.6),
)
"""Paths around the origin in pixels, in the order of the markers of figures."""


def mark(i: int, hollow: bool = False) -> str:
    """The marker of the i-th family; the first is the subject."""
    colour = look(i)["colour"]
    fill = "var(--paper)" if hollow else colour
    edge, width = ("var(--paper)", 0.6) if i else (colour, 2)
    shape = SHAPES[i % len(SHAPES)]
    return f"<path d='{shape}' fill='{fill}' stroke='{edge}' stroke-width='{width}'/>"


def key(i: int) -> str:
    """The marker for a legend."""
    return f"<svg class='mark-key' viewBox='-8 -8 16 16' aria-hidden='true'>{mark(i)}</svg>"
