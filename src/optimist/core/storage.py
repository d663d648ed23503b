"""Numbers on disk: arrays in safetensors with a JSON header, written atomically.

No file holds code or pickles. A header says what the file is, and a digest of everything in it lets
a truncated, altered or foreign file be refused with a sentence.
"""

import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

HEADER = "optimist"
FORMAT = 1


class FileError(ValueError):
    """A file that is not what it should be."""


def write(path: str | Path, kind: str, header: dict[str, Any], arrays: dict[str, Any]) -> None:
    """Write arrays and a header of JSON values; the file appears whole or not at all."""
    # safetensors stores the bytes of strided arrays as they lie, so they are laid out first.
    tensors = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    text = json.dumps({**header, "kind": kind, "format": FORMAT}, sort_keys=True)
    digest = _digest(text, tensors)
    data = save(tensors, metadata={HEADER: text, "digest": digest})
    target = Path(path)
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=target.name, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def read(path: str | Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The header and the arrays of a file, if it is ours, whole and unaltered."""
    data = Path(path).read_bytes()
    try:
        tensors = load(data)
        metadata = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])["__metadata__"]
        text, digest = metadata[HEADER], metadata["digest"]
        header = json.loads(text)
        version = header["format"]
    except (SafetensorError, ValueError, KeyError, TypeError, OverflowError) as error:
        raise FileError(f"{path} is not a file of optimist, or it is damaged ({error})") from None
    if digest != _digest(text, tensors):
        raise FileError(f"{path} was altered after it was written: its digest does not match")
    if version != FORMAT:
        raise FileError(f"{path} has format {version}; this version reads format {FORMAT}")
    return header, tensors


def _digest(text: str, tensors: dict[str, Any]) -> str:
    sha = hashlib.sha256(text.encode())
    for name in sorted(tensors):
        array = tensors[name]
        sha.update(f"{name} {array.dtype} {array.shape}".encode())
        sha.update(array.tobytes())
    return sha.hexdigest()
