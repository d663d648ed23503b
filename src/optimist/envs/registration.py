"""The shipped worlds by name, and their Gymnasium entry points."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from optimist.envs.environment import FiniteEnv
from optimist.envs.world import World
from optimist.ids import WORLD_MODULES

WORLDS: dict[str, type[World]] = {
    name: getattr(import_module(f"optimist.envs.{module}"), name)
    for name, module in WORLD_MODULES.items()
}
"""Every shipped world by name; all parameters have defaults."""


def __getattr__(name: str) -> Callable[..., FiniteEnv]:
    """The entry points, by the names of the worlds: ``gymnasium.make(id, **parameters)``."""
    if name not in WORLDS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def make(render_mode: str | None = None, **parameters: Any) -> FiniteEnv:
        return WORLDS[name](**parameters).make(render_mode)

    return make
