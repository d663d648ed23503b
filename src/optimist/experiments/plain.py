"""Conversion of numbers, curves and parameters to the plain data of a report."""

import math
from typing import Any

import numpy as np

from optimist.checks import FloatArray, IntArray
from optimist.experiments import statistics
from optimist.experiments.statistics import Estimate

POINTS = 60
"""Points of a curve spaced evenly, and as many spaced evenly in the logarithm."""

DIGITS = 5
"""Significant digits of the numbers on a page."""


def shown_points(episode: IntArray) -> IntArray:
    """Indices of the points of a curve to show.

    Examples
    --------
    >>> len(shown_points(np.arange(1, 10_001)))
    112
    """
    last = len(episode) - 1
    even = np.linspace(0, last, POINTS).round()
    early = np.searchsorted(episode, np.geomspace(episode[0], episode[-1], POINTS))
    return np.union1d(even, np.minimum(early, last)).astype(np.int64)


def band(b: statistics.Band) -> dict[str, Any]:
    """A curve with its interval."""
    return {"mean": numbers(b.value), "low": numbers(b.low), "high": numbers(b.high)}


def estimate(e: Estimate | None) -> dict[str, Any] | None:
    """An estimate, or None."""
    if e is None:
        return None
    plain = {"value": number(e.value), "low": number(e.low), "high": number(e.high)}
    return {**plain, "note": e.note}


def detail(kind: str, parameters: dict[str, Any]) -> str:
    """A kind of world or agent and its parameters, in one line."""
    shown = []
    for name, value in parameters.items():
        if isinstance(value, dict):
            value = f"({detail(value['kind'], {k: v for k, v in value.items() if k != 'kind'})})"
        elif isinstance(value, float):
            value = f"{value:g}"
        elif isinstance(value, str) and "\n" in value:
            continue  # the layout of a world is shown as a picture
        shown.append(f"{name} {value}")
    return f"{kind}: {', '.join(shown)}" if shown else kind


def rows(array: FloatArray, digits: int = DIGITS) -> list[list[float | None]]:
    """The rows of an array, rounded to significant digits."""
    return [numbers(row, digits) for row in array]


def numbers(array: FloatArray, digits: int = DIGITS) -> list[float | None]:
    """The numbers of an array, rounded to significant digits."""
    return [number(float(x), digits) for x in array]


def number(x: float, digits: int = DIGITS) -> float | None:
    """A number rounded to significant digits; None if it is not finite."""
    return float(f"{x:.{digits}g}") if math.isfinite(x) else None
