"""A progress bar in a terminal, and a Ctrl-C that waits for the end of an episode."""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


class Bar:
    """How far a run is, and whether the user wants it to end."""

    def __init__(self, shown: Any, task: Any) -> None:
        self.interrupted = False
        self._shown, self._task = shown, task

    def advance(self, episodes: int) -> None:
        """So many more episodes are done."""
        if self._shown is not None:
            self._shown.advance(self._task, episodes)


@contextmanager
def progress(episodes: int, show: bool = True) -> Iterator[Bar]:
    """Show progress while learning; an interruption is raised when the block has ended.

    Compiled code cannot be interrupted half way, and need not be: the signal is noted, the loop
    ends after the present call, and what was learnt is whole.
    """
    shown, task = None, None
    if show and sys.stderr is not None and sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import Progress

        shown = Progress(console=Console(stderr=True), transient=True)
        task = shown.add_task("learning", total=episodes)
        shown.start()
    bar = Bar(shown, task)

    def note(number: int, frame: FrameType | None) -> None:
        bar.interrupted = True

    # Whoever handles or ignores interruptions already goes on doing so.
    in_main = (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )
    before = signal.signal(signal.SIGINT, note) if in_main else None
    try:
        yield bar
    finally:
        if in_main:
            signal.signal(signal.SIGINT, before)
        if shown is not None:
            shown.stop()
    if bar.interrupted:
        raise KeyboardInterrupt
