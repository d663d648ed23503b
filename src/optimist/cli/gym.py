"""Gymnasium environments on the command line: ``gym:ID``, with parameters as flags."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, get_type_hints

import docstring_parser

from optimist.cli.worlds import Option, option, user_errors
from optimist.envs import Gym
from optimist.envs.gym_world import check_id, module_of
from optimist.registry import import_trusted

PREFIX = "gym:"

PARAMETERS = [f for f in fields(Gym) if f.name != "id" and f.metadata.get("plain", True)]


def is_one(world: str) -> bool:
    """Whether an argument names a Gymnasium environment."""
    return world.startswith(PREFIX)


def named(arguments: Sequence[str]) -> tuple[str, list[str]]:
    """The environment, which must be registered, and the other arguments."""
    world, *rest = arguments
    name = world.removeprefix(PREFIX)
    with user_errors():
        import_trusted(filter(None, [module_of(name)]))  # naming a module here is trusting it
        check_id(name)
    return world, rest


def flags() -> list[Option]:
    """The parameters of an environment as flags, with the docstring of `Gym` as help."""
    found = docstring_parser.parse(Gym.__doc__ or "").params
    texts = {p.arg_name: " ".join((p.description or "").split()) for p in found}
    types = get_type_hints(Gym)
    return [option(f.name, types[f.name], f.default, texts[f.name]) for f in PARAMETERS]


def world(name: str, given: Any) -> Gym:
    """The environment of a command line."""
    parameters = {f.name: getattr(given, f.name) for f in PARAMETERS}
    return Gym(name.removeprefix(PREFIX), **parameters)
