"""Errors of users and of disks: detected early, and reported with a sentence and an exit code."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from optimist.cli import BAD_INPUT, DISK, SOME_FAILED
from optimist.errors import DiskError, OptimistError, StudyError
from optimist.experiments.execute import DISK as DISK_ERRORS


@contextmanager
def user_errors() -> Iterator[None]:
    """Raise wrong values of flags, and errors of the files they name, as `StudyError`."""
    try:
        yield
    except (ValueError, OSError) as error:
        raise StudyError(str(error)) from error


def check_writable(*files: Path | None, folder: Path | None = None) -> None:
    """Refuse files that cannot be written, and a folder that cannot be made, before any work."""
    for file in filter(None, files):
        if not file.absolute().parent.is_dir():
            raise StudyError(f"cannot write {file}: there is no folder {file.parent}")
        if file.is_dir():
            raise StudyError(f"cannot write {file}: it is a folder")
        _try_to_write(file, file.absolute().parent)
    if folder is not None:
        near = next(p for p in (folder.absolute(), *folder.absolute().parents) if p.exists())
        if not near.is_dir():
            raise DiskError(f"cannot write {folder}: {near} is not a folder")
        _try_to_write(folder, near)


def _try_to_write(path: Path, folder: Path) -> None:
    try:
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise DiskError(f"cannot write {path}: {error.strerror}") from error


def code_of(error: Exception) -> int | None:
    """The exit code of an exception; None for a bug."""
    if isinstance(error, DiskError) or (isinstance(error, OSError) and error.errno in DISK_ERRORS):
        return DISK
    if isinstance(error, OptimistError | MemoryError):
        return BAD_INPUT
    if isinstance(error, ConnectionError):  # the cluster is gone; finished runs are kept
        return SOME_FAILED
    return None
