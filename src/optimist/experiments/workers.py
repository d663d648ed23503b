"""The workers of executors: processes of loky on this machine, a Dask cluster or a Ray cluster."""

import logging
import math
import os
import signal
import socket
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from copy import copy
from dataclasses import dataclass
from importlib import import_module
from multiprocessing import Pipe, current_process, resource_tracker
from multiprocessing.connection import Connection, wait
from queue import SimpleQueue
from threading import Thread
from typing import Any, Literal

import cloudpickle
from loky import BrokenProcessPool, ProcessPoolExecutor
from loky.backend.utils import kill_process_tree
from threadpoolctl import threadpool_limits

Kind = Literal["error", "lost"]

ATTEMPTS = 3
"""How often an item is tried if its worker dies each time."""

CONNECT_SECONDS = 5.0
"""Timeout for connecting to a cluster; Dask's own default is a minute."""

ROOM_SECONDS = 1.0
"""Time between questions to a Dask scheduler for its number of threads. Each is a round trip, in
which no item is submitted."""

FETCHERS = 16
"""How many outcomes are fetched from Dask workers at a time."""

WORKER_ENVIRONMENT = {
    # Set before the worker imports NumPy; limiting threads later would not stop those running.
    **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
    "PYTHONUNBUFFERED": "1",  # workers are killed in the end, with what they have not yet printed
    "LOKY_MAX_MEMORY_LEAK_SIZE": "1e18",  # items differ in size: a worker that grows does not leak
}


@dataclass(frozen=True)
class Failure:
    """The reason why an item has no result."""

    message: str  # one line: the type of the exception and its text
    details: str  # the traceback
    kind: Kind  # "lost" if its worker died in every attempt


def failure_of(error: BaseException, kind: Kind = "error") -> Failure:
    """Convert an exception to a `Failure`."""
    text = "".join(traceback.format_exception_only(error))
    below = error.__traceback__ and error.__traceback__.tb_next  # skip the frame that caught it
    details = "".join(traceback.format_exception(type(error), error, below))
    return Failure(" ".join(text.split()), details, kind)


def attempt(work: Callable[[Any], Any], item: Any) -> Any:
    """Compute ``work(item)`` with one BLAS thread; a `Failure` if it raises."""
    try:
        with threadpool_limits(1):
            return work(item)
    except Exception as error:
        return failure_of(error)


# Loky, Dask and Ray are given bytes: an item or a result that cannot be pickled, or not be loaded
# again, would break a pool of loky, and fail in other words on each of them.


def pack(work: Callable[[Any], Any], item: Any) -> bytes:
    """Pickle an item; if that fails, pickle the failure as an item whose outcome it is."""
    try:
        return bytes(cloudpickle.dumps((work, item)))
    except Exception as error:
        return bytes(cloudpickle.dumps((copy, failure_of(error))))


def run_packed(packed: bytes) -> bytes:
    """Run a pickled item in a worker, and pickle its outcome."""
    try:
        return bytes(cloudpickle.dumps(attempt(*cloudpickle.loads(packed))))
    except (Exception, SystemExit) as error:  # sys.exit in an item does not end the worker
        return bytes(cloudpickle.dumps(failure_of(error)))


@dataclass(frozen=True)
class WorkerPool:
    """The workers that run packed items."""

    submit: Callable[[bytes], Any]  # returns a future, with `result` and `add_done_callback`
    stop: Callable[[list[Any]], None]  # stops the workers that compute these futures
    room: Callable[[], int]  # how many items may be submitted at a time
    lost: tuple[type[Exception], ...]  # raised by a future whose worker died
    queue: Callable[[], Any] = SimpleQueue  # makes the queue of finished futures; has `get`, `put`


@contextmanager
def loky_workers(jobs: int, address: str | None) -> Iterator[WorkerPool]:
    """Run items in up to ``jobs`` pools of one process each, which are reused.

    When a process dies, loky kills all processes of its pool. A pool of one loses one item, and
    it is certain which item the process died of.
    """
    pools: dict[Any, Future[bytes] | None] = {}  # and what they run, or ran last
    parent, parents_end = Pipe(duplex=False)
    options = {"env": WORKER_ENVIRONMENT, "initializer": _follow, "initargs": (parent,)}

    def submit(packed: bytes) -> Any:
        pool = next((p for p, last in pools.items() if last is None or last.done()), None)
        if pool is None:
            pool = ProcessPoolExecutor(1, **options)
            pools[pool] = None  # first: Ctrl-C may come while its process starts
        try:
            with _sigint_blocked():
                pools[pool] = pool.submit(run_packed, packed)
        except BrokenProcessPool:  # its process died: open another
            close(pool)
            return submit(packed)
        return pools[pool]

    def stop(futures: list[Any]) -> None:
        for pool in [pool for pool, last in pools.items() if last in futures]:
            close(pool)

    def close(pool: Any) -> None:
        pool.shutdown(kill_workers=True)
        del pools[pool]

    with parent, parents_end:
        try:
            yield WorkerPool(submit, stop, lambda: jobs, (BrokenProcessPool,))
        finally:
            for pool in list(pools):
                close(pool)


def _follow(parent: Connection) -> None:
    """Make a worker ignore Ctrl-C, which its parent handles, and end when its parent does."""

    def end() -> None:
        wait([parent])  # nothing is ever sent: this returns when the parent's end is closed
        kill_process_tree(current_process())

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=end, daemon=True).start()


