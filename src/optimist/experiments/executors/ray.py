"""Run items on a Ray cluster, with one core for each item."""

import logging
import os
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from optimist.experiments.executors.clusters import check_reachable, package
from optimist.experiments.executors.outcomes import (
    ATTEMPTS,
    Failure,
    PackedOutcomes,
    Run,
    attempt_packed,
    failure_of,
)

MAX_SUBMITTED = 1000
"""How many items are submitted at a time. A cluster scales up with this number; the cost of each
`ray.wait` grows with it."""


@contextmanager
def ray_workers(jobs: int, address: str | None) -> Iterator[Run]:
    """Run items on the cluster at the address, or on a new one with ``jobs`` cores.

    If the caller has initialised Ray, use that cluster and leave it running.
    """
    ray = package("ray", "ray")
    if ray.is_initialized():
        _check_same_cluster(address, ray.get_runtime_context().gcs_address)
        yield partial(_run, ray)
        return
    quiet = {"log_to_driver": False, "logging_level": logging.ERROR}
    if address is None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # `init` has no argument for it
        ray.init(num_cpus=jobs, include_dashboard=False, **quiet)
    else:
        if address != "auto":
            check_reachable(address, "head of a Ray cluster")
        ray.init(address, **quiet)
    try:
        yield partial(_run, ray)
    finally:
        ray.shutdown()


def _check_same_cluster(address: str | None, present: str) -> None:
    if address not in (None, "auto", present):
        raise ValueError(
            f"Ray is already initialised, at {present!r}: call ray.shutdown() to use {address!r}"
        )


def _run(ray: Any, items: Sequence[bytes]) -> PackedOutcomes:
    # Count attempts here: Ray itself retries without end after running out of memory.
    task = ray.remote(num_cpus=1, max_retries=0)(attempt_packed)
    waiting = deque((index, 1) for index in range(len(items)))
    running: dict[Any, tuple[int, int]] = {}

    def submit_items() -> None:
        while waiting and len(running) < MAX_SUBMITTED:
            index, attempt = waiting.popleft()
            running[task.remote(items[index])] = index, attempt

    try:
        submit_items()
        while running:
            [reference], _ = ray.wait(list(running), num_returns=1)
            index, attempt = running.pop(reference)
            outcome: bytes | Failure | None = None
            try:
                outcome = ray.get(reference)
            except ray.exceptions.RayTaskError as error:  # the worker could not start
                outcome = failure_of(error)
            except ray.exceptions.RayError as error:
                if attempt < ATTEMPTS:
                    waiting.append((index, attempt + 1))
                else:
                    outcome = failure_of(error, "lost")
            submit_items()
            if outcome is not None:
                yield index, outcome
    finally:
        for reference in running:
            ray.cancel(reference, force=True)
