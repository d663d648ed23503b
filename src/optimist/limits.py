"""How much memory one thing may take, checked before it is taken.

A file of a few hundred kilobytes, or a number in a study, can ask for more memory than there is.
Whoever allocates by such a number calls `need` first. The limit is half of the memory that is free
now; the environment variable ``OPTIMIST_MAX_BYTES`` overrides it.
"""

import os
import re
from pathlib import Path

from optimist.errors import OptimistError, TooLarge

VARIABLE = "OPTIMIST_MAX_BYTES"
SHARE = 0.5
"""Of the free memory."""


def need(n_bytes: float, what: str) -> None:
    """Raise `TooLarge` if ``what`` needs more bytes than the limit.

    >>> need(1e6, "a table of 125,000 numbers")
    >>> need(1e18, "DeepSea(n=100000)")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    optimist.errors.TooLarge: DeepSea(n=100000) would need 1.0 EB of memory; the limit is ...
    """
    limit, why = _limit()
    if n_bytes > limit:
        raise TooLarge(
            f"{what} would need {in_words(n_bytes)} of memory; the limit is {in_words(limit)} "
            f"({why}; the environment variable {VARIABLE} sets another)"
        )


def in_words(n_bytes: float) -> str:
    """A number of bytes as people write it.

    >>> in_words(1536), in_words(6.1e9)
    ('1.5 kB', '6.1 GB')
    """
    size, units = float(n_bytes), ["B", "kB", "MB", "GB", "TB", "PB", "EB"]
    while size >= 1000 and len(units) > 1:
        size /= 1000
        units.pop(0)
    return f"{size:,.1f} {units[0]}"


def _limit() -> tuple[float, str]:
    """The limit in bytes, and where it comes from."""
    given = os.environ.get(VARIABLE)
    if given is not None:
        try:
            limit = float(given)
        except ValueError:
            limit = float("nan")
        if not limit > 0:
            raise OptimistError(f"{VARIABLE} must be a positive number of bytes; got {given!r}")
        return limit, f"{VARIABLE} = {given}"
    return SHARE * _free(), "half of the free memory"


def _free() -> float:
    """The memory that can be had without swapping; all of it where the system does not say."""
    try:
        available = re.search(r"MemAvailable:\s+(\d+) kB", Path("/proc/meminfo").read_text())
    except OSError:
        available = None
    if available is not None:
        return 1024 * int(available[1])
    return float(os.sysconf("SC_PAGE_SIZE")) * os.sysconf("SC_PHYS_PAGES")
