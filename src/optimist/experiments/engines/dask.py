"""The workers of a Dask cluster; give each one thread, ``dask worker --nthreads 1``."""

import logging
import time
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

from optimist.experiments.engines.clusters import PATIENCE, knock, package
from optimist.experiments.engines.outcomes import (
    ATTEMPTS,
    Failure,
    PackedOutcomes,
    Run,
    attempt_packed,
    failure_of,
)

LOOK_SECONDS = 1.0
"""How often to look for workers that have joined."""


@contextmanager
def dask_workers(jobs: int, address: str | None) -> Iterator[Run]:
    """Run items on the cluster at the address, or on a new one with ``jobs`` workers."""
    distributed = package("distributed", "dask")
    if address is not None:
        knock(address, "Dask scheduler")
        with distributed.Client(address, timeout=PATIENCE, set_as_default=False) as client:
            yield partial(_run, distributed, client)
        return
    with package("dask", "dask").config.set(
        {"distributed.scheduler.allowed-failures": ATTEMPTS - 1}
    ):
        cluster = distributed.LocalCluster(
            n_workers=jobs,
            threads_per_worker=1,
            memory_limit=None,  # items may have as much memory as on the other engines
            dashboard_address=None,
            silence_logs=logging.CRITICAL,
        )
    with cluster, distributed.Client(cluster, set_as_default=False) as client:
        yield partial(_run, distributed, client)


def _run(distributed: Any, client: Any, items: Sequence[bytes]) -> PackedOutcomes:
    waiting = deque(range(len(items)))
    running: dict[Any, int] = {}

    def hand_out() -> None:
        # No more than there are threads: Dask blames the death of a worker on all the items that
        # it was to run, and may give up one that only stood in line behind the culprit.
        room = max(1, sum(client.nthreads().values()))
        while waiting and len(running) < room:
            index = waiting.popleft()
            running[client.submit(attempt_packed, items[index], pure=False)] = index

    try:
        hand_out()
        while running:
            try:
                with client.as_current():
                    done = distributed.wait(list(running), LOOK_SECONDS, "FIRST_COMPLETED").done
            except TimeoutError:
                hand_out()
                continue
            for future in done:
                index = running.pop(future)
                outcome = _outcome(distributed, future)
                hand_out()
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
    """Cancel items; the workers that are at them, and would go on, are killed and replaced."""

    async def kill(dask_worker: Any) -> None:  # inside, for nannies that cannot import optimist
        await dask_worker.kill(timeout=0.5)

    busy = _busy(client, {future.key for future in futures if future.status == "pending"})
    client.cancel(futures)
    for worker in busy:
        with suppress(KeyError):  # it is gone already
            client.run(kill, workers=[worker], nanny=True, on_error="ignore")


def _busy(client: Any, keys: set[str]) -> list[str]:
    """The workers that have these items, of which the latest may still be on their way."""
    for _ in range(20):
        having = {worker: keys & set(at) for worker, at in client.processing().items()}
        if keys == set().union(*having.values()):
            break
        time.sleep(0.05)
    return [worker for worker, at in having.items() if at]
