"""Numbers in few digits, and a dash for missing ones, which are nan."""

import math
from collections.abc import Callable

MISSING = "\N{EN DASH}"

ROUNDING = 1e-12
"""Smaller fractions of the optimal value are rounding errors of the exact solver."""


def percent(fraction: float) -> str:
    """A fraction in per cent, without the sign; rounding errors are 0.

    Examples
    --------
    >>> print(*map(percent, (0.07594, 0.99995, 0.003, 0.000123, -0.25, 2e-9, 2e-16)))
    7.6 100.0 0.30 0.012 \N{MINUS SIGN}25.0 2.0e\N{MINUS SIGN}07 0
    """
    if math.isnan(fraction):
        return MISSING
    x = 0.0 if abs(fraction) < ROUNDING else 100 * fraction
    if abs(x) >= 0.95:
        return _minus(f"{x:,.1f}")
    if x == 0:
        return "0"
    return _minus(f"{x:#.2g}" if abs(x) >= 1e-3 else f"{x:.1e}")


def number(x: float) -> str:
    """A number to four digits, or to the unit if that is more.

    Examples
    --------
    >>> print(*map(number, (12345.6, 12.3456, 105.0, 0.00123456, 0.0, -0.5)))
    12,346 12.35 105.0 0.001235 0 \N{MINUS SIGN}0.5000
    """
    if math.isnan(x):
        return MISSING
    if abs(x) >= 1000:
        return _minus(f"{x:,.0f}" if abs(x) < 1e9 else f"{x:.3e}")
    if x == 0:
        return "0"
    return _minus(f"{x:#.4g}".rstrip(".") if abs(x) >= 1e-4 else f"{x:.1e}")


def decimal(x: float) -> str:
    """A number to two decimals.

    Examples
    --------
    >>> print(decimal(0.5), decimal(-0.071), decimal(-0.001))
    0.50 \N{MINUS SIGN}0.07 0.00
    """
    # Adding 0.0 removes a minus zero.
    return MISSING if math.isnan(x) else _minus(f"{round(x, 2) + 0.0:.2f}")


def times(x: float) -> str:
    """A ratio to two decimals or three digits.

    Examples
    --------
    >>> print(times(1.0504), times(22.957), times(2046.0), times(0.01234), times(math.nan))
    1.05 23.0 2,046 0.012 \N{EN DASH}
    """
    if math.isnan(x):
        return MISSING
    if 0 < abs(x) < 0.095:
        return _minus(f"{x:.2g}")
    return _minus(f"{x:,.{2 if abs(x) < 9.995 else 1 if abs(x) < 99.95 else 0}f}")


def count(n: int, one: str, many: str = "") -> str:
    """A number with its noun in singular or plural.

    Examples
    --------
    >>> count(1, "seed"), count(2000, "episode"), count(2, "study", "studies")
    ('1 seed', '2,000 episodes', '2 studies')
    """
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def readable(x: float) -> str:
    """Format a number of any size to three digits at most.

    Examples
    --------
    >>> [readable(x) for x in (3.14e19, 126_644.2, 92.103, 0.0123, 2e-9, 0)]
    ['3.1e19', '126,644', '92.1', '0.0123', '2.0e-9', '0']
    """
    if x == 0:
        return "0"
    if not 1e-4 <= abs(x) < 1e7:
        digits, _, power = f"{x:.1e}".partition("e")
        return f"{digits}e{int(power)}"
    return f"{x:,.0f}" if abs(x) >= 1000 else f"{x:.3g}"


def _minus(text: str) -> str:
    return text.replace("-", "\N{MINUS SIGN}")


FORMS: dict[str, Callable[[float], str]] = {
    "percent": percent,
    "number": number,
    "decimal": decimal,
}
"""The function of each `labels.Form`."""
