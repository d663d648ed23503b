"""Certificates as they are drawn: first episodes over the seeds, and bands as paths of SVG."""

import math
from typing import NamedTuple

import numpy as np

from optimist.checks import FloatArray
from optimist.report.data import Certified

TOP = 2.0
"""The highest share of the optimal value on the axis of a band."""

WIDTH, HEIGHT = 260.0, 130.0
"""The size of the axes of a band, in units of the drawing."""


def half_by(episodes: FloatArray) -> float:
    """The episode by which half of the seeds got there; nan if fewer did.

    Examples
    --------
    >>> nan = math.nan
    >>> [half_by(np.array(seen)) for seen in ([3.0, nan, 1.0], [3.0, nan], [nan, nan, 1.0])]
    [3.0, 3.0, nan]
    """
    ordered = np.sort(episodes)  # nan is last
    return float(ordered[(len(ordered) - 1) // 2])


class Band(NamedTuple):
    """The paths of a band between bounds, and of the exact value, and the ticks below."""

    area: str
    line: str
    ticks: list[tuple[float, str]]


def band(found: Certified, length: int) -> Band:
    """A band over the episodes on a logarithmic axis, from below the second point to the end."""
    x = found.episode.astype(np.float64)
    low = math.floor(math.log10(x[min(1, len(x) - 1)]))
    high = max(math.log10(length), low + 1)
    across = WIDTH * (np.log10(np.maximum(x, 10.0**low)) - low) / (high - low)

    def path(heights: FloatArray) -> list[str]:
        """What is known at a point is known until the next."""
        up = HEIGHT * (1 - np.clip(heights, 0, TOP) / TOP)
        corners = zip(np.repeat(across, 2)[1:], np.repeat(up, 2)[:-1], strict=True)
        return [f"{a:.1f},{b:.1f}" for a, b in corners]

    area = [*path(found.upper), *reversed(path(found.lower))]
    powers = range(low, math.floor(high) + 1)
    ticks = [(WIDTH * (k - low) / (high - low), _power(k)) for k in powers]
    return Band(f"M{'L'.join(area)}Z", f"M{'L'.join(path(found.value))}", ticks)


def _power(k: int) -> str:
    """A power of ten in few letters.

    Examples
    --------
    >>> [_power(k) for k in range(8)]
    ['1', '10', '100', '1k', '10k', '100k', '1M', '10M']
    """
    thousands, rest = divmod(k, 3)
    return f"{10**rest}{('', 'k', 'M', 'G', 'T')[thousands]}"
