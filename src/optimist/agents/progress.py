"""A progress bar in a terminal or a notebook, and a Ctrl-C that waits for the end of an episode."""

import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from optimist.display import notebook
from optimist.display.notebook import in_notebook

PATIENCE_SECONDS = 1.0
"""How long after Ctrl-C an episode may still come to its end; then it is given up."""


class Bar:
    """The progress of a run, and whether the user wants it to end.

    Attributes
    ----------
    hears
        Whether interruptions are received here: in the main thread, unless they are ignored.
    in_user_code
        Whether code of the user is running, such as an environment's.
    shown
        The bar that shows it, if there is one.
    """

    def __init__(self, shown: Any = None, task: Any = None, hears: bool = False) -> None:
        self.hears, self.in_user_code = hears, False
        self.shown, self._task = shown, task
        self._pressed: list[float] = []  # when

    @property
    def interrupted(self) -> bool:
        """Whether to end after this episode."""
        return bool(self._pressed)

    @property
    def impatient(self) -> bool:
        """Whether to abandon this episode: some time after Ctrl-C, or at a second one."""
        if not self._pressed:
            return False
        return len(self._pressed) > 1 or time.monotonic() - self._pressed[0] > PATIENCE_SECONDS

    def press(self, number: int, frame: FrameType | None) -> None:
        """Note a Ctrl-C; the second one interrupts code of the user."""
        self._pressed.append(time.monotonic())
        if self.in_user_code and len(self._pressed) > 1:
            raise KeyboardInterrupt

    @contextmanager
    def user_code(self) -> Iterator[None]:
        """Code of the user, which a second Ctrl-C interrupts at once."""
        self.in_user_code = True
        try:
            yield
        finally:
            self.in_user_code = False

    def say(self, sentence: str) -> None:
        """Show a sentence in the place of the description, unless it is empty."""
        if self.shown is not None and sentence:
            self.shown.update(self._task, description=sentence)

    def advance(self, n: int) -> None:
        """Add this many episodes, or steps, to those done."""
        if self.shown is not None:
            self.shown.advance(self._task, n)


@contextmanager
def progress(total: int | None, show: bool = True) -> Iterator[Bar]:
    """Show progress while learning; an interruption is raised when the block has ended.

    The total is of episodes or steps, as `Bar.advance` counts them; None if it is not known.
    The signal is noted, the loop ends after the present call, and what was learnt is whole.
    """
    shown = _where_it_shows() if show else None
    task = None if shown is None else shown.add_task("learning", total=total)
    if shown is not None:
        shown.start()
    in_main = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGINT)
    bar = Bar(shown, task, hears=in_main and callable(before))
    # Handlers of interruptions that are installed already stay in force.
    ours = in_main and before is signal.default_int_handler
    if ours:
        signal.signal(signal.SIGINT, bar.press)
    try:
        yield bar
    finally:
        if ours:
            signal.signal(signal.SIGINT, before)
        if shown is not None:
            shown.stop()
            bar.shown = None
    if bar.interrupted:
        raise KeyboardInterrupt


def _where_it_shows() -> Any:
    """A bar in a terminal, or below the cell of a notebook; elsewhere None."""
    if in_notebook():
        return notebook.Bar()
    if sys.stderr is None or not sys.stderr.isatty():
        return None
    from rich.console import Console
    from rich.progress import Progress

    return Progress(console=Console(stderr=True), transient=True)
