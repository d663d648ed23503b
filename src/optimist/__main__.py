"""``python -m optimist`` is ``optimist``."""

import os
import sys
from contextlib import suppress
from typing import Any

from optimist.cli import main
from optimist.stopping import INTERRUPTED


class Output:
    """An output of the process whose reader may close it, as ``head`` does: the rest is dropped."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write text; its length."""
        self._unless_closed(self._stream.write, text)
        return len(text)

    def flush(self) -> None:
        """Write what is buffered."""
        self._unless_closed(self._stream.flush)

    def _unless_closed(self, call: Any, *arguments: Any) -> None:
        try:
            call(*arguments)
        except BrokenPipeError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._stream.fileno())
            os.close(nowhere)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def command() -> None:
    """Run the command line of this process, then end the process."""
    outputs: list[Any] = [stream and Output(stream) for stream in (sys.stdout, sys.stderr)]
    sys.stdout, sys.stderr = outputs  # None under pythonw
    code = main()
    for stream in filter(None, outputs):
        with suppress(OSError):  # the disk is full; the exit code says so
            stream.flush()
    if code == INTERRUPTED:  # at once: an abandoned thread may still be computing
        os._exit(code)
    sys.exit(code)


if __name__ == "__main__":
    command()
