"""Workers that are simulated, for the real loop that submits items and collects their outcomes.

The clock is simulated in discrete events: an item ends some seconds after it was submitted, or its
worker dies before. The processor time that the loop takes between two waits is real, and passes on
the simulated clock too, because workers that have finished stand idle for as long.
"""

import heapq
import math
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from itertools import count
from queue import Empty
from typing import Any

import cloudpickle

from optimist.experiments.execute import CHECKPOINT_SECONDS
from optimist.experiments.workers import WorkerPool

RESTART_SECONDS = 5.0
"""How long a worker that died is away."""


class WorkerDied(Exception):
    """The worker of an item died."""


class Cluster:
    """Simulated workers, one item each.

    An item that is tried again resumes at its last checkpoint, every `CHECKPOINT_SECONDS` of work.

    Parameters
    ----------
    workers
        Number of workers.
    seconds
        The time that an item takes. Items must be hashable and distinct.
    outcome
        The outcome of an item, computed when it ends.
    lifetime
        Draws the time until a worker that begins an item dies; by default it never does.
    processor
        The processor time of the loop, in seconds.
    overhead
        Time that each submission takes in addition, as in the client of a real cluster.

    Attributes
    ----------
    now
        The simulated time.
    scheduling
        The real processor time of the loop.
    submitted, deaths
        How many items were submitted, repetitions included, and how many workers died.
    most_pending, most_bytes
        The largest number of items under way, and of their bytes.
    """

    def __init__(
        self,
        workers: int,
        seconds: Callable[[Any], float],
        outcome: Callable[[Any], Any] = lambda item: item,
        lifetime: Callable[[], float] = lambda: math.inf,
        processor: Callable[[], float] = time.thread_time,
        overhead: float = 0.0,
    ) -> None:
        self._alive, self._seconds, self._outcome = workers, seconds, outcome
        self._lifetime, self._processor, self._overhead = lifetime, processor, overhead
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._number = count()  # of two events at one time, the first that was added
        self._left: dict[Any, float] = {}  # seconds of items that were begun
        self._done: deque[Future[bytes]] = deque()
        self._pending: dict[Future[bytes], int] = {}  # their bytes
        self.now = self.scheduling = 0.0
        self.submitted = self.deaths = self.most_pending = self.most_bytes = 0
        self._bytes, self._mark = 0, processor()

    def pool(self) -> WorkerPool:
        """The workers, for an `Executor`."""
        self._mark = self._processor()
        return WorkerPool(self._submit, self._stop, self._room, (WorkerDied,), queue=lambda: self)

    def put(self, future: "Future[bytes]") -> None:
        """Note that a future is done."""
        self._done.append(future)

    def get(self, timeout: float) -> "Future[bytes]":
        """The next future that is done; passes the time until then."""
        with self._off_the_clock():
            deadline = self.now + timeout
            while not self._done:
                if not self._events or self._events[0][0] > deadline:
                    self.now = deadline
                    raise Empty
                at, _, happens = heapq.heappop(self._events)
                self.now = max(self.now, at)  # it may have happened while the loop was at work
                happens()
            return self._done.popleft()

    @contextmanager
    def _off_the_clock(self) -> Iterator[None]:
        """Pass the time of the loop until now, and none while the block runs."""
        spent = self._processor() - self._mark
        self.now += spent
        self.scheduling += spent
        try:
            yield
        finally:
            self._mark = self._processor()

    def _room(self) -> int:
        return max(1, self._alive)

    def _stop(self, futures: list[Any]) -> None:
        self._events.clear()

    def _at(self, when: float, happens: Callable[[], None]) -> None:
        heapq.heappush(self._events, (when, next(self._number), happens))

    def _submit(self, packed: bytes) -> "Future[bytes]":
        with self._off_the_clock():
            self.now += self._overhead
            _, item = cloudpickle.loads(packed)
            future: Future[bytes] = Future()
            left = self._left.setdefault(item, self._seconds(item))
            life = self._lifetime()

            def ends() -> None:
                self._bytes -= self._pending.pop(future)
                future.set_result(cloudpickle.dumps(self._outcome(item)))

            def dies() -> None:
                self._bytes -= self._pending.pop(future)
                self._left[item] = left - life // CHECKPOINT_SECONDS * CHECKPOINT_SECONDS
                self.deaths += 1
                self._alive -= 1
                self._at(self.now + RESTART_SECONDS, returns)
                future.set_exception(WorkerDied("its worker died"))

            def returns() -> None:
                self._alive += 1

            self._at(self.now + min(left, life), ends if left <= life else dies)
            self.submitted += 1
            self._pending[future] = len(packed)
            self._bytes += len(packed)
            self.most_pending = max(self.most_pending, len(self._pending))
            self.most_bytes = max(self.most_bytes, self._bytes)
            return future
