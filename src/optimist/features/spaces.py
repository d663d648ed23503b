"""Which spaces of Gymnasium have features, and which wrappers convert the others."""

from typing import Any

from gymnasium import spaces

Space = spaces.Space[Any]

OBSERVATIONS: dict[type[Space], str] = {
    spaces.MultiDiscrete: "TransformObservation can number its states by np.ravel_multi_index, "
    "or gymnasium.wrappers.FlattenObservation make a Box of it",
    spaces.MultiBinary: "FlattenObservation makes a Box of it",
    spaces.Tuple: "FlattenObservation makes a Box of it",
    spaces.Dict: "FlattenObservation makes a Box of it",
    spaces.Space: "TransformObservation can make a Discrete space or a Box of it",
}
"""Wrappers that make a Discrete space or a Box of other spaces; the first match applies."""

ACTIONS: dict[type[Space], str] = {
    spaces.Box: "DiscretizeAction makes a Discrete space of it",
    spaces.Space: "TransformAction can number its actions, as np.unravel_index does",
}
"""Wrappers that make a Discrete space of other spaces; the first match applies."""


def check_observations(space: Space) -> spaces.Discrete | spaces.Box:
    """Return the space if it is Discrete and starts at 0, or a Box of one axis.

    Examples
    --------
    >>> check_observations(spaces.MultiBinary(3))
    Traceback (most recent call last):
    ...
    TypeError: observations must be Discrete or a Box, not MultiBinary(3);
    gymnasium.wrappers.FlattenObservation makes a Box of it
    """
    if isinstance(space, spaces.Discrete):
        if space.start != 0:
            raise TypeError(
                f"observations must be numbered from 0, not {space}; "
                "gymnasium.wrappers.TransformObservation(env, "
                f"lambda x: x - {space.start}, gymnasium.spaces.Discrete({space.n})) does that"
            )
        return space
    if isinstance(space, spaces.Box):
        if len(space.shape) != 1:
            raise TypeError(
                f"observations must have one axis, not the shape {space.shape} of {space}; "
                "gymnasium.wrappers.FlattenObservation flattens them, but images are better "
                "described by features of your own, a subclass of StateFeatures"
            )
        return space
    raise TypeError(
        f"observations must be Discrete or a Box, not {space}; {_hint(space, OBSERVATIONS)}"
    )


def count_actions(space: Space) -> int:
    """The number of actions in a Discrete space that starts at 0.

    Examples
    --------
    >>> count_actions(spaces.Discrete(3))
    3
    >>> count_actions(spaces.Box(-1.0, 1.0))
    Traceback (most recent call last):
    ...
    TypeError: actions must be Discrete, not Box(-1.0, 1.0, (1,), float32);
    gymnasium.wrappers.DiscretizeAction makes a Discrete space of it
    """
    if not isinstance(space, spaces.Discrete):
        raise TypeError(f"actions must be Discrete, not {space}; {_hint(space, ACTIONS)}")
    if space.start != 0:
        raise TypeError(
            f"actions must be numbered from 0, not {space}; "
            "gymnasium.wrappers.TransformAction(env, "
            f"lambda a: a + {space.start}, gymnasium.spaces.Discrete({space.n})) does that"
        )
    return int(space.n)


def _hint(space: object, wrappers: dict[type[Space], str]) -> str:
    for kind, wrapper in wrappers.items():
        if isinstance(space, kind):
            return f"gymnasium.wrappers.{wrapper}"
    return "give a space of Gymnasium, such as env.observation_space or env.action_space"
