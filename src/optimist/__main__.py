"""``python -m optimist`` is ``optimist``."""

import os
import sys
from contextlib import suppress

from optimist.cli import main
from optimist.stopping import INTERRUPTED


def command() -> None:
    """Carry out the command that the process was started for, and end it."""
    code = main()
    if code == INTERRUPTED:  # at once: what was given up may still be computing in a thread
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError, AttributeError):  # closed, or none
                stream.flush()
        os._exit(code)
    sys.exit(code)


if __name__ == "__main__":
    command()
