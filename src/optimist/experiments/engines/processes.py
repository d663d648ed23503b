"""Worker processes on this machine, started by loky, which joblib runs on as well.

Each worker has a pipe of its own and at most one item. One that is killed costs no more than the
item it was at, where loky's own pool loses all that are under way; and each ends when its pipe
does, even if this process is killed, and in the middle of an item.
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

from optimist.experiments.engines.outcomes import (
    ATTEMPTS,
    Failure,
    PackedOutcomes,
    Run,
    attempt_packed,
)

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
"""A library that is told to use one thread later has started one for each core by then."""

PATIENCE = 5.0
"""How many seconds a worker without an item may take to end by itself."""


@contextmanager
def process_workers(jobs: int) -> Iterator[Run]:
    """Run items in up to ``jobs`` processes, which stay for the next items."""
    idle: list[Worker] = []
    try:
        yield partial(_run, jobs, idle)
    finally:
        for worker in idle:
            worker.connection.close()
        for worker in idle:
            worker.end(PATIENCE)


class Worker:
    """A process that attempts items."""

    def __init__(self) -> None:
        context = get_context("loky")
        self.connection, theirs = context.Pipe()
        self._process = context.Process(target=serve, args=(theirs,), env=ONE_THREAD)
        with _interruptions_held_back():
            self._process.start()
        theirs.close()  # or this end would not notice the death of the worker

    def end(self, patience: float = 0.0) -> int | None:
        """Let the process end, or kill it and all that it has started; its exit code."""
        self.connection.close()
        self._process.join(patience)
        if self._process.is_alive():
            kill_process_tree(self._process)
        code: int | None = self._process.exitcode
        return code


@contextmanager
def _interruptions_held_back() -> Iterator[None]:
    """Processes that are started meanwhile hear no Ctrl-C, not even before they can ignore it."""
    if os.name != "posix":
        yield
        return
    ensure_running()  # Python's own tracker of resources, whose start would let them through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def serve(connection: Connection) -> None:
    """The life of a worker: attempt what comes, until nothing can come any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that reads outcomes
    faulthandler.enable()
    items: SimpleQueue[bytes | None] = SimpleQueue()
    at_work = Event()
    Thread(target=_receive, args=(connection, items, at_work), daemon=True).start()
    while (item := items.get()) is not None:
        outcome = attempt_packed(item)
        at_work.clear()
        with suppress(OSError):
            connection.send_bytes(outcome)


def _receive(connection: Connection, items: "SimpleQueue[bytes | None]", at_work: Event) -> None:
    """Hand over what comes. When nothing can come any more, an item under way is of no use."""
    with suppress(EOFError, OSError):
        while True:
            item = connection.recv_bytes()
            at_work.set()
            items.put(item)
    items.put(None)
    if at_work.is_set():
        kill_process_tree(current_process())


def _run(jobs: int, idle: list[Worker], items: Sequence[bytes]) -> PackedOutcomes:
    waiting = deque((index, 1) for index in range(len(items)))
    busy: dict[Any, tuple[Worker, int, int]] = {}  # by connection

    def hand_out() -> None:
        while waiting and len(busy) < jobs:
            index, attempt = waiting.popleft()
            worker = idle.pop() if idle else Worker()
            busy[worker.connection] = worker, index, attempt
            with suppress(OSError):  # a dead worker is found when its outcome is read
                worker.connection.send_bytes(items[index])

    try:
        # They start side by side: handing a large item to one waits until it is there to take it.
        idle.extend(Worker() for _ in range(min(jobs, len(items)) - len(idle)))
        hand_out()
        while busy:
            for connection in wait(list(busy)):
                worker, index, attempt = busy[connection]
                outcome: bytes | Failure | None = None
                try:
                    outcome = worker.connection.recv_bytes()
                    idle.append(worker)
                except (EOFError, OSError):
                    code = worker.end(PATIENCE)
                    if attempt < ATTEMPTS:
                        waiting.append((index, attempt + 1))  # last, when memory may be free again
                    else:
                        outcome = _lost(code)
                del busy[connection]
                hand_out()  # before anyone looks at the outcome, which may take long
                if outcome is not None:
                    yield index, outcome
    finally:
        for worker, _, _ in busy.values():
            worker.end()


def _lost(code: int | None) -> Failure:
    cause = " (killed, perhaps for want of memory)" if code == -9 else ""
    message = f"the worker died in each of {ATTEMPTS} attempts, with exit code {code}{cause}"
    return Failure(message, message, "lost")
