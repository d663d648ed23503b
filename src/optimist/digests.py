"""Digests: short names of contents, which differ if anything in them does."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any


def digest(*parts: Any) -> str:
    """The SHA-256 of some parts one after the other, in hexadecimal.

    Text counts as UTF-8, plain data as JSON with sorted keys, and arrays as their bytes: give their
    types and shapes too where those may differ (`named_arrays`).

    Examples
    --------
    >>> digest("ab")[:8], digest("a", b"b")[:8], digest({"b": 1, "a": 2})[:8]
    ('fb8e20fc', 'fb8e20fc', 'd3626ac3')
    """
    sha = hashlib.sha256()
    for part in parts:
        if isinstance(part, Mapping):
            part = json.dumps(part, sort_keys=True, separators=(",", ":"), allow_nan=False)
        if isinstance(part, str):
            part = part.encode()
        sha.update(part if isinstance(part, bytes) else part.tobytes())
    return sha.hexdigest()


def named_arrays(arrays: Mapping[str, Any]) -> list[Any]:
    """Parts of a digest: the name, type and shape of each array, and what it holds.

    Examples
    --------
    >>> import numpy as np
    >>> digest(*named_arrays({"a": np.zeros(2)})) == digest("a float64 (2,)", bytes(16))
    True
    """
    described = ((f"{name} {a.dtype} {a.shape}", a) for name, a in arrays.items())
    return [part for pair in described for part in pair]
