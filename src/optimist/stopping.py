"""Ctrl-C on the command line: never a traceback, whenever it comes.

While the program is being imported there is nothing to lose, and nobody who could catch a
``KeyboardInterrupt``: it ends at once. So it does while it is ending. Only the command itself is
interrupted as Python does it, so that what it has finished is kept.
"""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

INTERRUPTED = 130
"""The exit code: 128 and the number of the signal, as shells have it."""


def end_at_once(number: int, frame: FrameType | None) -> None:
    """End the process, with a sentence; nothing on disk is ever half written."""
    os.write(2, b"optimist: interrupted; what is finished is kept\n")
    os._exit(INTERRUPTED)


def guard_command() -> None:
    """If this process is the command line, and not somebody's own, end it at once from now on."""
    if (
        _is_command()
        and threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler  # not ignored
    ):
        signal.signal(signal.SIGINT, end_at_once)


@contextmanager
def interruptible() -> Iterator[None]:
    """Within the block, an interruption of the command line is a ``KeyboardInterrupt``."""
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
