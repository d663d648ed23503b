"""Which exceptions are a user's mistakes or the disk's, and the exit codes that say so."""

from optimist.cli import BAD_INPUT, DISK, SOME_FAILED
from optimist.core.storage import FileError
from optimist.experiments import DiskError, EngineError, StudyError
from optimist.experiments.execute import DISK as DISK_ERRORS
from optimist.experiments.parameters import DataError


def code_of(error: Exception) -> int | None:
    """The exit code, or None for what is not the user's mistake."""
    if isinstance(error, DiskError) or (isinstance(error, OSError) and error.errno in DISK_ERRORS):
        return DISK
    if isinstance(error, StudyError | DataError | FileError | EngineError):
        return BAD_INPUT
    if isinstance(error, ConnectionError):  # a cluster that went away; what finished is kept
        return SOME_FAILED
    return None
