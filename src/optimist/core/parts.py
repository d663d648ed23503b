"""Large work in parts, on several threads: the same bytes on any number of them.

Which parts there are depends on sizes alone, and what they return is put together in their order.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from optimist.mdp.dynamics import blas_threads, one_thread

PART_BYTES = 1 << 25
"""Size of a part in bytes: work on it takes milliseconds, and a thread some microseconds."""


def parts_of(n: int, bytes_each: int) -> list[tuple[int, int]]:
    """The first and the last of n things, in parts of some `PART_BYTES`.

    Examples
    --------
    >>> parts_of(5, PART_BYTES // 2)
    [(0, 2), (2, 4), (4, 5)]
    """
    size = max(1, PART_BYTES // bytes_each)
    return [(first, min(first + size, n)) for first in range(0, n, size)]


def on_threads(work: Callable[..., Any], parts: Sequence[tuple[Any, ...]]) -> list[Any]:
    """The results of ``work`` for each of the parts, on as many threads as BLAS may use.

    It has to leave the lock of the interpreter to others, as BLAS and compiled functions do.
    """
    n = min(blas_threads(), len(parts))
    with one_thread():  # BLAS itself would add up in another order on more
        if n < 2:
            return [work(*part) for part in parts]
        with ThreadPoolExecutor(n) as pool:
            return list(pool.map(lambda part: work(*part), parts))