@contextmanager
def _sigint_blocked() -> Iterator[None]:
    """Block Ctrl-C in processes started within the block, until they ignore it themselves."""
    if os.name != "posix":
        yield
        return
    resource_tracker.ensure_running()  # starting it within the block would unblock the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def dask_workers(jobs: int, address: str | None) -> Iterator[WorkerPool]:
    """Run items on the Dask cluster at the address, or on a new one with ``jobs`` workers.

    Workers should have one thread, ``dask worker --nthreads 1``. A cluster at an address counts the
    deaths of workers too, before it tells us: see ``distributed.scheduler.allowed-failures``.
    """
    dask, distributed = import_module("dask"), import_module("distributed")
    items: dict[Future[bytes], Any] = {}  # by our futures: those of Dask

    def submit(packed: bytes) -> Any:
        item, outcome = client.submit(run_packed, packed, pure=False), Future[bytes]()
        items[outcome] = item

        def finished(_: Any) -> None:
            with suppress(RuntimeError):  # the block was left: nobody waits for the outcome
                fetchers.submit(fetch, outcome)

        item.add_done_callback(finished)
        return outcome

    def fetch(outcome: Future[bytes]) -> None:
        # A round trip through the scheduler to the worker, so several are under way at a time.
        try:
            outcome.set_result(items.pop(outcome).result())
        except BaseException as error:
            outcome.set_exception(error)

    asked, threads = -math.inf, 0

    def room() -> int:
        # No more items than threads: when a worker dies, Dask loses every item assigned to it,
        # including those that had not started.
        nonlocal asked, threads
        if time.monotonic() - asked >= ROOM_SECONDS:
            threads = sum(client.nthreads().values())
            asked = time.monotonic()
        return max(1, threads)

    async def kill(dask_worker: Any) -> None:  # nested: nannies cannot import optimist
        await dask_worker.kill(timeout=0.5)

    def stop(futures: list[Any]) -> None:
        # Dask would cancel items that have started, but not stop them: kill their workers.
        pending = [item for item in map(items.get, futures) if item is not None]
        keys = {item.key for item in pending if item.status == "pending"}
        for _ in range(20):  # items that were just submitted take a moment to reach a worker
            having = {worker: keys & set(at) for worker, at in client.processing().items()}
            if keys == set().union(*having.values()):
                break
            time.sleep(0.05)
        client.cancel(pending)
        for worker in filter(having.get, having):
            with suppress(KeyError):  # the worker is gone already
                client.run(kill, workers=[worker], nanny=True, on_error="ignore", wait=False)

    options: dict[str, Any] = {"timeout": CONNECT_SECONDS, "set_as_default": False}
    if address is None:
        options |= {"n_workers": jobs, "threads_per_worker": 1, "memory_limit": None}
        # No dashboard, and any free port for the scheduler's HTTP server: None would mean 8787.
        options |= {"dashboard_address": "127.0.0.1:0", "scheduler_kwargs": {"dashboard": False}}
        options |= {"silence_logs": logging.CRITICAL}
    else:
        _check_reachable(address, "Dask scheduler")
    with dask.config.set({"distributed.scheduler.allowed-failures": 0}):
        client = distributed.Client(address, **options)
    with ThreadPoolExecutor(FETCHERS, "optimist-fetch") as fetchers, client:
        yield WorkerPool(submit, stop, room, (distributed.KilledWorker,))


@contextmanager
def ray_workers(jobs: int, address: str | None) -> Iterator[WorkerPool]:
    """Run items on the Ray cluster at the address, or on a new one with ``jobs`` cores.

    If the caller has initialised Ray, use that cluster and leave it running.
    """
    ray = import_module("ray")
    # No retries by Ray itself, which knows no limit after running out of memory.
    task = ray.remote(num_cpus=1, max_retries=0)(run_packed)
    references: dict[Any, Any] = {}

    def submit(packed: bytes) -> Any:
        reference = task.remote(packed)
        future = reference.future()
        references[future] = reference
        future.add_done_callback(references.pop)
        return future

    def stop(futures: list[Any]) -> None:
        for future in futures:
            if (reference := references.get(future)) is not None:
                ray.cancel(reference, force=True)

    connection: AbstractContextManager[Any] = nullcontext()
    if ray.is_initialized():
        present = ray.get_runtime_context().gcs_address
        if address not in (None, "auto", present):
            raise ValueError(
                f"Ray is initialised at {present!r}: call ray.shutdown() to use {address!r}"
            )
    else:
        if address not in (None, "auto"):
            _check_reachable(address, "head of a Ray cluster")
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # `init` has no argument for it
        new = {} if address else {"num_cpus": jobs, "include_dashboard": False}
        connection = ray.init(address, log_to_driver=False, logging_level=logging.ERROR, **new)
    with connection:
        died = ray.exceptions
        lost = (died.WorkerCrashedError, died.NodeDiedError, died.OutOfMemoryError)
        yield WorkerPool(submit, stop, lambda: 1000, lost)  # a cluster scales up with what waits


WORKERS = {"joblib": loky_workers, "dask": dask_workers, "ray": ray_workers}


def _check_reachable(address: str, who: str) -> None:
    """Raise an error unless a server listens at ``host:port``; a protocol may come first."""
    host, _, port = address.rpartition("://")[2].rpartition(":")
    if not host or not port.isdecimal():
        raise ValueError(f"{address!r} is not the address of a {who}, such as '10.0.0.1:8786'")
    try:
        socket.create_connection((host, int(port)), CONNECT_SECONDS).close()
    except OSError as error:
        message = f"no {who} answers at {address!r}: is it running there? ({error})"
        raise ConnectionError(message) from None
