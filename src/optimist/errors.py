"""The errors of optimist; ``except opt.errors.OptimistError`` catches all of them.

Each also derives from the built-in error that fits best. Wrong arguments of a function raise plain
``ValueError`` or ``TypeError``.
"""

from typing import Any


class OptimistError(Exception):
    """Base class; the message says what was wrong, and where."""


class FileError(OptimistError, ValueError):
    """A file is damaged, or of the wrong kind."""


class DataError(OptimistError, ValueError):
    """Data are invalid; ``path`` has the keys from the top to the invalid value."""

    def __init__(self, path: tuple[str, ...], message: str) -> None:
        super().__init__(message)
        self.path = path


class StudyError(OptimistError, ValueError):
    """A study cannot be run; the message names the file and the line."""


class TooLarge(OptimistError, MemoryError):
    """A call would need more memory than the limit (`optimist.limits`), and was not started."""


class SolverError(OptimistError, RuntimeError):
    """A numerical solver did not converge; the message is the solver's."""


class DiskError(OptimistError, OSError):
    """The disk is full, or a folder cannot be written; finished runs are kept."""


class ExecutorError(OptimistError, RuntimeError):
    """The executor is not installed, or its cluster does not answer."""


class RunsFailed(OptimistError, RuntimeError):
    """All runs of a study failed; ``results.failures`` has the reasons."""

    def __init__(self, message: str, results: Any) -> None:
        super().__init__(message)
        self.results = results


class Busy(OptimistError):
    """Another process holds the lock of this run."""


class BadEnvironment(OptimistError, RuntimeError):
    """An environment violates its contract. The learner keeps what it learnt before."""


class MemoryFull(OptimistError, RuntimeError):
    """The memory for states is full."""


class Diverged(OptimistError, RuntimeError):
    """Values have diverged. The learner keeps what it learnt before."""


class FailureWarning(UserWarning):
    """Some runs of a study failed; the results are those of the others."""


class DamageWarning(UserWarning):
    """A file of a run is damaged or belongs to another run; it is left out, or the run restarts."""
