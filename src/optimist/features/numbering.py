"""Numbers for observations of any kind, in the order in which they are met."""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

DIGEST_BYTES = 16
"""Two of n different observations have one digest with probability below n^2 / 2^129."""


class Numbering:
    """The number of every distinct observation that was met: 0, 1, 2, and so on.

    An observation is kept as a digest of 16 bytes, which is the same on every machine.

    Examples
    --------
    >>> numbers = Numbering()
    >>> numbers.add({"image": np.zeros((7, 7)), "mission": "go"}), numbers.add((3, "left"))
    (0, 1)
    >>> numbers.find((3, "left")), numbers.find("never met")
    (1, -1)
    """

    def __init__(self, digests: Iterable[bytes] = ()) -> None:
        self._numbers = {digest: number for number, digest in enumerate(digests)}

    def __len__(self) -> int:
        return len(self._numbers)

    def find(self, observation: Any) -> int:
        """The number of an observation, or -1 if it was never met."""
        return self._numbers.get(digest_observation(observation), -1)

    def add(self, observation: Any) -> int:
        """The number of an observation; it gets the next one if it was never met."""
        return self._numbers.setdefault(digest_observation(observation), len(self._numbers))

    @property
    def digests(self) -> list[bytes]:
        """The digests of all that was met, in order."""
        return list(self._numbers)


def digest_observation(observation: Any) -> bytes:
    """A digest of what an observation says, whatever its type.

    Numbers count by their values: 1, np.uint8(1) and True are one, and so are -0.0 and 0.0; 1 and
    1.0 are two. Lists and tuples are one, and the keys of a dictionary have no order.

    Examples
    --------
    >>> digest_observation(np.array([1, 2], dtype=np.uint8)) == digest_observation(np.array([1, 2]))
    True
    >>> digest_observation((1, 2)) == digest_observation(((1,), 2))
    False
    """
    made = hashlib.blake2b(digest_size=DIGEST_BYTES)
    _add(made, observation)
    return made.digest()


def _add(made: Any, part: Any) -> None:
    """Add what a part says; each begins with its kind and length, so that none reads as another."""
    if isinstance(part, Mapping):
        made.update(b"d%d;" % len(part))
        for key in sorted(part, key=str):
            _add(made, key)
            _add(made, part[key])
    elif isinstance(part, str):
        text = part.encode()
        made.update(b"s%d;" % len(text) + text)
    elif isinstance(part, tuple | list):
        made.update(b"t%d;" % len(part))
        for each in part:
            _add(made, each)
    elif part is None:
        made.update(b"n;")
    else:
        array = np.asarray(part)
        if array.dtype.kind in "biu":
            array = array.astype("<i8")
        elif array.dtype.kind == "f":
            array = array.astype("<f8") + 0.0  # -0.0 is 0.0
        elif array.dtype.kind in "UO" and array.ndim:
            _add(made, array.tolist())
            return
        else:
            raise TypeError(
                "an observation must be made of numbers, text, tuples, dictionaries and arrays; "
                f"got {type(part).__name__}: {part!r}"
            )
        made.update(f"a{array.dtype.kind}{array.shape};".encode() + array.tobytes())
