"""How times are taken."""

import time
from collections.abc import Callable
from typing import Any


def best_of(
    repeats: int, run: Callable[[], Any], clock: Callable[[], float] = time.perf_counter
) -> tuple[float, Any]:
    """The shortest time of several runs, in seconds, and what the last one returned.

    With `time.process_time` it is that of the processor, whoever else uses it.
    """
    times = []
    for _ in range(repeats):
        begin = clock()
        result = run()
        times.append(clock() - begin)
    return min(times), result
