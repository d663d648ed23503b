"""Gymnasium environments on the command line: ``gym:ID``, whose parameters are flags."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from optimist.cli.worlds import Option, answered, option
from optimist.envs import Gym
from optimist.envs.gym_world import check_id, import_trusted, module_of

PREFIX = "gym:"

HELP = {
    "features": "its features, as onehot, tiles:12, tiles:12x8, tiles:8*4, rbf:12 or fourier:100; "
    "if empty, onehot or tiles, and fourier from seven dimensions on",
    "gamma": "the discount factor",
    "repeat": "how often each action is taken",
    "geometric": "break off episodes after each step with probability 1 - gamma; "
    "if none, where there is no time limit",
    "low": "the least reward of a step, or 0 if that is less and episodes end by themselves; "
    "if none, what is known of the environment, or 0",
    "high": "the largest, likewise; if none, what is known of the environment, or 1",
    "value_bound": "an upper bound on the optimal values of all states, in its own units; "
    "if none, the largest reward for ever",
    "options": "what gymnasium.make is told, as map_name=8x8,is_slippery=false",
    "parallel": "how many of them are played side by side",
}
"""What each parameter means."""


def is_one(world: str) -> bool:
    """Whether a word of the command line is a Gymnasium environment."""
    return world.startswith(PREFIX)


def named(arguments: Sequence[str]) -> tuple[str, list[str]]:
    """The environment and the rest of a command line, if Gymnasium knows it."""
    world, *rest = arguments
    name = world.removeprefix(PREFIX)
    with answered():
        import_trusted(filter(None, [module_of(name)]))  # who names it here trusts it
        check_id(name)
    return world, rest


def flags() -> list[Option]:
    """The parameters of an environment as flags."""
    given = [f for f in fields(Gym) if f.name != "id"]
    return [option(f.name, f.type, f.default, HELP[f.name]) for f in given]


def world(name: str, given: Any) -> Gym:
    """The environment of a command line."""
    return Gym(name.removeprefix(PREFIX), **{key: getattr(given, key) for key in HELP})
