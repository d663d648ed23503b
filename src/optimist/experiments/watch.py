"""Show the progress of a study: a bar in a terminal or a notebook, else one line a minute."""

import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from optimist.display import notebook
from optimist.display.notebook import in_notebook
from optimist.experiments.study import Run, Study
from optimist.experiments.study_folder import StudyFolder

Cell = tuple[str, str]
"""The names of a world and an agent."""

LOOK_SECONDS = 0.5
BUSY = 20  # the pause, in multiples of the time of reading all runs
LINE_SECONDS = 60.0

ENOUGH_SECONDS, ENOUGH_SHARE = 2.0, 0.02
"""No time left is shown before this much time and this share of the work have passed."""


@contextmanager
def watching(study: Study, folder: StudyFolder, sinks: Iterable[Any] = ()) -> Iterator[None]:
    """Show the progress of a study on the error output while the block runs.

    Progress is read from the folder, so it works with every executor and counts the work of other
    processes too. Sinks with a method ``follow`` are given the runs that go on.
    """
    over = threading.Event()
    tally = Tally(study, folder)
    following = [sink for sink in sinks if hasattr(sink, "follow")]
    watcher = threading.Thread(target=_watch, args=(tally, following, over), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
        for sink in following:
            sink.close()


class Tally:
    """Counts the finished episodes, or steps, and runs of a study, and estimates the time left.

    They cost more in some worlds and with some agents than elsewhere. The time of each run that
    goes on is therefore kept for its world and agent, from the first progress of any run on: what
    comes before is compilation.
    """

    def __init__(
        self, study: Study, folder: StudyFolder, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.folder, self._clock = folder, clock
        self.left = list(study.runs)
        self.runs = len(study.runs)
        self.total = sum(run.spec.length for run in study.runs)
        self._seen: dict[Run, int] = defaultdict(int)  # episodes or steps
        self._pending: dict[Run, float] = {}  # seconds since the last progress, of runs that go on
        self._seconds: dict[Cell, float] = defaultdict(float)
        self._gained: dict[Cell, int] = defaultdict(int)
        self._at_once, self._last = 1, clock()
        self._begin: float | None = None
        self._gains()
        self._first = self.done

    def look(self) -> None:
        """Read the folder again."""
        now, gains = self._clock(), self._gains()
        if self._begin is None:
            self._begin = now if gains else None
        else:
            active = self._pending.keys() | gains.keys()
            self._at_once = max(self._at_once, len(self._pending))
            seconds = (now - self._last) * min(1.0, self._at_once / max(1, len(active)))
            for run in active:
                self._pending[run] = self._pending.get(run, 0.0) + seconds
            for run, gain in gains.items():
                self._seconds[run.world, run.agent] += self._pending[run]
                self._gained[run.world, run.agent] += gain
        self._last = now
        self._pending = {
            run: 0.0 if run in gains else self._pending[run]
            for run in self.left
            if run in gains or run in self._pending
        }

    def _gains(self) -> dict[Run, int]:
        """Read the folder again; the episodes or steps that each run has gained since."""
        gains, left = {}, []
        for run in self.left:
            folder = self.folder.of(run)
            finished = folder.finished
            done = run.spec.length if finished else min(folder.progress, run.spec.length)
            if done > self._seen[run]:
                gains[run] = done - self._seen[run]
                self._seen[run] = done
            if not finished:
                left.append(run)
        self.left, self.done = left, sum(self._seen.values())
        return gains

    @property
    def going(self) -> list[Run]:
        """The runs that have made progress and have not finished."""
        return list(self._pending)

    @property
    def finished(self) -> int:
        """Number of finished runs."""
        return self.runs - len(self.left)

    @property
    def seconds_left(self) -> float | None:
        """Estimated seconds until the end; None before there is enough evidence."""
        if self._begin is None or not self._gained:
            return None
        passed, gained = self._last - self._begin, sum(self._gained.values())
        enough = gained >= ENOUGH_SHARE * (self.total - self._first) or passed >= LINE_SECONDS
        if passed < ENOUGH_SECONDS or not enough:
            return None
        paces = {cell: self._seconds[cell] / n for cell, n in self._gained.items()}
        usual = sum(paces.values()) / len(paces)
        work = [self._work(run, paces.get((run.world, run.agent), usual)) for run in self.left]
        spent = sum(self._seconds.values()) + sum(self._pending.values())
        return max(0.0, sum(work) * passed / spent, *work)

    def _work(self, run: Run, pace: float) -> float:
        """Seconds that a run takes from now on, if nothing else runs."""
        left = (run.spec.length - self._seen[run]) * pace
        return max(0.0, left - self._pending.get(run, 0.0))

    def __str__(self) -> str:
        wait = ""
        if self._begin is None:
            wait = ", starting (the first time on a machine, its code is compiled: some 20 s)"
        elif (left := self.seconds_left) is not None:
            wait = f", about {in_words(left)} left"
        return f"{self.finished}/{self.runs} runs, {self.done / self.total:.0%}{wait}"


def in_words(seconds: float) -> str:
    """A duration in words.

    Examples
    --------
    >>> in_words(42.4), in_words(125), in_words(7500)
    ('42 s', '2 min', '2 h 5 min')
    """
    if round(seconds) < 60:
        return f"{seconds:.0f} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"


def _watch(tally: Tally, sinks: list[Any], over: threading.Event) -> None:
    seen = in_notebook() or (sys.stderr is not None and sys.stderr.isatty())
    pause = LOOK_SECONDS
    with _bar(tally) if seen else _lines(tally) as show:
        while not over.wait(pause):
            begin = time.monotonic()
            tally.look()
            show()
            for sink in sinks:
                for run in tally.going:
                    sink.follow(run, tally.folder)
            pause = max(LOOK_SECONDS, BUSY * (time.monotonic() - begin))


@contextmanager
def _lines(tally: Tally) -> Iterator[Callable[[], None]]:
    shown = time.monotonic()

    def show() -> None:
        nonlocal shown
        if time.monotonic() - shown >= LINE_SECONDS and sys.stderr is not None:
            print(tally, file=sys.stderr, flush=True)
            shown = time.monotonic()

    yield show


@contextmanager
def _bar(tally: Tally) -> Iterator[Callable[[], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    columns = (TextColumn("[progress.description]{task.description}"), BarColumn())
    terminal: Any = Progress(*columns, console=Console(stderr=True), transient=True)
    with notebook.Bar() if in_notebook() else terminal as shown:
        task = shown.add_task(str(tally), total=tally.total)
        yield lambda: shown.update(task, completed=tally.done, description=str(tally))
