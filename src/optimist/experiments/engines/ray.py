"""The workers of a Ray cluster, with one core for each item."""

import logging
import os
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from optimist.experiments.engines.clusters import knock, package
from optimist.experiments.engines.outcomes import (
    ATTEMPTS,
    Failure,
    PackedOutcomes,
    Run,
    attempt_packed,
    failure_of,
)

UNDER_WAY = 1000
"""How many items Ray has at a time: enough for a cluster to grow by, but not all of them, because
Ray looks at each whenever one is waited for."""


@contextmanager
def ray_workers(jobs: int, address: str | None) -> Iterator[Run]:
    """Run items on the cluster at the address, or on a new one with ``jobs`` cores.

    A Ray that the caller has initialised is used as it is, and left running.
    """
    ray = package("ray", "ray")
    if ray.is_initialized():
        _refuse_another(address, ray.get_runtime_context().gcs_address)
        yield partial(_run, ray)
        return
    quiet = {"log_to_driver": False, "logging_level": logging.ERROR}
    if address is None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # `init` has no argument for it
        ray.init(num_cpus=jobs, include_dashboard=False, **quiet)
    else:
        if address != "auto":
            knock(address, "head of a Ray cluster")
        ray.init(address, **quiet)
    try:
        yield partial(_run, ray)
    finally:
        ray.shutdown()


def _refuse_another(address: str | None, present: str) -> None:
    if address not in (None, "auto", present):
        raise ValueError(
            f"Ray is already initialised, at {present!r}: call ray.shutdown() to use {address!r}"
        )


def _run(ray: Any, items: Sequence[bytes]) -> PackedOutcomes:
    # Attempts are counted here, because Ray tries endlessly what runs out of memory.
    task = ray.remote(num_cpus=1, max_retries=0)(attempt_packed)
    waiting = deque((index, 1) for index in range(len(items)))
    running: dict[Any, tuple[int, int]] = {}

    def hand_out() -> None:
        while waiting and len(running) < UNDER_WAY:
            index, attempt = waiting.popleft()
            running[task.remote(items[index])] = index, attempt

    try:
        hand_out()
        while running:
            [reference], _ = ray.wait(list(running), num_returns=1)
            index, attempt = running.pop(reference)
            outcome: bytes | Failure | None = None
            try:
                outcome = ray.get(reference)
            except ray.exceptions.RayTaskError as error:  # the worker could not even begin
                outcome = failure_of(error)
            except ray.exceptions.RayError as error:
                if attempt < ATTEMPTS:
                    waiting.append((index, attempt + 1))
                else:
                    outcome = failure_of(error, "lost")
            hand_out()
            if outcome is not None:
                yield index, outcome
    finally:
        for reference in running:
            ray.cancel(reference, force=True)
