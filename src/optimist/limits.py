"""A limit on memory, checked before memory is allocated.

A small file, or a number in a study, can ask for more memory than there is. Code that allocates by
such a number calls `need` first. The limit is half of the free memory, of the container if there is
one; the environment variable ``OPTIMIST_MAX_BYTES`` overrides it.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from optimist.errors import OptimistError, TooLarge

VARIABLE = "OPTIMIST_MAX_BYTES"
SHARE = 0.5
"""The limit as a share of the free memory."""

UNCHECKED = 2**20
"""Fewer bytes are not checked: reading the free memory takes a millisecond."""

TEXT = 30
"""Memory of parsed JSON or TOML, as a multiple of the file size: ``[],`` takes 64 bytes."""

SYSTEM = Path("/")
"""The root of the file system, in which Linux reports memory."""

LIMIT_FILES = {
    "": ("memory.max", "memory.current"),
    "memory": ("memory.limit_in_bytes", "memory.usage_in_bytes"),
}
"""The files with limit and usage of control groups, of version 2 and version 1."""


def need(n_bytes: float, what: str) -> None:
    """Raise `TooLarge` if ``what`` needs more bytes than the limit.

    >>> need(1e6, "a table of 125,000 numbers")
    >>> need(1e18, "DeepSea(n=100000)")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    optimist.errors.TooLarge: DeepSea(n=100000) would need 1.0 EB of memory; the limit is ...
    """
    if n_bytes < UNCHECKED and VARIABLE not in os.environ:
        return
    limit, why = _limit()
    if n_bytes > limit:
        raise TooLarge(
            f"{what} would need {in_words(n_bytes)} of memory; the limit is {in_words(limit)} "
            f"({why})"
        )


def need_to_read(path: str | Path, times: float = 1) -> None:
    """Raise `TooLarge` if ``times`` the size of a file exceeds the limit."""
    need(times * Path(path).stat().st_size, f"reading {path}")


def in_words(n_bytes: float) -> str:
    """A number of bytes in the largest fitting unit.

    >>> in_words(1536), in_words(6.1e9)
    ('1.5 kB', '6.1 GB')
    """
    size, units = float(min(n_bytes, 10**99)), ["B", "kB", "MB", "GB", "TB", "PB", "EB"]
    while size >= 1000 and len(units) > 1:
        size /= 1000
        units.pop(0)
    return f"{size:,.1f} {units[0]}" if size < 1e6 else f"{size:.1e} {units[0]}"


def _limit() -> tuple[float, str]:
    """The limit in bytes, and its source."""
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
    """Memory available without swapping; all memory on systems that do not report it."""
    available = _number(SYSTEM / "proc/meminfo", r"MemAvailable:\s+(\d+) kB")
    if available is None:
        return float(os.sysconf("SC_PAGE_SIZE")) * os.sysconf("SC_PHYS_PAGES")
    return min([1024 * available, *_free_in_groups()])


def _free_in_groups() -> Iterator[float]:
    """The free memory of each control group of this process, such as a container."""
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
        for group in (own, *own.parents):  # a limit applies to all groups below it
            limit, taken = _number(group / most), _number(group / used)
            if limit is not None and taken is not None:
                # Cached file pages count as used, but the system frees them when needed.
                yield limit - taken + (_number(group / "memory.stat", r"inactive_file (\d+)") or 0)


def _number(file: Path, pattern: str = r"(\d+)") -> int | None:
    """The first match of a pattern in a file, as a number; None if there is none."""
    try:
        found = re.search(pattern, file.read_text())
    except OSError:
        return None
    return None if found is None else int(found[1])
