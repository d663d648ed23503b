"""Show the progress of a study: a bar in a terminal, one line a minute elsewhere."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from optimist.experiments.study import Study
from optimist.experiments.study_folder import StudyFolder

LOOK_SECONDS = 0.5
LINE_SECONDS = 60.0


@contextmanager
def watching(study: Study, folder: StudyFolder) -> Iterator[None]:
    """Show the progress of a study on the error output while the block runs.

    Progress is read from the folder, so it works with every executor and counts the work of other
    processes too.
    """
    over = threading.Event()
    tally = Tally(study, folder)
    terminal = sys.stderr is not None and sys.stderr.isatty()
    show = _bar if terminal else _lines
    watcher = threading.Thread(target=show, args=(tally, over), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()


class Tally:
    """Counts the finished episodes and runs of a study."""

    def __init__(self, study: Study, folder: StudyFolder) -> None:
        self._left = list(study.runs)
        self._folder = folder
        self.runs = len(study.runs)
        self.total = sum(r.spec.episodes for r in study.runs)
        self._finished = 0
        self.look()
        self._begin, self._at_first = time.monotonic(), self.done

    def look(self) -> None:
        """Read the folder again."""
        left = []
        partial = 0
        for r in self._left:
            folder = self._folder.of(r)
            if folder.finished:
                self._finished += r.spec.episodes
            else:
                partial += folder.episodes
                left.append(r)
        self._left = left
        self.done = self._finished + partial

    @property
    def finished(self) -> int:
        """Number of finished runs."""
        return self.runs - len(self._left)

    @property
    def seconds_left(self) -> float | None:
        """Estimated seconds until the end, from the pace so far; None before any progress."""
        gained = self.done - self._at_first
        if gained <= 0:
            return None
        return (time.monotonic() - self._begin) * (self.total - self.done) / gained

    def __str__(self) -> str:
        left = self.seconds_left
        wait = ", starting (the first time on a machine, its code is compiled: some 20 s)"
        if left is not None:
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


def _lines(tally: Tally, over: threading.Event) -> None:
    while not over.wait(LINE_SECONDS):
        tally.look()
        print(tally, file=sys.stderr, flush=True)


def _bar(tally: Tally, over: threading.Event) -> None:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    columns = (TextColumn("[progress.description]{task.description}"), BarColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task(str(tally), total=tally.total)
        while not over.wait(LOOK_SECONDS):
            tally.look()
            shown.update(task, completed=tally.done, description=str(tally))
