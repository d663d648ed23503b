"""Which exceptions are a user's mistakes or the disk's, and the exit codes that say so."""

from optimist.cli import BAD_INPUT, DISK, SOME_FAILED
from optimist.errors import DiskError, OptimistError
from optimist.experiments.execute import DISK as DISK_ERRORS


def code_of(error: Exception) -> int | None:
    """The exit code, or None for what is not the user's mistake."""
    if isinstance(error, DiskError) or (isinstance(error, OSError) and error.errno in DISK_ERRORS):
        return DISK
    if isinstance(error, OptimistError | MemoryError):
        return BAD_INPUT
    if isinstance(error, ConnectionError):  # a cluster that went away; what finished is kept
        return SOME_FAILED
    return None
