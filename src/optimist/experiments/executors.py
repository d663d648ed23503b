"""Executors map a function over items: in this process, in worker processes, or on a cluster."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager
from queue import Empty
from typing import Any, TypeVar

import cloudpickle
from loky import cpu_count

from optimist.checks import count
from optimist.experiments.workers import (
    ATTEMPTS,
    WORKERS,
    Failure,
    WorkerPool,
    attempt,
    failure_of,
    pack,
)

__all__ = ["Executor", "Failure", "open_executor"]

T = TypeVar("T")
R = TypeVar("R")

WAIT_SECONDS = 1.0
"""How long to wait for an outcome before looking for new workers."""


@contextmanager
def open_executor(
    name: str = "joblib", jobs: int | None = None, address: str | None = None
) -> Iterator["Executor"]:
    """Open an executor; its workers end with the ``with`` block.

    Parameters
    ----------
    name
        "serial": this process, one item after another. "joblib": worker processes on this machine,
        by loky, the library below joblib. "dask", "ray": a cluster.
    jobs
        Number of items that run at once; by default the number of cores that this process may
        use. Must not be given with ``address``.
    address
        Address of the Dask scheduler or of the Ray head node; by default a cluster is started on
        this machine.

    Examples
    --------
    >>> with open_executor("joblib", jobs=2) as executor:
    ...     sorted(executor.map(abs, [3, -4, 5]))
    [(0, 3), (1, 4), (2, 5)]
    >>> with open_executor("serial") as executor:
    ...     [(_, failure)] = executor.map(len, [2])
    >>> failure.message
    "TypeError: object of type 'int' has no len()"
    """
    names = ("serial", *WORKERS)
    if name not in names:
        raise ValueError(f"executor must be one of {', '.join(names)}; got {name!r}")
    if address is not None and name in ("serial", "joblib"):
        raise ValueError(f"{name!r} works on this machine; {address!r} is for 'dask' or 'ray'")
    if address is not None and jobs is not None:
        raise ValueError(f"the cluster at {address!r} sets the number of jobs; got jobs = {jobs}")
    number = cpu_count() if jobs is None else count(jobs, "jobs")
    with ExitStack() as stack:
        workers = None
        if name != "serial":
            try:
                workers = stack.enter_context(WORKERS[name](number, address))
            except ImportError as error:
                raise ImportError(f"{error}: pip install 'optimist[{name}]'") from error
        executor = Executor(workers)
        stack.callback(executor.close)
        yield executor


class Executor:
    """Maps a function over items, with workers or in this process."""

    def __init__(self, workers: WorkerPool | None) -> None:
        self._workers = workers
        self._running: dict[Any, tuple[int, int]] = {}  # by future: index, number of the attempt
        self._closed = False

    def map(self, work: Callable[[T], R], items: Sequence[T]) -> Iterator[tuple[int, R | Failure]]:
        """Yield the index and outcome of each item, in the order in which they finish.

        If ``work`` raises, or its worker dies in each of three attempts, the outcome of the item is
        a `Failure`; the other items are not affected. The third attempt begins when all others have
        ended, and no other item is tried meanwhile. Closing the iterator, or leaving the executor's
        ``with`` block, stops the workers. An executor runs one map at a time. Without workers, an
        item runs when its outcome is requested.
        """
        if self._workers is None:
            for index, item in enumerate(items):
                yield index, attempt(work, item)
            return
        workers, running = self._workers, self._running
        if running:
            raise RuntimeError("an executor runs one map at a time: close the other iterator first")
        waiting = deque((index, 1) for index in range(len(items)))
        done = workers.queue()

        def is_alone() -> bool:
            # A dying worker may take other items with it: the last attempt at an item is alone.
            return len(running) == 1 and next(iter(running.values()))[1] == ATTEMPTS

        def submit_items() -> None:
            if self._closed:
                raise RuntimeError("outcomes must be read inside the executor's `with` block")
            while waiting and len(running) < workers.room() and not is_alone():
                if running and waiting[0][1] == ATTEMPTS:
                    return
                index, tries = waiting.popleft()
                future = workers.submit(pack(work, items[index]))
                running[future] = index, tries
                future.add_done_callback(done.put)

        try:
            while True:
                submit_items()
                if not running:
                    return
                try:
                    future = done.get(timeout=WAIT_SECONDS)
                except Empty:
                    continue
                index, tries = running.pop(future)
                try:
                    outcome = cloudpickle.loads(future.result())
                except workers.lost as error:
                    if tries < ATTEMPTS:
                        waiting.append((index, tries + 1))  # last, when more memory may be free
                        continue
                    outcome = failure_of(error, "lost")
                except (CancelledError, OSError):
                    raise
                except Exception as error:
                    outcome = failure_of(error)
                submit_items()  # first: the caller may take long over the outcome
                yield index, outcome
        except (CancelledError, OSError) as error:
            running.clear()
            raise ConnectionError("the connection to the workers was lost") from error
        finally:
            self._stop()

    def close(self) -> None:
        """Stop the workers; called at the end of the ``with`` block."""
        self._closed = True
        self._stop()

    def _stop(self) -> None:
        if self._workers is not None and self._running:
            self._workers.stop(list(self._running))
        self._running.clear()
