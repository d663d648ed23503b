"""The shipped worlds by name, and their Gymnasium entry points."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import gymnasium

from optimist.envs.resets import GeometricReset
from optimist.envs.world import World
from optimist.ids import WORLD_MODULES

WORLDS: dict[str, type[World]] = {
    name: getattr(import_module(f"optimist.envs.{module}"), name)
    for name, module in WORLD_MODULES.items()
}
"""Every shipped world by name; all parameters have defaults."""


def __getattr__(name: str) -> Callable[..., gymnasium.Env[Any, Any]]:
    """The entry points, by the names of the worlds: ``gymnasium.make(id, **parameters)``.

    Episodes end by geometric resets with the world's own gamma, or never with ``endless=True``.
    """
    if name not in WORLDS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def make(
        render_mode: str | None = None, endless: bool = False, **parameters: Any
    ) -> gymnasium.Env[Any, Any]:
        world = WORLDS[name](**parameters)
        env = world.make(render_mode)
        return env if endless else GeometricReset(env, world.mdp.gamma)

    return make
