"""Checks of arguments, shared by all packages.

An error names the first offending entry and its value: ``P[3, 1] must not be negative; got -0.2``.
Nothing is repaired: a value is accepted as it is, or refused.
"""

import dataclasses
import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

ROW_SUM_TOLERANCE = 1e-8
"""How far the sum of a probability row may be from one; it allows for rounding."""

RANGE_TOLERANCE = 1e-8
"""How far a number may lie outside a range, in widths of the range; it allows for rounding."""

MOST = 2**53
"""Counts stay below it: floats hold such whole numbers exactly."""

ROUNDING = 1e-9
"""Relative tolerance between numbers that two kinds of processors computed."""


def entry(name: str, index: tuple[int, ...]) -> str:
    """The name of an array entry in an error: ``P[3, 1]``, or just ``gamma``."""
    return f"{name}[{', '.join(str(i) for i in index)}]" if index else name


def short(data: object) -> str:
    """The repr of data for an error, cut to 60 characters."""
    text = repr(data)
    return text if len(text) <= 60 else f"{text[:60]}..."


def first(bad: BoolArray) -> tuple[int, ...]:
    """The index of the first true entry."""
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(bad)), bad.shape))


def real_array(
    value: ArrayLike, name: str, shape: tuple[int | None, ...] | None = None
) -> FloatArray:
    """``value`` as float64, if it holds finite real numbers and has the shape.

    Parameters
    ----------
    value
        Anything NumPy reads as an array of booleans, integers or floats.
    name
        The name to use in errors.
    shape
        The required shape; None allows any length along that axis, or any shape.

    Examples
    --------
    >>> real_array([1, 2], "r", shape=(2,))
    array([1., 2.])
    >>> real_array([1, float("nan")], "r")
    Traceback (most recent call last):
    ...
    ValueError: r[1] must be a finite number; got nan
    """
    raw = _as_array(value, name)
    if raw.dtype.kind not in "biuf":
        raise TypeError(f"{name} must hold real numbers; got {raw.dtype}")
    array = raw.astype(np.float64, copy=False)
    if shape is not None:
        match_shape(array.shape, name, shape)
    with np.errstate(over="ignore", invalid="ignore"):
        total = array.sum()  # finite, unless an entry is not or large ones overflow
    if not np.isfinite(total) and not np.isfinite(array).all():
        where = first(~np.isfinite(array))
        raise ValueError(f"{entry(name, where)} must be a finite number; got {array[where]}")
    return array


def _as_array(value: ArrayLike, name: str) -> NDArray[Any]:
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(f"{name} must not be a masked array: fill the masked entries, or drop them")
    try:
        return np.asarray(value)
    except ValueError as error:
        raise ValueError(f"{name} must be an array: {error}") from None


def match_shape(given: tuple[int, ...], name: str, wanted: tuple[int | None, ...]) -> None:
    """Refuse a shape other than the wanted one; None allows any length."""
    if len(given) != len(wanted) or any(
        w is not None and g != w for g, w in zip(given, wanted, strict=True)
    ):
        text = ", ".join("any" if w is None else str(w) for w in wanted)
        comma = "," if len(wanted) == 1 else ""
        raise ValueError(f"{name} must have shape ({text}{comma}); got {given}")


def real_number(value: object, name: str) -> float:
    """``value`` as a float, if it is one finite real number.

    Examples
    --------
    >>> real_number(1, "slip")
    1.0
    """
    return float(real_array(value, name, shape=()))  # type: ignore[arg-type]


def positive(value: object, name: str) -> float:
    """``value`` as a float above zero."""
    number = real_number(value, name)
    if number <= 0:
        raise ValueError(f"{name} must be positive; got {number:.6g}")
    return number


def not_negative(value: object, name: str) -> float:
    """``value`` as a float that is zero or above."""
    number = real_number(value, name)
    if number < 0:
        raise ValueError(f"{name} must not be negative; got {number:.6g}")
    return number


def probability(value: object, name: str) -> float:
    """``value`` as a float in [0, 1]."""
    number = real_number(value, name)
    if not 0 <= number <= 1:
        raise ValueError(f"{name} must be in [0, 1]; got {number:.6g}")
    return number


def discount(value: object) -> float:
    """``value`` as a discount factor in [0, 1)."""
    gamma = real_number(value, "gamma")
    if not 0 <= gamma < 1:
        raise ValueError(f"gamma must be in [0, 1); got {gamma:.6g}")
    return gamma


