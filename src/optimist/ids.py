"""The names under which Gymnasium finds the worlds: ``gymnasium.make("optimist/RiverSwim-v0")``.

Episodes end with probability 1 - gamma after each step (`GeometricReset` with the world's gamma),
so that their undiscounted return estimates the discounted value without bias. They never end with
``gymnasium.make(id, endless=True)``; ``max_episode_steps=`` adds a time limit.

Importing ``optimist`` registers the names; the worlds themselves are imported by ``make``.
"""

import gymnasium

WORLD_MODULES = {
    "RiverSwim": "river_swim",
    "DeepSea": "deep_sea",
    "GridWorld": "grid",
    "FourRooms": "grid",
    "Maze": "grid",
    "CombinationLock": "combination_lock",
    "SixArms": "six_arms",
    "RandomLinear": "random_linear",
    "RandomTabular": "random_tabular",
    "RandomMixture": "random_mixture",
    "ToyText": "toy_text",
    "LowerK": "lower_bounds",
    "LowerTauE": "lower_bounds",
    "ResetCliff": "reset_cliff",
    "StandardImitation": "standard_imitation",
    "Inventory": "inventory",
    "Queue": "queue",
    "Warehouse": "warehouse",
}
"""The modules of `optimist.envs` in which the shipped worlds are."""


def environment_id(name: str) -> str:
    """The name of a world in Gymnasium's registry."""
    return f"optimist/{name}-v0"


def register_all() -> None:
    """Register every world with Gymnasium that is not registered yet."""
    for name in WORLD_MODULES:
        if environment_id(name) not in gymnasium.registry:
            entry_point = f"optimist.envs.registration:{name}"
            gymnasium.register(id=environment_id(name), entry_point=entry_point)
