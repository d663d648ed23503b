"""The types, shapes and ranges of the arrays and fields of a file, checked before any is used.

Compiled code does not check the indices and counts it is given, and anybody can write a file with a
correct digest. So code that reads a file declares the type, shape and range of each array, and the
type of each field of the header. The first array or field that does not match is refused with an
error that names it.
"""

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from optimist import checks
from optimist.checks import MOST
from optimist.core.optimism import KNOWN, UNTRIED
from optimist.core.state import CLOCK

LARGEST = 1e100
"""No number of a learner or of a policy is further from 0: squares of sums of them are finite."""

ASYMMETRY = 1e-6
"""How far a covariance may be from symmetric, relative to its diagonal: rounding adds up."""

Shape = tuple[int, ...]


class Array(NamedTuple):
    """The type, shape and range of one array: floats in [low, high], integers in [low, high).

    The bounds broadcast to the shape. ``rule`` makes any other check; its error begins with the
    name of the array.
    """

    kind: type[Any]
    shape: Shape
    low: Any
    high: Any
    rule: Callable[[Any, str], None] | None = None

    def check(self, array: Any, name: str) -> None:
        """Refuse an array that does not match."""
        if array.dtype != self.kind:
            raise ValueError(f"{name} must hold {self.kind.__name__}; got {array.dtype}")
        if array.shape != self.shape:
            raise ValueError(f"{name} must have the shape {self.shape}; got {array.shape}")
        real = self.kind is np.float64
        numbers = array.view(np.uint8) if self.kind is np.bool_ else array  # any byte may be stored
        bad = ~((numbers >= self.low) & ((numbers <= self.high) if real else numbers < self.high))
        if bad.any():
            at = checks.first(bad)
            low, high = (np.broadcast_to(bound, self.shape)[at] for bound in (self.low, self.high))
            wanted = f"in [{low:g}, {high:g}]" if real else f"in [{low}, {high})"
            raise ValueError(f"{checks.entry(name, at)} must be {wanted}; got {numbers[at]}")
        if self.rule is not None:
            self.rule(array, name)


Layout = dict[str, Array]
"""The declarations of arrays, by their names."""


def index(shape: Shape, below: Any, least: int = 0) -> Array:
    """Integers in [least, below)."""
    return Array(np.int64, shape, least, below)


def count(shape: Shape) -> Array:
    """Integers that count something."""
    return index(shape, MOST)


def truth(shape: Shape) -> Array:
    """Booleans."""
    return Array(np.bool_, shape, 0, 2)


def real(shape: Shape, least: Any = -LARGEST, most: Any = LARGEST) -> Array:
    """Floats in [least, most], all of them finite."""
    return Array(np.float64, shape, least, most)


def anything(kind: type[Any], shape: Shape) -> Array:
    """Numbers of a type, in any range."""
    if kind is np.bool_:
        return truth(shape)
    least, most = (-np.inf, np.inf) if kind is np.float64 else (-(2**63), 2**63)
    return Array(kind, shape, least, most)


def policy(shape: Shape) -> Array:
    """Distributions along the last axis."""
    return Array(np.float64, shape, 0.0, 1 + checks.RANGE_TOLERANCE, _sums_to_one)


def log_policy(shape: Shape) -> Array:
    """Logarithms of distributions; that of an action never taken is minus infinity."""

    def rule(array: Any, name: str) -> None:
        _sums_to_one(np.exp(array), f"exp {name}")

    return Array(np.float64, shape, -np.inf, checks.RANGE_TOLERANCE, rule)


def cumulative(shape: Shape) -> Array:
    """Cumulative distributions along the last axis."""

    def rule(array: Any, name: str) -> None:
        steps = np.diff(array, axis=-1, prepend=0.0)
        if (steps < 0).any():
            at = checks.first(steps < 0)
            raise ValueError(f"{checks.entry(name, at)} must not be below the entry before it")
        _sums_to_one(steps, f"the steps of {name}")

    return Array(np.float64, shape, 0.0, 1 + checks.RANGE_TOLERANCE, rule)


