"""Choosing an engine by its name, and what the engines with workers have in common."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from difflib import get_close_matches
from typing import Protocol
from weakref import WeakSet

from loky import cpu_count

from optimist.checks import count
from optimist.experiments.engines.dask import dask_workers
from optimist.experiments.engines.outcomes import Failure, PackedOutcomes, R, Run, T, pack, unpack
from optimist.experiments.engines.processes import process_workers
from optimist.experiments.engines.ray import ray_workers
from optimist.experiments.engines.serial import Serial

ENGINES = ("serial", "joblib", "dask", "ray")


class Engine(Protocol):
    """Something that maps a function over items."""

    def map(self, work: Callable[[T], R], items: Sequence[T]) -> Iterator[tuple[int, R | Failure]]:
        """The index and outcome of each item, as they finish, in whatever order.

        An item whose ``work`` raises has a `Failure` as its outcome, and the others go on. Closing
        the iterator stops the workers, and so does leaving the block of the engine.
        """


@contextmanager
def open_engine(
    name: str = "joblib", jobs: int | None = None, address: str | None = None
) -> Iterator[Engine]:
    """An engine, whose workers end with the block.

    Parameters
    ----------
    name
        "serial": one after another in this process. "joblib": worker processes on this machine.
        "dask", "ray": the workers of a cluster.
    jobs
        How many items are worked on at once; by default one for each core that this process may
        use. A cluster that is already there decides for itself.
    address
        Where the scheduler of the Dask cluster or the head of the Ray cluster listens; by default
        a cluster is started on this machine.

    Examples
    --------
    >>> with open_engine("joblib", jobs=2) as engine:
    ...     sorted(engine.map(abs, [3, -4, 5]))
    [(0, 3), (1, 4), (2, 5)]
    >>> with open_engine("jobilb") as engine:
    ...     pass
    Traceback (most recent call last):
    ...
    ValueError: there is no engine 'jobilb', but serial, joblib, dask, ray: did you mean 'joblib'?
    """
    _check(name, jobs, address)
    if name == "serial":
        yield Serial()
        return
    with _workers(name, jobs or cpu_count(), address) as run, _Remote(run) as engine:
        yield engine


def _check(name: str, jobs: int | None, address: str | None) -> None:
    if name not in ENGINES:
        near = get_close_matches(name, ENGINES, n=1, cutoff=0.4)
        hint = f": did you mean {near[0]!r}?" if near else ""
        raise ValueError(f"there is no engine {name!r}, but {', '.join(ENGINES)}{hint}")
    if jobs is not None:
        count(jobs, "jobs")
    if address is not None and name in ("serial", "joblib"):
        raise ValueError(
            f"{name!r} works on this machine; the address {address!r} is for 'dask' or 'ray'"
        )
    if address is not None and jobs is not None:
        raise ValueError(
            f"the cluster at {address!r} has workers of its own: leave out jobs = {jobs}"
        )


def _workers(name: str, jobs: int, address: str | None) -> AbstractContextManager[Run]:
    if name == "dask":
        return dask_workers(jobs, address)
    if name == "ray":
        return ray_workers(jobs, address)
    return process_workers(jobs)


class _Remote:
    """An engine whose items travel to workers."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._closed = False
        self._under_way: WeakSet[PackedOutcomes] = WeakSet()

    def __enter__(self) -> "_Remote":
        return self

    def __exit__(self, *exception: object) -> None:
        """Stop what is under way: the iterators may live longer than the block."""
        self._closed = True
        for outcomes in list(self._under_way):
            outcomes.close()

    def map(self, work: Callable[[T], R], items: Sequence[T]) -> Iterator[tuple[int, R | Failure]]:
        self._refuse_if_closed()
        outcomes = self._run([pack(work, item) for item in items])
        self._under_way.add(outcomes)
        try:
            for index, outcome in outcomes:
                yield index, unpack(outcome)
                self._refuse_if_closed()
        finally:
            outcomes.close()

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise RuntimeError("this engine is closed: read the outcomes inside its `with` block")
