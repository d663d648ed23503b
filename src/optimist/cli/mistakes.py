"""Exit codes of the exceptions that are no bugs: user errors, the disk, the cluster."""

from optimist.cli import BAD_INPUT, DISK, SOME_FAILED
from optimist.errors import DiskError, OptimistError
from optimist.experiments.execute import DISK as DISK_ERRORS


def code_of(error: Exception) -> int | None:
    """The exit code of an exception; None for a bug."""
    if isinstance(error, DiskError) or (isinstance(error, OSError) and error.errno in DISK_ERRORS):
        return DISK
    if isinstance(error, OptimistError | MemoryError):
        return BAD_INPUT
    if isinstance(error, ConnectionError):  # the cluster is gone; finished runs are kept
        return SOME_FAILED
    return None
