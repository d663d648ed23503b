"""Numbers on disk: arrays in safetensors with a JSON header, written atomically.

No file holds code or pickles. A header says what the file is, and a digest of everything in it lets
a truncated, altered or foreign file be refused with a sentence.
"""

import errno
import json
import os
import re
import stat
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from optimist import limits
from optimist.digests import digest, named_arrays
from optimist.errors import FileError, TooLarge

HEADER = "optimist"
FORMAT = 3

PART = re.compile(r"(?P<name>.+)\.[0-9a-f]{32}\.part")
"""The names of files that are being written, or were when their process was killed."""


def write(path: str | Path, kind: str, header: dict[str, Any], arrays: dict[str, Any]) -> None:
    """Write arrays and a header of JSON values; the file appears whole or not at all."""
    # safetensors stores the bytes of strided arrays as they lie, so they are laid out first.
    tensors = {name: _laid_out(array) for name, array in arrays.items()}
    text = json.dumps({**header, "kind": kind, "format": FORMAT}, sort_keys=True)
    # One entry alone: safetensors writes several in an order that changes from run to run.
    write_bytes(path, save(tensors, metadata={HEADER: f"{_digest(text, tensors)} {text}"}))


def write_bytes(path: str | Path, data: bytes) -> None:
    """Write a file that appears whole or not at all, even if the process is killed."""
    target = Path(path)
    if not target.absolute().parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(target.parent))
    temporary = target.with_name(f"{target.name}.{uuid.uuid4().hex}.part")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)  # less the umask
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(target.absolute().parent)


def _sync_folder(folder: Path) -> None:
    """Write the names in a folder to the disk, so that a renamed file survives a loss of power."""
    if os.name != "posix":  # other systems cannot open folders
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno != errno.EINVAL:  # some file systems cannot sync folders
            raise
    finally:
        os.close(handle)


def parts(folder: Path, *names: str) -> list[Path]:
    """The unfinished copies of these files, being written or left by a process that was killed."""
    found = [(path, PART.fullmatch(path.name)) for path in folder.glob("*.part")]
    return [path for path, part in found if part is not None and part["name"] in names]


def refuse_links(path: Path, folder: bool = False) -> Path:
    """The path, if it is missing or a file (or a folder, if allowed); anything else is refused.

    So a folder from a stranger can neither show nor change files outside of it.
    """
    try:
        mode = os.lstat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return path
    if stat.S_ISLNK(mode):
        raise FileError(f"{path} must not be a symbolic link: put what it points to in its place")
    if not stat.S_ISREG(mode) and not (folder and stat.S_ISDIR(mode)):  # a pipe would never end
        raise FileError(f"{path} must be a {'folder' if folder else 'file'}; it is something else")
    return path


def read(path: str | Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The header and the arrays of a file, if it is ours, whole and unaltered."""
    try:
        with safe_open(path, framework="numpy") as file:  # of the right length, or refused
            limits.need_to_read(path, times=2)  # and a copy for the digest
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            metadata = file.metadata()
        found, _, text = metadata[HEADER].partition(" ")
        header = json.loads(text)
        version, _ = header["format"], header["kind"]
    except (SafetensorError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise FileError(f"{path} is not a file of optimist, or it is damaged ({error})") from None
    if found != _digest(text, tensors):
        raise FileError(f"{path} was altered after it was written: its digest does not match")
    if version != FORMAT:
        raise FileError(f"{path} has format {version}; this version reads format {FORMAT}")
    return header, tensors


@contextmanager
def reading(path: str | Path) -> Iterator[None]:
    """Within the block, errors in a file's contents become a `FileError` that names it."""
    try:
        yield
    except (FileError, TooLarge):
        raise
    except (TypeError, ValueError, OverflowError) as error:
        raise FileError(f"{path}: {error}") from None


def _laid_out(array: Any) -> Any:
    given = np.asarray(array)
    return np.array(given, dtype=given.dtype.newbyteorder("<"), order="C")


def _digest(text: str, tensors: dict[str, Any]) -> str:
    return digest(text, *named_arrays(dict(sorted(tensors.items()))))