def covariance(shape: Shape) -> Array:
    """Symmetric positive definite matrices [blocks, s, s]."""

    def rule(array: Any, name: str) -> None:
        if shape[-1] == 1:
            return
        root = np.sqrt(np.diagonal(array, axis1=1, axis2=2))
        scale = root[:, :, None] * root[:, None, :]
        if (np.abs(array - array.transpose(0, 2, 1)) > ASYMMETRY * scale).any():
            raise ValueError(f"{name} must be symmetric")
        try:
            np.linalg.cholesky(array)
        except np.linalg.LinAlgError:
            raise ValueError(f"{name} must be positive definite") from None

    diagonal = np.eye(shape[-1], dtype=np.bool_)
    least = np.where(diagonal, np.finfo(np.float64).tiny, -LARGEST)
    return Array(np.float64, shape, least, LARGEST, rule)


def standing(shape: Shape) -> Array:
    """Log-odds up to 0, or the number of untried actions (`optimism.standing`)."""

    def rule(array: Any, name: str) -> None:
        if ((array > 0) & (array != UNTRIED)).any():
            raise ValueError(f"{name} must be at most 0, or {UNTRIED:g}")

    return Array(np.float64, shape, KNOWN, UNTRIED, rule)


USUAL: dict[str, Callable[[Shape], Array]] = {
    **dict.fromkeys(("before", "distinct", "stale", "starts", "visits"), count),
    **dict.fromkeys(("concentration", "novel"), partial(real, least=0.0)),
    **dict.fromkeys(("worth", "worths"), partial(real, least=0.0)),
    "pays": truth,
    "standing": standing,
    **dict.fromkeys(("counts", "weight"), partial(real, least=0.0, most=MOST)),
    "p": partial(real, least=0.0, most=1.0),
    "Lambda": covariance,
    "cumulative": cumulative,
    "log_pi": log_policy,
    "pi": policy,
}
"""What arrays of these names are in every learner. Others hold finite numbers."""


def usual(name: str, shape: Shape) -> Array:
    """The declaration of the array with this name, without its group (``group.name``)."""
    return USUAL.get(name.rpartition(".")[2], real)(shape)


def clock(name: str, n_states: int, updates: int = MOST) -> dict[str, Array]:
    """The fields of a clock, with this many states and at most this many updates in an epoch."""
    low = {"state": -1, "stage": -1}  # before the first episode; the next one begins an epoch
    high = {"updates": updates + 1, "state": n_states}
    fields = CLOCK.names or ()
    return {f"{name}.{f}": index((1,), high.get(f, MOST), low.get(f, 0)) for f in fields}


def _sums_to_one(array: Any, name: str) -> None:
    checks.sums_to_one(array.sum(axis=-1), name)


def check(arrays: Mapping[str, Any], wanted: Mapping[str, Array]) -> None:
    """Refuse arrays that are not exactly those wanted.

    Examples
    --------
    >>> check({"after": np.array([0, 7])}, {"after": index((2,), below=3)})
    Traceback (most recent call last):
    ...
    ValueError: after[1] must be in [0, 3); got 7
    """
    _same_names(arrays, wanted)
    for name, array in wanted.items():
        array.check(arrays[name], name)


def fields(data: object, wanted: Mapping[str, Any], name: str) -> None:
    """Refuse JSON data unless they are an object of these fields: each a type, or a range.

    Whole numbers below `MOST` may stand for floats, and floats are finite.

    Examples
    --------
    >>> fields({"stride": -1}, {"stride": range(MOST)}, "the header")
    Traceback (most recent call last):
    ...
    ValueError: stride must be a whole number in [0, 9007199254740992); got -1
    """
    if not isinstance(data, dict):
        raise ValueError(f"{name} must be an object; got {checks.short(data)}")
    _same_names(data, wanted)
    for field, kind in wanted.items():
        value = data[field]
        whole = isinstance(value, int) and not isinstance(value, bool)
        kind = range(1 - MOST, MOST) if kind is int else kind
        if isinstance(kind, range):
            right, text = whole and value in kind, f"a whole number in [{kind.start}, {kind.stop})"
        else:
            number = float(value) if whole and abs(value) < MOST else value
            finite = not isinstance(number, float) or math.isfinite(number)
            right = isinstance(number, kind) and finite
            text = f"of the type {getattr(kind, '__name__', kind)}"
        if not right:
            raise ValueError(f"{field} must be {text}; got {checks.short(value)}")


def _same_names(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    for name in wanted:
        if name not in found:
            raise ValueError(f"{name} is missing")
    for name in found:
        if name not in wanted:
            raise ValueError(f"{checks.short(name)} must not be in it")
