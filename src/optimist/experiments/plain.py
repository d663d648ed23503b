"""Numbers, curves and parameters as the data of a report: plain texts, numbers and lists."""

import math
from typing import Any

import numpy as np

from optimist.checks import FloatArray, IntArray
from optimist.experiments import statistics
from optimist.experiments.statistics import Estimate

POINTS = 60
"""Curves are shown at so many points spaced evenly, and as many in the logarithm."""

DIGITS = 5
"""Significant digits of the numbers on a page."""


def shown_points(episode: IntArray) -> IntArray:
    """The indices of the points that are shown of a curve.

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
    """An estimate, if there is one."""
    if e is None:
        return None
    said = {"value": number(e.value), "low": number(e.low), "high": number(e.high)}
    return {**said, "note": e.note}


def detail(kind: str, parameters: dict[str, Any]) -> str:
    """A thing and its parameters in one line."""
    shown = []
    for name, value in parameters.items():
        if isinstance(value, dict):
            value = f"({detail(value['kind'], {k: v for k, v in value.items() if k != 'kind'})})"
        elif isinstance(value, float):
            value = f"{value:g}"
        elif isinstance(value, str) and "\n" in value:
            continue  # a map is shown as a picture
        shown.append(f"{name} {value}")
    return f"{kind}: {', '.join(shown)}" if shown else kind


def rows(array: FloatArray, digits: int = DIGITS) -> list[list[float | None]]:
    """The numbers of an array to a few digits, row by row."""
    return [numbers(row, digits) for row in array]


def numbers(array: FloatArray, digits: int = DIGITS) -> list[float | None]:
    """The numbers of an array to a few digits."""
    return [number(float(x), digits) for x in array]


def number(x: float, digits: int = DIGITS) -> float | None:
    """A number to a few digits; None if it is none."""
    return float(f"{x:.{digits}g}") if math.isfinite(x) else None
