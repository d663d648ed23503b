"""The names under which Gymnasium finds the worlds: ``gymnasium.make("optimist/RiverSwim-v0")``."""

from collections.abc import Callable
from typing import Any

import gymnasium

from optimist.envs import (
    combination_lock,
    deep_sea,
    grid,
    lower_bounds,
    random_linear,
    river_swim,
    six_arms,
)
from optimist.envs.environment import FiniteEnv
from optimist.envs.world import World

WORLDS: dict[str, type[World]] = {
    world.__name__: world
    for world in (
        river_swim.RiverSwim,
        deep_sea.DeepSea,
        grid.GridWorld,
        grid.FourRooms,
        grid.Maze,
        combination_lock.CombinationLock,
        six_arms.SixArms,
        random_linear.RandomLinear,
        lower_bounds.LowerK,
        lower_bounds.LowerTauE,
    )
}
"""Every shipped world by name; each can be built without arguments."""


def environment_id(name: str) -> str:
    """The name of a world in Gymnasium's registry."""
    return f"optimist/{name}-v0"


def __getattr__(name: str) -> Callable[..., FiniteEnv]:
    """The entry points, by the names of the worlds: ``gymnasium.make(id, **parameters)``."""
    if name not in WORLDS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def make(render_mode: str | None = None, **parameters: Any) -> FiniteEnv:
        return WORLDS[name](**parameters).make(render_mode)

    return make


def register_all() -> None:
    """Tell Gymnasium of every world it does not know yet."""
    for name in WORLDS:
        if environment_id(name) not in gymnasium.registry:
            gymnasium.register(id=environment_id(name), entry_point=f"{__name__}:{name}")
