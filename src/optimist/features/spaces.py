"""The parts of Gymnasium's spaces, and the wrappers that convert spaces of actions."""

import math
from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces

Space = spaces.Space[Any]

ACTIONS: dict[type[Space], str] = {
    spaces.Box: "DiscretizeAction makes a Discrete space of it",
    spaces.Space: "TransformAction can number its actions, as np.unravel_index does",
}
"""Wrappers that make a Discrete space of other spaces; the first match applies."""


class Parts(NamedTuple):
    """The whole numbers that an observation is made of: number i is in [start, start + size)."""

    starts: tuple[int, ...]
    sizes: tuple[int, ...]

    @property
    def combinations(self) -> int:
        """How many observations there are."""
        return math.prod(self.sizes)


def parts_of(space: Space) -> Parts | None:
    """The whole numbers of a space that is made of discrete ones alone; None of any other.

    Examples
    --------
    >>> parts_of(spaces.Tuple([spaces.Discrete(32), spaces.MultiBinary(2)]))
    Parts(starts=(0, 0, 0), sizes=(32, 2, 2))
    >>> parts_of(spaces.Dict(a=spaces.Discrete(3), b=spaces.Text(5)))
    """
    if isinstance(space, spaces.Discrete):
        return Parts((int(space.start),), (int(space.n),))
    if isinstance(space, spaces.MultiDiscrete):
        start = np.broadcast_to(space.start, space.nvec.shape)
        return Parts(tuple(start.ravel().tolist()), tuple(space.nvec.ravel().tolist()))
    if isinstance(space, spaces.MultiBinary):
        n = math.prod(space.shape)
        return Parts((0,) * n, (2,) * n)
    if isinstance(space, spaces.Tuple | spaces.Dict):
        found = [parts_of(part) for part in _members(space)]
        known = [part for part in found if part is not None]
        if not known or len(known) < len(found):
            return None
        return Parts(*(sum(each, ()) for each in zip(*known, strict=True)))
    return None


def has_real_numbers(space: Space) -> bool:
    """Whether a part of an observation is an array of real numbers, few of which repeat.

    Examples
    --------
    >>> image = spaces.Box(0, 255, (7, 7, 3), np.uint8)
    >>> has_real_numbers(image), has_real_numbers(spaces.Tuple([image, spaces.Box(0, 1)]))
    (False, True)
    """
    if isinstance(space, spaces.Tuple | spaces.Dict):
        return any(map(has_real_numbers, _members(space)))
    return isinstance(space, spaces.Box) and space.dtype.kind == "f"


def _members(space: spaces.Tuple[Any] | spaces.Dict) -> list[Space]:
    if isinstance(space, spaces.Tuple):
        return list(space.spaces)
    return [space[key] for key in sorted(space)]


def count_actions(space: Space) -> int:
    """The number of actions in a Discrete space that starts at 0.

    Examples
    --------
    >>> count_actions(spaces.Discrete(3))
    3
    >>> count_actions(spaces.Box(-1.0, 1.0))
    Traceback (most recent call last):
    ...
    TypeError: actions must be Discrete; got Box(-1.0, 1.0, (1,), float32);
    gymnasium.wrappers.DiscretizeAction makes a Discrete space of it
    """
    if not isinstance(space, spaces.Discrete):
        raise TypeError(f"actions must be Discrete; got {space}; {_hint(space)}")
    if space.start != 0:
        raise TypeError(
            f"actions must be numbered from 0; got {space}; "
            "gymnasium.wrappers.TransformAction(env, "
            f"lambda a: a + {space.start}, gymnasium.spaces.Discrete({space.n})) does that"
        )
    return int(space.n)


def _hint(space: object) -> str:
    for kind, wrapper in ACTIONS.items():
        if isinstance(space, kind):
            return f"gymnasium.wrappers.{wrapper}"
    return "give a space of Gymnasium, such as env.action_space"
