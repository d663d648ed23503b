"""Arguments and results of the functions of `theory`.

Functions take numbers and return a float, or take arrays and return an array by broadcasting.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from optimist import checks
from optimist.checks import FloatArray

Numbers = Any
"""A float, or an array if an array was given."""


def numbers(
    value: ArrayLike,
    name: str,
    *,
    least: float | None = None,
    above: float | None = None,
    below: float | None = None,
) -> FloatArray:
    """Convert ``value`` to an array, and check its range.

    Examples
    --------
    >>> numbers([10, 5], "K", least=8)
    Traceback (most recent call last):
    ...
    ValueError: K[1] = 5 must be at least 8
    """
    # An int may be too large for NumPy's integers.
    array = checks.real_array(float(value) if isinstance(value, int) else value, name)
    for bad, demand in (
        (least is not None and array < least, f"at least {least}"),
        (above is not None and array <= above, f"above {above}"),
        (below is not None and array >= below, f"below {below}"),
    ):
        if np.any(bad):
            where = checks.first(np.asarray(bad))
            found = f"{checks.entry(name, where)} = {array[where]:.6g}"
            raise ValueError(f"{found} must be {demand}")
    return array


def discounts(gamma: ArrayLike) -> FloatArray:
    """Convert ``gamma`` to an array of discount factors in [0, 1)."""
    return numbers(gamma, "gamma", least=0, below=1)


def shares(delta: ArrayLike) -> FloatArray:
    """Convert ``delta`` to an array of probabilities in (0, 1)."""
    return numbers(delta, "delta", above=0, below=1)


def plain(result: Any) -> Numbers:
    """Convert a zero-dimensional result to a float."""
    return float(result) if np.ndim(result) == 0 else result
