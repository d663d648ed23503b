"""Run items on a Dask cluster; give each worker one thread, ``dask worker --nthreads 1``."""

import logging
import time
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

from optimist.experiments.executors.clusters import CONNECT_SECONDS, check_reachable, package
from optimist.experiments.executors.outcomes import (
    ATTEMPTS,
    Failure,
    PackedOutcomes,
    Run,
    attempt_packed,
    failure_of,
)

WAIT_SECONDS = 1.0
"""How long to wait for an outcome before looking for new workers."""


@contextmanager
def dask_workers(jobs: int, address: str | None) -> Iterator[Run]:
    """Run items on the cluster at the address, or on a new one with ``jobs`` workers."""
    distributed = package("distributed", "dask")
    if address is not None:
        check_reachable(address, "Dask scheduler")
        with distributed.Client(address, timeout=CONNECT_SECONDS, set_as_default=False) as client:
            yield partial(_run, distributed, client)
        return
    with package("dask", "dask").config.set(
        {"distributed.scheduler.allowed-failures": ATTEMPTS - 1}
    ):
        cluster = distributed.LocalCluster(
            n_workers=jobs,
            threads_per_worker=1,
            memory_limit=None,  # as on the other executors
            dashboard_address=None,
            silence_logs=logging.CRITICAL,
        )
    with cluster, distributed.Client(cluster, set_as_default=False) as client:
        yield partial(_run, distributed, client)


def _run(distributed: Any, client: Any, items: Sequence[bytes]) -> PackedOutcomes:
    waiting = deque(range(len(items)))
    running: dict[Any, int] = {}

    def submit_items() -> None:
        # Submit no more items than there are threads. When a worker dies, Dask counts a failed
        # attempt for every item assigned to it, including those that had not started.
        room = max(1, sum(client.nthreads().values()))
        while waiting and len(running) < room:
            index = waiting.popleft()
            running[client.submit(attempt_packed, items[index], pure=False)] = index

    try:
        submit_items()
        while running:
            try:
                with client.as_current():
                    done = distributed.wait(list(running), WAIT_SECONDS, "FIRST_COMPLETED").done
            except TimeoutError:
                submit_items()
                continue
            for future in done:
                index = running.pop(future)
                outcome = _outcome(distributed, future)
                submit_items()
                yield index, outcome
    except (CancelledError, OSError) as error:
        running.clear()
        raise ConnectionError("the connection to the Dask scheduler was lost") from error
    finally:
        if running:
            _stop(client, list(running))


def _outcome(distributed: Any, future: Any) -> bytes | Failure:
    error = future.exception()
    if error is None:
        outcome: bytes = future.result()
        return outcome
    return failure_of(error, "lost" if isinstance(error, distributed.KilledWorker) else "error")


def _stop(client: Any, futures: list[Any]) -> None:
    """Cancel items; kill the workers that run them, which Dask would not stop."""

    async def kill(dask_worker: Any) -> None:  # nested: nannies cannot import optimist
        await dask_worker.kill(timeout=0.5)

    busy = _busy(client, {future.key for future in futures if future.status == "pending"})
    client.cancel(futures)
    for worker in busy:
        with suppress(KeyError):  # the worker is gone already
            client.run(kill, workers=[worker], nanny=True, on_error="ignore")


def _busy(client: Any, keys: set[str]) -> list[str]:
    """The workers that have these items; waits a second for items that were just submitted."""
    for _ in range(20):
        having = {worker: keys & set(at) for worker, at in client.processing().items()}
        if keys == set().union(*having.values()):
            break
        time.sleep(0.05)
    return [worker for worker, at in having.items() if at]
