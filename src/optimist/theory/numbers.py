"""What the functions of this room take and give: a number, or an array of numbers.

Numbers in, a float out; arrays in, and they broadcast to an array.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from optimist import checks
from optimist.checks import FloatArray

Numbers = Any
"""A float, or an array if an array was given: what NumPy's own functions return, and its type."""


def numbers(
    value: ArrayLike,
    name: str,
    *,
    least: float | None = None,
    above: float | None = None,
    below: float | None = None,
) -> FloatArray:
    """``value`` as an array of real numbers in this range.

    Examples
    --------
    >>> numbers([10, 5], "K", least=8)
    Traceback (most recent call last):
    ...
    ValueError: K[1] = 5 must be at least 8
    """
    # A whole number of episodes may be too large for NumPy's integers.
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
    """``gamma`` as discount factors in [0, 1)."""
    return numbers(gamma, "gamma", least=0, below=1)


def shares(delta: ArrayLike) -> FloatArray:
    """``delta`` as probabilities of failure in (0, 1)."""
    return numbers(delta, "delta", above=0, below=1)


def plain(result: Any) -> Numbers:
    """A float for one number, an array as it is."""
    return float(result) if np.ndim(result) == 0 else result
