"""What it costs to be watched: ``python -m benchmarks.live``.

The CPU time of learning, with a page that nobody has open and with one that a viewer reads, divided
by that without a page; that of the thread of the page's server is left out. Each number is the
median of the ratios of runs one after the other: the machine need not be idle.
"""

import http.client
import os
import statistics
import threading
import time
from collections.abc import Callable
from typing import Any

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
REPEATS = 3


def seconds(
    make: Callable[[], Any], episodes: int, others: tuple[threading.Thread, ...] = (), **live: Any
) -> float:
    """The CPU time of this process, without that of other threads."""
    agent = make()
    clocks = [time.pthread_getcpuclockid(thread.ident) for thread in others if thread.ident]
    begin = time.process_time() - sum(map(time.clock_gettime, clocks))
    agent.learn(episodes, show_progress=False, **live)
    return time.process_time() - sum(map(time.clock_gettime, clocks)) - begin


def read(page: Any, over: threading.Event) -> None:
    """Read the stream of a page, as a browser does."""
    token = page.address.split("/")[3]
    connection = http.client.HTTPConnection("127.0.0.1", page.port)
    connection.request("GET", f"/{token}/events")
    answer = connection.getresponse()
    while not over.is_set():
        answer.readline()
    over.wait()
    connection.close()


def alone(make: Callable[[], Any], episodes: int) -> float:
    """The CPU time with a page that nobody has open."""
    with opt.live.open_page() as page:
        return seconds(make, episodes, (page.thread,), live=page.feed)


def watched(make: Callable[[], Any], episodes: int) -> float:
    """The CPU time with a viewer."""
    over = threading.Event()
    with opt.live.open_page() as page:
        reader = threading.Thread(target=read, args=(page, over), daemon=True)
        reader.start()
        page.opened.wait()
        found = seconds(make, episodes, (page.thread, reader), live=page.feed)
        over.set()
    return found


def main() -> None:
    """Print the table."""
    table = Table("run", "seconds without a page", "nobody watches", "somebody watches")
    for name, (make, episodes) in RUNS.items():
        for run in (seconds, alone, watched):
            run(make, min(episodes, 50))  # compiles, imports
        rows = [
            (seconds(make, episodes), alone(make, episodes), watched(make, episodes))
            for _ in range(REPEATS)
        ]
        base = statistics.median(row[0] for row in rows)
        ratios = [statistics.median(row[i] / row[0] for row in rows) - 1 for i in (1, 2)]
        table.add_row(name, f"{base:.2f}", *(f"{ratio:+.1%}" for ratio in ratios))
    Console().print(table)


if __name__ == "__main__":
    main()
