"""A study on a cluster, simulated on the code that schedules it: ``python -m benchmarks.cluster``.

The times of some runs of the shipped study ``exploration`` are recorded here. `optimist.run` then
carries out the whole study with more seeds, some 20,000 runs, each with a time drawn from those
recorded. Everything that the scheduling process does is real: it makes the runs and their folders,
packs, submits and collects them, tries again those that were lost, and shows the progress. The
workers are simulated (`benchmarks.simulated`). At last a real Dask scheduler runs items that sleep,
beside a simulation of the same items. About eight minutes.
"""

import os

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # read when BLAS is loaded, so before NumPy is imported

import json
import math
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import optimist as opt
from benchmarks.simulated import Cluster
from optimist.checks import FloatArray
from optimist.experiments.execute import Outcome, Task, execute
from optimist.experiments.executors import Executor, open_executor
from optimist.experiments.workers import WORKERS, WorkerPool

STUDY, SEEDS = "exploration", 13
RECORDED = 300
LIFETIME = 60.0  # seconds that a worker lives in the mean, where workers die
ITEMS, A_SECOND = 1000, 50  # of the comparison with Dask: how many, and how many end in a second


def recorded(study: opt.Study, rng: np.random.Generator) -> FloatArray:
    """The times of some runs of a study, in seconds, one after another in this process."""
    times = []
    with tempfile.TemporaryDirectory() as made:
        for number in rng.choice(len(study.runs), RECORDED, replace=False):
            spec = study.runs[number].spec
            short = replace(spec, episodes=1, stride=1)  # loads the compiled code
            execute(Task(short, str(Path(made, short.id))))
            begin = time.perf_counter()
            outcome = execute(Task(spec, str(Path(made, spec.id))))
            times.append(time.perf_counter() - begin)
            if outcome.state != "finished":
                raise SystemExit(f"{spec.id}: {outcome.state}, {outcome.message}")
    return np.sort(times)


def finish(task: Task) -> Outcome:
    """Leave the file by which a run is known to have finished."""
    folder = Path(task.folder)
    folder.mkdir(exist_ok=True)
    (folder / "result.json").write_text("{}")
    return Outcome("finished")


def simulate(study: opt.Study, cluster: Cluster) -> tuple[int, float]:
    """Carry out a study: how many runs failed, and the real seconds before the first is packed."""
    begin = time.perf_counter()
    started = begin

    @contextmanager
    def workers(jobs: int, address: str | None) -> Iterator[WorkerPool]:
        nonlocal started
        started = time.perf_counter()
        yield cluster.pool()

    WORKERS["simulated"] = workers
    try:
        with tempfile.TemporaryDirectory() as made:
            results = opt.run(study, made, executor="simulated")
            return len(results.failures), started - begin
    finally:
        del WORKERS["simulated"]


HEAD = (
    "workers", "what", "makespan, s", "ideal, s", "ratio", "workers at work",
    "scheduler, ms a run", "most pending", "their kB", "deaths", "failed",
)  # fmt: skip


def line(*cells: object) -> None:
    """Print a row of a table."""
    print(f"| {' | '.join(map(str, cells))} |", flush=True)


def row(
    study: opt.Study,
    seconds: FloatArray,
    workers: int,
    what: str = "",
    lifetime: float = math.inf,
    overhead: float = 0.0,
) -> float:
    """Simulate a study on some workers, and print what came of it; the seconds before it began."""
    rng = np.random.default_rng(0)
    lives = partial(rng.exponential, lifetime) if lifetime < math.inf else partial(float, "inf")
    times = dict(zip((run.spec.id for run in study.runs), seconds, strict=True))
    cluster = Cluster(
        workers, lambda task: times[task.specification.id], finish, lives, overhead=overhead
    )
    failed, before = simulate(study, cluster)
    ideal = max(seconds.sum() / workers, seconds.max())
    line(
        *(f"{workers:,}", what, f"{cluster.now:,.1f}", f"{ideal:,.1f}"),
        *(f"{cluster.now / ideal:.2f}", f"{seconds.sum() / workers / cluster.now:.0%}"),
        f"{1e3 * cluster.scheduling / cluster.submitted:.2f}",
        *(f"{cluster.most_pending:,}", f"{cluster.most_bytes / 1e3:,.0f}"),
        *(cluster.deaths, failed),
    )
    return before


