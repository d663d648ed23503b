"""The names under which Gymnasium finds the worlds: ``gymnasium.make("optimist/RiverSwim-v0")``."""

from typing import Any

import gymnasium

from optimist.envs.combination_lock import CombinationLock
from optimist.envs.deep_sea import DeepSea
from optimist.envs.environment import FiniteEnv
from optimist.envs.grid import FourRooms, GridWorld, Maze
from optimist.envs.lower_bounds import LowerK, LowerTauE
from optimist.envs.random_linear import RandomLinear
from optimist.envs.river_swim import RiverSwim
from optimist.envs.six_arms import SixArms
from optimist.envs.world import World

WORLDS: dict[str, type[World]] = {
    world.__name__: world
    for world in (
        RiverSwim,
        DeepSea,
        GridWorld,
        FourRooms,
        Maze,
        CombinationLock,
        SixArms,
        RandomLinear,
        LowerK,
        LowerTauE,
    )
}
"""Every shipped world by name; each can be built without arguments."""


def environment_id(name: str) -> str:
    """The name of a world in Gymnasium's registry."""
    return f"optimist/{name}-v0"


def make_environment(world: str, render_mode: str | None = None, **parameters: Any) -> FiniteEnv:
    """The entry point of every registered world: ``gymnasium.make(id, **parameters)``."""
    return WORLDS[world](**parameters).make(render_mode)


def register_all() -> None:
    """Tell Gymnasium of every world it does not know yet."""
    for name in WORLDS:
        if environment_id(name) not in gymnasium.registry:
            gymnasium.register(
                id=environment_id(name),
                entry_point=f"{__name__}:make_environment",
                kwargs={"world": name},
            )