def count(value: object, name: str, least: int = 1, below: int | None = None) -> int:
    """``value`` as an int, if it is a whole number of at least ``least``, and ``below`` a limit."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name} must be a whole number; got {value!r}")
    if value < least:
        raise ValueError(f"{name} must be at least {least}; got {value}")
    if below is not None and value >= below:
        raise ValueError(f"{name} must be below {below}; got {value}")
    return int(value)


def indices(value: ArrayLike, name: str, below: int) -> IntArray:
    """``value`` as int64, if it holds whole numbers in {0, ..., below - 1}.

    Examples
    --------
    >>> indices([0, 4], "action", below=3)
    Traceback (most recent call last):
    ...
    ValueError: action[1] must be in {0, ..., 2}; got 4
    """
    raw = _as_array(value, name)
    if raw.dtype.kind not in "iu":
        raise TypeError(f"{name} must hold whole numbers; got {raw.dtype}")
    array = raw.astype(np.int64, copy=False)
    bad = (array < 0) | (array >= below)
    if bad.any():
        where = first(bad)
        raise ValueError(
            f"{entry(name, where)} must be in {{0, ..., {below - 1}}}; got {array[where]}"
        )
    return array


def within(array: FloatArray, high: float, name: str, high_name: str) -> None:
    """Refuse entries that lie outside [0, high] by more than rounding.

    Examples
    --------
    >>> within(np.array([0.5, 1.5]), 1.0, "r", "r_max")
    Traceback (most recent call last):
    ...
    ValueError: r[1] must be in [0, r_max] = [0, 1]; got 1.5
    """
    slack = RANGE_TOLERANCE * positive(high, high_name)
    bad = (array < -slack) | (array > high + slack)
    if bad.any():
        where = first(bad)
        wanted = f"{entry(name, where)} must be in [0, {high_name}] = [0, {high:g}]"
        raise ValueError(f"{wanted}; got {array[where]:.6g}")


def generator(value: object, name: str = "rng") -> np.random.Generator:
    """``value``, if it is a NumPy generator."""
    if not isinstance(value, np.random.Generator):
        raise TypeError(
            f"{name} must be a Generator, such as np.random.default_rng(0); got {value!r}"
        )
    return value


def non_negative(array: FloatArray, name: str) -> None:
    """Refuse negative entries."""
    if array.size and array.min() < 0:
        where = first(array < 0)
        raise ValueError(f"{entry(name, where)} must not be negative; got {array[where]:.6g}")


def sums_to_one(sums: FloatArray, name: str, hint: str = "") -> None:
    """Refuse sums that are not one within `ROW_SUM_TOLERANCE`."""
    bad = np.abs(sums - 1) > ROW_SUM_TOLERANCE
    if bad.any():
        where = first(bad)
        wanted = f"{entry(name, where)} must sum to 1 within {ROW_SUM_TOLERANCE:g}"
        raise ValueError(f"{wanted}; got {sums[where]:.10g}{hint}")


def distribution(value: ArrayLike, name: str, size: int) -> FloatArray:
    """``value`` as a probability vector of this size."""
    array = real_array(value, name, shape=(size,))
    non_negative(array, name)
    sums_to_one(np.asarray(array.sum()), name, "; divide it by its sum in float64")
    return array


def policies(value: ArrayLike, n_states: int, n_actions: int, name: str = "policy") -> FloatArray:
    """``value`` as one stochastic policy [X, A] or a batch of them [n, X, A].

    Examples
    --------
    >>> policies([[0.5, 0.6]], n_states=1, n_actions=2)
    Traceback (most recent call last):
    ...
    ValueError: policy[0] must sum to 1 within 1e-08; got 1.1; divide it by its sum in float64
    """
    if hasattr(value, "probabilities"):
        raise TypeError(
            f"{name} must be a table; got a policy: give its probabilities(np.arange({n_states}))"
        )
    if hasattr(value, "policy"):
        raise TypeError(
            f"{name} must be a table; got {type(value).__name__}: give the table of its policy"
        )
    array = real_array(value, name)
    if array.shape[-2:] != (n_states, n_actions) or array.ndim not in (2, 3):
        raise ValueError(
            f"{name} must have shape ({n_states}, {n_actions}), or (n, {n_states}, {n_actions}) "
            f"for a batch; got {array.shape}"
        )
    non_negative(array, name)
    sums_to_one(array.sum(axis=-1), name, "; divide it by its sum in float64")
    return array


def same(saved: object, given: object) -> bool:
    """Whether two pieces of plain data are equal, floats up to rounding.

    The saved data may come from another kind of processor.

    Examples
    --------
    >>> same({"beta": 0.3, "updates": 10}, {"beta": 0.1 + 0.2, "updates": 10})
    True
    """
    if isinstance(saved, float) and isinstance(given, float):
        return math.isclose(saved, given, rel_tol=ROUNDING)
    if dataclasses.is_dataclass(given):
        return type(saved) is type(given) and same(vars(saved), vars(given))
    if isinstance(saved, dict) and isinstance(given, dict):
        return saved.keys() == given.keys() and all(same(saved[k], given[k]) for k in given)
    if isinstance(saved, list | tuple) and isinstance(given, list | tuple):
        return len(saved) == len(given) and all(map(same, saved, given))
    return saved == given


def frozen(array: FloatArray) -> FloatArray:
    """A read-only, C-ordered copy."""
    copy = np.array(array, dtype=np.float64, order="C")
    copy.setflags(write=False)
    return copy
