"""Every error that optimist raises on purpose, as one family: ``except opt.errors.OptimistError``.

Each also is the built-in error that fits it best. Wrong arguments of a function are plain
``ValueError`` and ``TypeError``, as everywhere in Python.
"""

from typing import Any


class OptimistError(Exception):
    """The base of the family: one sentence that says what was wrong, and where."""


class FileError(OptimistError, ValueError):
    """A file that is damaged, or is not what it should be."""


class DataError(OptimistError, ValueError):
    """Data that do not describe what they should; ``path`` says where, as keys from the top."""

    def __init__(self, path: tuple[str, ...], message: str) -> None:
        super().__init__(message)
        self.path = path


class StudyError(OptimistError, ValueError):
    """A study that cannot be run, with the file and the line that say so."""


class TooLarge(OptimistError, MemoryError):
    """Something would need more memory than the limit (`optimist.limits`), and was not begun."""


class DiskError(OptimistError, OSError):
    """The disk is full, or the folder cannot be written; what is finished is kept."""


class EngineError(OptimistError, RuntimeError):
    """The executor is not installed, or nobody answers at its address."""


class RunsFailed(OptimistError, RuntimeError):
    """All runs of a study failed; ``results`` has the reason of each."""

    def __init__(self, message: str, results: Any) -> None:
        super().__init__(message)
        self.results = results


class Busy(OptimistError):
    """Another process is running this run."""


class BadEnvironment(OptimistError, RuntimeError):
    """An environment breaks its contract. What was learnt before stays."""


class MemoryFull(OptimistError, RuntimeError):
    """No more states can be kept."""


class Diverged(OptimistError, RuntimeError):
    """Values have grown beyond all bounds. What was learnt before stays."""


class FailureWarning(UserWarning):
    """Some runs of a study failed: its results are those of the others."""


class DamageWarning(UserWarning):
    """A file of a run is damaged, or of another run: what it should say is missing or run anew."""
