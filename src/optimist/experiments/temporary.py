"""Temporary folders for studies that are not kept."""

import os
import re
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from filelock import FileLock, Timeout

PREFIX = "optimist-"
NAME = re.compile(rf"{PREFIX}[a-z0-9_]{{8}}")

LOCK = "temporary"
"""The lock file of a temporary folder, held while it is in use."""


def temporary_folder() -> tuple[Path, Callable[[], None]]:
    """Create a temporary folder; return it and a function that removes it.

    This also removes the folders of processes that were killed: those that hold a study and whose
    lock is free. A folder without a study may be new, with a lock that is not taken yet.

    Examples
    --------
    >>> path, remove = temporary_folder()
    >>> remove()
    >>> path.exists()
    False
    """
    _remove_abandoned(Path(tempfile.gettempdir()))
    path = Path(tempfile.mkdtemp(prefix=PREFIX))
    lock = FileLock(path / LOCK, thread_local=False)  # any thread may remove it
    lock.acquire()

    def remove() -> None:
        lock.release()
        shutil.rmtree(path, ignore_errors=True)

    return path, remove


def _remove_abandoned(folder: Path) -> None:
    """Remove the temporary folders that killed processes of this user have left."""
    for path in folder.glob(f"{PREFIX}*"):
        if not (NAME.fullmatch(path.name) and _is_own_folder(path)):
            continue
        if not all((path / name).is_file() for name in (LOCK, "study.toml")):
            continue
        lock = FileLock(path / LOCK)
        try:
            lock.acquire(blocking=False)
        except (Timeout, OSError):  # in use, or being removed by another process
            continue
        lock.release()
        shutil.rmtree(path, ignore_errors=True)


def _is_own_folder(path: Path) -> bool:
    try:
        found = path.lstat()
    except OSError:
        return False
    user = getattr(os, "geteuid", lambda: found.st_uid)()  # Windows: each user has its own
    return found.st_uid == user and path.is_dir() and not path.is_symlink()
