"""What it costs to be watched: ``python -m benchmarks.live``.

By how much more time learning takes with a page that nobody has open and with one that a viewer
reads, in another process: CPU time, without that of the thread of the page's server, and wall time.
Each number is the median of the ratios of runs one after the other; so for CPU time the machine
need not be idle, and for wall time it must have a core to spare.
"""

import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

from rich.console import Console
from rich.table import Table

import optimist as opt

RUNS: dict[str, tuple[Callable[[], Any], int]] = {
    "FourRooms, 2,000 episodes": (lambda: opt.Optimist(opt.envs.FourRooms(), seed=0), 2_000),
    "FourRooms, 10,000 episodes": (lambda: opt.Optimist(opt.envs.FourRooms(), seed=0), 10_000),
    "RiverSwim, 20,000 episodes": (lambda: opt.RmaxRaviUcb(opt.envs.RiverSwim(), seed=0), 20_000),
    "CartPole-v1, 300 episodes": (
        lambda: opt.Optimist(opt.envs.Gym("CartPole-v1"), seed=0),
        300,
    ),
    "MountainCar-v0, 60 episodes": (
        lambda: opt.Optimist(opt.envs.Gym("MountainCar-v0"), seed=0),
        60,
    ),
}
REPEATS, MEASURED_SECONDS = 3, 4.0
"""Runs are repeated so often at least, and until they have taken so long together."""

READER = """
import http.client, sys
connection = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]))
connection.request("GET", f"/{sys.argv[2]}/events")
answer = connection.getresponse()
while answer.readline():
    pass
"""
"""Reads the stream of a page until it closes, as a browser does."""


class Cost(NamedTuple):
    """What a run takes, in seconds, and the frames of it."""

    cpu: float
    wall: float
    frames: int = 0


def cost(
    make: Callable[[], Any], episodes: int, server: threading.Thread | None = None, **live: Any
) -> Cost:
    """Learn, and leave out the CPU time of the page's server."""
    agent, clock = make(), None
    if server is not None and server.ident is not None:
        clock = time.pthread_getcpuclockid(server.ident)

    def now() -> tuple[float, float]:
        others = 0.0 if clock is None else time.clock_gettime(clock)
        return time.process_time() - others, time.perf_counter()

    began = now()
    agent.learn(episodes, show_progress=False, **live)
    cpu, wall = (after - before for after, before in zip(now(), began, strict=True))
    return Cost(cpu, wall, len(live["live"].frames) if live else 0)


def alone(make: Callable[[], Any], episodes: int) -> Cost:
    """With a page that nobody has open."""
    with opt.live.open_page() as page:
        return cost(make, episodes, page.thread, live=page.feed)


def watched(make: Callable[[], Any], episodes: int) -> Cost:
    """With a viewer."""
    with opt.live.open_page() as page:
        token = page.address.split("/")[3]
        with subprocess.Popen([sys.executable, "-c", READER, str(page.port), token]):
            page.opened.wait()
            found = cost(make, episodes, page.thread, live=page.feed)
            page.close()
    return found


def measure(make: Callable[[], Any], episodes: int) -> tuple[str, ...]:
    """A row of the table."""
    for run in (cost, alone, watched):
        run(make, min(episodes, 50))  # compiles, imports
    rows: list[list[Cost]] = []
    while len(rows) < REPEATS or sum(row[0].wall for row in rows) < MEASURED_SECONDS:
        rows.append([run(make, episodes) for run in (cost, alone, watched)])

    def slower(which: int, what: str) -> str:
        ratios = [getattr(row[which], what) / getattr(row[0], what) for row in rows]
        return f"{statistics.median(ratios) - 1:+.1%}"

    def column(which: int) -> str:
        frames = statistics.median_low(row[which].frames for row in rows)
        return f"{slower(which, 'cpu')}, {slower(which, 'wall')}, {frames}"

    seconds = statistics.median(row[0].wall for row in rows)
    return f"{seconds:.2f}", column(1), column(2)


def main() -> None:
    """Print the table, or the rows whose names contain what is given."""
    table = Table("run", "seconds", "nobody watches", "somebody watches")
    table.caption = "seconds without a page; then what is added to CPU and wall time, and frames"
    for name, (make, episodes) in RUNS.items():
        if any(part in name for part in sys.argv[1:] or [""]):
            table.add_row(name, *measure(make, episodes))
    Console().print(table)


if __name__ == "__main__":
    main()
