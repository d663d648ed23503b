"""Worker processes on this machine, started by loky, the library below joblib.

Each worker has its own pipe and at most one item, so a killed worker costs one attempt at one item;
loky's own pool would lose all running items. A worker ends when its pipe closes, also in the middle
of an item and also if this process is killed.
"""

import faulthandler
import os
import signal
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing import current_process
from multiprocessing.connection import Connection, wait
from multiprocessing.resource_tracker import ensure_running
from queue import SimpleQueue
from threading import Event, Thread
from typing import Any

from loky.backend import get_context
from loky.backend.utils import kill_process_tree

from optimist.experiments.executors.outcomes import (
    ATTEMPTS,
    Failure,
    PackedOutcomes,
    Run,
    attempt_packed,
)

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
"""Set before the worker imports NumPy; limiting threads later would not stop those running."""

EXIT_SECONDS = 5.0
"""How long to wait for a worker without an item to end before killing it."""


@contextmanager
def process_workers(jobs: int) -> Iterator[Run]:
    """Run items in up to ``jobs`` processes, which are reused."""
    idle: list[Worker] = []
    try:
        yield partial(_run, jobs, idle)
    finally:
        for worker in idle:
            worker.connection.close()
        for worker in idle:
            worker.end(EXIT_SECONDS)


class Worker:
    """A process that runs items."""

    def __init__(self) -> None:
        context = get_context("loky")
        self.connection, theirs = context.Pipe()
        self._process = context.Process(target=serve, args=(theirs,), env=ONE_THREAD)
        with _sigint_blocked():
            self._process.start()
        theirs.close()  # otherwise the pipe would not close when the worker dies

    def end(self, timeout: float = 0.0) -> int | None:
        """Wait for the process to end, then kill it and its children; return its exit code."""
        self.connection.close()
        self._process.join(timeout)
        if self._process.is_alive():
            kill_process_tree(self._process)
        code: int | None = self._process.exitcode
        return code


@contextmanager
def _sigint_blocked() -> Iterator[None]:
    """Block Ctrl-C in processes started within the block, until they ignore it themselves."""
    if os.name != "posix":
        yield
        return
    ensure_running()  # starting Python's resource tracker would unblock it
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def serve(connection: Connection) -> None:
    """Run the items that arrive on a connection, in a worker, until it closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C
    faulthandler.enable()
    items: SimpleQueue[bytes | None] = SimpleQueue()
    running = Event()
    Thread(target=_receive, args=(connection, items, running), daemon=True).start()
    while (item := items.get()) is not None:
        outcome = attempt_packed(item)
        running.clear()
        with suppress(OSError):
            connection.send_bytes(outcome)


def _receive(connection: Connection, items: "SimpleQueue[bytes | None]", running: Event) -> None:
    """Put arriving items in a queue. When the connection closes, kill a worker that has an item."""
    with suppress(EOFError, OSError):
        while True:
            item = connection.recv_bytes()
            running.set()
            items.put(item)
    items.put(None)
    if running.is_set():
        kill_process_tree(current_process())


def _run(jobs: int, idle: list[Worker], items: Sequence[bytes]) -> PackedOutcomes:
    waiting = deque((index, 1) for index in range(len(items)))
    busy: dict[Any, tuple[Worker, int, int]] = {}  # by connection

    def submit_items() -> None:
        while waiting and len(busy) < jobs:
            index, attempt = waiting.popleft()
            worker = idle.pop() if idle else Worker()
            busy[worker.connection] = worker, index, attempt
            with suppress(OSError):  # a dead worker is noticed when its outcome is read
                worker.connection.send_bytes(items[index])

    try:
        # Start all workers first: sending a large item blocks until its worker reads it.
        idle.extend(Worker() for _ in range(min(jobs, len(items)) - len(idle)))
        submit_items()
        while busy:
            for connection in wait(list(busy)):
                worker, index, attempt = busy[connection]
                outcome: bytes | Failure | None = None
                try:
                    outcome = worker.connection.recv_bytes()
                    idle.append(worker)
                except (EOFError, OSError):
                    code = worker.end(EXIT_SECONDS)
                    if attempt < ATTEMPTS:
                        waiting.append((index, attempt + 1))  # last, when more memory may be free
                    else:
                        outcome = _lost(code)
                del busy[connection]
                submit_items()  # first: the caller may take long over the outcome
                if outcome is not None:
                    yield index, outcome
    finally:
        for worker, _, _ in busy.values():
            worker.end()


def _lost(code: int | None) -> Failure:
    cause = " (killed, perhaps out of memory)" if code == -9 else ""
    message = f"the worker died in each of {ATTEMPTS} attempts, with exit code {code}{cause}"
    return Failure(message, message, "lost")
