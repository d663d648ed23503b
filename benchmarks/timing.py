"""How times are taken."""

import time
from collections.abc import Callable
from typing import Any


def best_of(repeats: int, run: Callable[[], Any]) -> tuple[float, Any]:
    """The shortest time of several runs, in seconds, and what the last one returned."""
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        result = run()
        times.append(time.perf_counter() - begin)
    return min(times), result