@contextmanager
def dask(workers: int) -> Iterator[str]:
    """The address of a Dask scheduler in a process of its own, its workers in another."""
    with tempfile.TemporaryDirectory() as made:
        file = Path(made, "scheduler.json")
        command = [sys.executable, "-m", "dask", "scheduler", "--host", "127.0.0.1", "--port", "0"]
        quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        options = ["--no-dashboard", "--scheduler-file", str(file)]
        scheduler = subprocess.Popen([*command, *options], **quiet)
        host = None
        try:
            while not (file.exists() and file.read_text()):
                time.sleep(0.1)
            address = json.loads(file.read_text())["address"]
            words = [sys.executable, "-m", "benchmarks.dask_host", address, str(workers), made]
            host = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
            assert host.stdout is not None
            if host.stdout.readline() != "connected\n":
                raise SystemExit("the Dask workers did not start")
            yield address
        finally:
            for process in filter(None, (host, scheduler)):
                process.terminate()
                process.wait()


def against_dask(times: FloatArray, workers: int, rng: np.random.Generator) -> float:
    """Items that sleep on a real Dask scheduler, and simulated; its processor time an item."""
    usual = times[times <= np.quantile(times, 0.95)]
    drawn = rng.choice(usual, ITEMS)
    items = (drawn * workers / A_SECOND / drawn.mean()).tolist()
    with dask(workers) as address, open_executor("dask", address=address) as executor:
        list(executor.map(time.sleep, [0.0] * workers))  # all have imported what they need
        begin, before = time.perf_counter(), time.process_time()
        for _ in executor.map(time.sleep, items):
            pass
        taken, spent = time.perf_counter() - begin, time.process_time() - before
    cluster = Cluster(workers, lambda item: item[1])
    for _ in Executor(cluster.pool()).map(repr, list(enumerate(items))):
        pass
    ideal = max(sum(items) / workers, *items)
    line(
        *(workers, f"{ideal:.1f}", f"{cluster.now:.1f}", f"{taken:.1f}"),
        *(f"{taken / cluster.now:.2f}", f"{1e3 * spent / ITEMS:.2f}"),
    )
    return spent / ITEMS


def main() -> None:
    """Print the tables."""
    rng = np.random.default_rng(0)
    study = replace(opt.Study.read(STUDY), seeds=SEEDS)
    begin = time.perf_counter()
    number = len(study.runs)
    made = time.perf_counter() - begin
    times = recorded(study, rng)
    low, median, high = np.quantile(times, (0.1, 0.5, 0.9))
    print(
        f"{RECORDED} runs of {STUDY} took {times.sum():.0f} s: {times.mean():.2f} s in the mean, "
        f"{median:.2f} in the median, {low:.2f} to {high:.2f} in the middle four fifths, "
        f"{times[-1]:.1f} at most."
    )
    seconds = rng.choice(times, number)
    print(f"{number:,} runs with times drawn from these, {seconds.sum():,.0f} s of work; ", end="")
    print(f"making the runs took {made:.1f} s.\n")
    print("A real Dask scheduler with items that sleep, and the same items simulated:\n")
    line("workers", "ideal, s", "simulated, s", "Dask, s", "ratio", "client, ms an item")
    print("|---" * 6 + "|")
    overhead = [against_dask(times, workers, rng) for workers in (50, 200)]
    print("\nThe study, simulated:\n")
    line(*HEAD)
    print("|---" * len(HEAD) + "|")
    before = [row(study, seconds, workers) for workers in (1, 10, 100, 1000)]
    row(study, np.sort(seconds)[::-1], 1000, "longest first")
    row(study, seconds, 1000, f"a worker dies every {LIFETIME:.0f} s", LIFETIME)
    client = max(overhead)
    for workers, longer in ((100, 1), (1000, 1), (1000, 10), (1000, 100)):
        times_as_long = f", runs {longer} times as long" if longer > 1 else ""
        row(study, longer * seconds, workers, f"Dask's client{times_as_long}", overhead=client)
    print(f"\nBefore the first run was packed, {max(before):.1f} s passed at most.", end="")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    print(f" Peak memory of this process: {peak:.2f} GB.")


if __name__ == "__main__":
    main()
