"""Ctrl-C on the command line, without a traceback.

During import and exit nothing can catch a ``KeyboardInterrupt``, and nothing is lost: the process
ends at once. While a command runs, Ctrl-C raises ``KeyboardInterrupt`` as usual, and the command
keeps what has finished.
"""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

INTERRUPTED = 130
"""The exit code: 128 plus the number of the signal, as in shells."""


def end_at_once(number: int, frame: FrameType | None) -> None:
    """Print a message and end the process; files are written atomically, so none is cut short."""
    os.write(2, b"optimist: interrupted; what is finished is kept\n")
    os._exit(INTERRUPTED)


def guard_command() -> None:
    """From now on, Ctrl-C ends this process at once, if it is the command line."""
    if (
        _is_command()
        and threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler  # not ignored
    ):
        signal.signal(signal.SIGINT, end_at_once)


@contextmanager
def interruptible() -> Iterator[None]:
    """Within the block, Ctrl-C on the command line raises ``KeyboardInterrupt``."""
    guarded = signal.getsignal(signal.SIGINT) is end_at_once
    try:
        if guarded:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        yield
    finally:
        if guarded:
            signal.signal(signal.SIGINT, end_at_once)


def _is_command() -> bool:
    """Whether the process was started as ``optimist`` or ``python -m optimist``."""
    words = sys.orig_argv
    as_module = "-m" in words and words[words.index("-m") :][1:2] == ["optimist"]
    return as_module or os.path.basename(sys.argv[0]) in ("optimist", "optimist.exe")
