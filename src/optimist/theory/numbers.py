"""Arguments and results of the functions of `theory`.

Functions take numbers and return a float, or take arrays and return an array by broadcasting.
"""

import functools
import inspect
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import numpy as np

from optimist import checks
from optimist.checks import FloatArray

Real = Any
"""A number, or an array of numbers. Within a `formula` it is an array."""

P = ParamSpec("P")
Result = TypeVar("Result")

COMPARISONS = {
    ">=": (np.greater_equal, "at least"),
    ">": (np.greater, "above"),
    "<": (np.less, "below"),
}
"""The comparisons in a condition such as "K >= 8", and their words in an error."""

USUAL = (
    *("K >= 1", "T >= 0", "d >= 1", "n_actions >= 1", "n_states >= 1", "B > 0"),
    *("W_max > 0", "R_max > 0", "Q_max > 0", "L_max > 0", "gamma >= 0", "gamma < 1"),
    *("delta > 0", "delta < 1", "epsilon > 0", "omega >= 0", "alpha > 0", "beta >= 0"),
    *("eta > 0", "ridge > 0", "C > 0", "CB >= 0", "ascension >= 0", "log_det >= 0"),
    *("epochs >= 0", "bonus_sum >= 0", "total >= 0", "M >= 0", "log_covering >= 0"),
)
"""The range of every argument, unless its formula has another."""


def formula(*conditions: str) -> Callable[[Callable[P, Result]], Callable[P, Result]]:
    """Evaluate a function on arrays; return a float if its result is a single number.

    Its arguments, except None, are converted to arrays. Each must be in its usual range, or in that
    of ``conditions``.

    Examples
    --------
    >>> @formula("K >= 8")
    ... def root(K, d=1):
    ...     return (K / d) ** 0.5
    >>> root(16), root([16, 36], d=4)
    (4.0, array([2., 3.]))
    >>> root([10, 5])
    Traceback (most recent call last):
    ...
    ValueError: K[1] must be at least 8; got 5
    """

    def decorate(function: Callable[P, Result]) -> Callable[P, Result]:
        signature = inspect.signature(function)
        ranges: dict[str, dict[bool, str]] = {name: {} for name in signature.parameters}
        for condition in (*USUAL, *conditions):
            name = condition.split()[0]
            if name in ranges or condition in conditions:
                ranges[name]["<" in condition] = condition  # a later one replaces the usual

        @functools.wraps(function)
        def evaluate(*args: P.args, **kwargs: P.kwargs) -> Any:
            given = signature.bind(*args, **kwargs)
            for name, value in given.arguments.items():
                if value is not None:
                    given.arguments[name] = _in_range(value, name, *ranges[name].values())
            return plain(function(*given.args, **given.kwargs))

        return evaluate

    return decorate


def plain(result: Any) -> Any:
    """Convert an array without dimensions to a float."""
    single = isinstance(result, (np.ndarray, np.generic)) and result.ndim == 0
    return float(result) if single else result


def _in_range(value: Real, name: str, *conditions: str) -> FloatArray:
    # An int may be too large for NumPy's integers.
    array = checks.real_array(float(value) if isinstance(value, int) else value, name)
    for condition in conditions:
        _, sign, limit = condition.split()
        compare, words = COMPARISONS[sign]
        holds = compare(array, float(limit))
        if not holds.all():
            where = checks.first(~holds)
            wanted = f"{checks.entry(name, where)} must be {words} {limit}"
            raise ValueError(f"{wanted}; got {array[where]:.6g}")
    return array
