"""The parameters of an agent: fields of its configuration, given by name."""

from dataclasses import fields, replace
from typing import Any

from optimist.envs import Gym
from optimist.parameters import did_you_mean

OF_ENVIRONMENTS = tuple(f.name for f in fields(Gym) if f.name not in ("id", "features"))
"""The settings of a Gymnasium environment that an agent takes beside its parameters."""


def resolve(
    agent: str, kind: type[Any], config: Any, given: dict[str, Any]
) -> tuple[Any, dict[str, Any]]:
    """The configuration, given or default, with the parameters by name; the environment's settings.

    Any other name is refused.
    """
    names = [f.name for f in fields(kind)]
    for name in given:
        if name not in (*names, *OF_ENVIRONMENTS):
            hint = did_you_mean(name, names)
            where = f"; an environment has {', '.join(OF_ENVIRONMENTS)}"
            raise TypeError(f"{agent} has no parameter {name!r}: {hint}{where}")
    if config is not None and not isinstance(config, kind):
        raise TypeError(f"config must be a {kind.__name__}, as {agent} has; got {config!r}")
    own = {name: value for name, value in given.items() if name in names}
    made = kind() if config is None else config
    return replace(made, **own) if own else made, {
        name: value for name, value in given.items() if name not in names
    }


def refuse_environment(world: Any, given: dict[str, Any], but: str = "") -> None:
    """Refuse settings of an environment if the world is finite."""
    others = [name for name in given if name != but]
    if others:
        name = type(world).__name__
        raise TypeError(
            f"{', '.join(f'{other}=' for other in others)} applies to Gymnasium environments only; "
            f"{name} already defines it"
        )
