"""Open an executor by name; the part that all executors with workers share."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from difflib import get_close_matches
from typing import Protocol
from weakref import WeakSet

from loky import cpu_count

from optimist.checks import count
from optimist.experiments.executors.dask import dask_workers
from optimist.experiments.executors.outcomes import Failure, PackedOutcomes, R, Run, T, pack, unpack
from optimist.experiments.executors.processes import process_workers
from optimist.experiments.executors.ray import ray_workers
from optimist.experiments.executors.serial import Serial

EXECUTORS = ("serial", "joblib", "dask", "ray")


class Executor(Protocol):
    """Maps a function over items."""

    def map(self, work: Callable[[T], R], items: Sequence[T]) -> Iterator[tuple[int, R | Failure]]:
        """Yield the index and outcome of each item, in the order in which they finish.

        If ``work`` raises, the outcome of the item is a `Failure`; the other items are not
        affected. Closing the iterator, or leaving the executor's ``with`` block, stops the workers.
        """


@contextmanager
def open_executor(
    name: str = "joblib", jobs: int | None = None, address: str | None = None
) -> Iterator[Executor]:
    """Open an executor; its workers end with the ``with`` block.

    Parameters
    ----------
    name
        "serial": this process, one item after another. "joblib": worker processes on this machine.
        "dask", "ray": a cluster.
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
    >>> with open_executor("rey") as executor:
    ...     pass
    Traceback (most recent call last):
    ...
    ValueError: executor must be one of serial, joblib, dask, ray; got 'rey': did you mean 'ray'?
    """
    _check(name, jobs, address)
    if name == "serial":
        yield Serial()
        return
    with _workers(name, jobs or cpu_count(), address) as run, _Remote(run) as executor:
        yield executor


def _check(name: str, jobs: int | None, address: str | None) -> None:
    if name not in EXECUTORS:
        near = get_close_matches(name, EXECUTORS, n=1, cutoff=0.4)
        hint = f": did you mean {near[0]!r}?" if near else ""
        raise ValueError(f"executor must be one of {', '.join(EXECUTORS)}; got {name!r}{hint}")
    if jobs is not None:
        count(jobs, "jobs")
    if address is not None and name in ("serial", "joblib"):
        raise ValueError(
            f"{name!r} works on this machine; the address {address!r} is for 'dask' or 'ray'"
        )
    if address is not None and jobs is not None:
        raise ValueError(
            f"the cluster at {address!r} sets the number of jobs: leave out jobs = {jobs}"
        )


def _workers(name: str, jobs: int, address: str | None) -> AbstractContextManager[Run]:
    if name == "dask":
        return dask_workers(jobs, address)
    if name == "ray":
        return ray_workers(jobs, address)
    return process_workers(jobs)


class _Remote:
    """An executor that sends its items to workers."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._closed = False
        self._running: WeakSet[PackedOutcomes] = WeakSet()

    def __enter__(self) -> "_Remote":
        return self

    def __exit__(self, *exception: object) -> None:
        """Stop running items: their iterators may outlive the block."""
        self._closed = True
        for outcomes in list(self._running):
            outcomes.close()

    def map(self, work: Callable[[T], R], items: Sequence[T]) -> Iterator[tuple[int, R | Failure]]:
        self._check_open()
        outcomes = self._run([pack(work, item) for item in items])
        self._running.add(outcomes)
        try:
            for index, outcome in outcomes:
                yield index, unpack(outcome)
                self._check_open()
        finally:
            outcomes.close()

    def _check_open(self) -> None:
        if self._closed:
            raise RuntimeError("this executor is closed: read the outcomes inside its `with` block")
