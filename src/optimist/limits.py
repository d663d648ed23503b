"""How much memory one thing may take, checked before it is taken.

A file of a few hundred kilobytes, or a number in a study, can ask for more memory than there is.
Whoever allocates by such a number calls `need` first. The limit is half of the memory that is free
now, in this container if it is one; the environment variable ``OPTIMIST_MAX_BYTES`` overrides it.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from optimist.errors import OptimistError, TooLarge

VARIABLE = "OPTIMIST_MAX_BYTES"
SHARE = 0.5
"""Of the free memory."""

LITTLE = 2**20
"""Less than that there always is: to ask for free memory takes a millisecond."""

TEXT = 30
"""How many times the size of a file JSON or TOML may take: ``[],`` is an object of 64 bytes."""

SYSTEM = Path("/")
"""Where Linux tells of memory."""

LIMIT_FILES = {
    "": ("memory.max", "memory.current"),
    "memory": ("memory.limit_in_bytes", "memory.usage_in_bytes"),
}
"""The files of control groups that tell limit and use, of version 2 and of version 1."""


def need(n_bytes: float, what: str) -> None:
    """Raise `TooLarge` if ``what`` needs more bytes than the limit.

    >>> need(1e6, "a table of 125,000 numbers")
    >>> need(1e18, "DeepSea(n=100000)")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    optimist.errors.TooLarge: DeepSea(n=100000) would need 1.0 EB of memory; the limit is ...
    """
    if n_bytes < LITTLE and VARIABLE not in os.environ:
        return
    limit, why = _limit()
    if n_bytes > limit:
        raise TooLarge(
            f"{what} would need {in_words(n_bytes)} of memory; the limit is {in_words(limit)} "
            f"({why})"
        )


def need_to_read(path: str | Path, times: float = 1) -> None:
    """Raise `TooLarge` if reading a file needs too much: so many times its size."""
    need(times * Path(path).stat().st_size, f"reading {path}")


def in_words(n_bytes: float) -> str:
    """A number of bytes as people write it.

    >>> in_words(1536), in_words(6.1e9)
    ('1.5 kB', '6.1 GB')
    """
    size, units = float(min(n_bytes, 10**99)), ["B", "kB", "MB", "GB", "TB", "PB", "EB"]
    while size >= 1000 and len(units) > 1:
        size /= 1000
        units.pop(0)
    return f"{size:,.1f} {units[0]}" if size < 1e6 else f"{size:.1e} {units[0]}"


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
    return SHARE * _free(), f"half of the free memory; {VARIABLE} in the environment sets another"


def _free() -> float:
    """The memory that can be had without swapping; all of it where the system does not say."""
    available = _number(SYSTEM / "proc/meminfo", r"MemAvailable:\s+(\d+) kB")
    if available is None:
        return float(os.sysconf("SC_PAGE_SIZE")) * os.sysconf("SC_PHYS_PAGES")
    return min([1024 * available, *_left_in_groups()])


def _left_in_groups() -> Iterator[float]:
    """What the control groups of this process leave of their limits, as in a container."""
    try:
        lines = (SYSTEM / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        lines = []
    for line in lines:
        _, controller, path = line.split(":", 2)
        if controller not in LIMIT_FILES:
            continue
        most, used = LIMIT_FILES[controller]
        own = SYSTEM / "sys/fs/cgroup" / controller / path.lstrip("/")
        for group in (own, *own.parents):  # a limit holds for all below it
            limit, taken = _number(group / most), _number(group / used)
            if limit is not None and taken is not None:
                # Pages of files count as taken, and are given back when memory is short.
                yield limit - taken + (_number(group / "memory.stat", r"inactive_file (\d+)") or 0)


def _number(file: Path, pattern: str = r"(\d+)") -> int | None:
    """The first such number in a file, if there is one."""
    try:
        found = re.search(pattern, file.read_text())
    except OSError:
        return None
    return None if found is None else int(found[1])
