"""Folders of studies that nobody wants to keep."""

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
"""The lock in such a folder, held while it is in use; nothing else has a file of this name."""


def temporary_folder() -> tuple[Path, Callable[[], None]]:
    """A new folder, and what removes it; folders of processes that were killed go at once.

    Only a folder with a study in it is taken for abandoned: the lock of one that is just being
    made may not be held yet.

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
    """Remove what killed processes of this user have left in a folder that others use too."""
    for path in folder.glob(f"{PREFIX}*"):
        if not (NAME.fullmatch(path.name) and _is_mine(path)):
            continue
        if not all((path / name).is_file() for name in (LOCK, "study.toml")):
            continue
        lock = FileLock(path / LOCK)
        try:
            lock.acquire(blocking=False)
        except (Timeout, OSError):  # in use, or somebody else is removing it
            continue
        lock.release()
        shutil.rmtree(path, ignore_errors=True)


def _is_mine(path: Path) -> bool:
    try:
        found = path.lstat()
    except OSError:
        return False
    here = getattr(os, "geteuid", lambda: found.st_uid)()  # elsewhere each user has a folder
    return found.st_uid == here and path.is_dir() and not path.is_symlink()
