"""Parse command lines into frozen dataclasses, with tyro."""

import inspect
from collections.abc import Sequence
from types import NoneType
from typing import Any

import tyro
from tyro.constructors import ConstructorRegistry, PrimitiveConstructorSpec, PrimitiveTypeInfo

CONFIG = (tyro.conf.FlagCreatePairsOff, tyro.conf.AvoidSubcommands)
"""A boolean is one flag; a choice among dataclasses keeps the kind of its default."""

REGISTRY = ConstructorRegistry()


@REGISTRY.primitive_rule
def _none(type_info: PrimitiveTypeInfo) -> PrimitiveConstructorSpec[None] | None:
    """Write None as ``none``, as TOML, JSON and the tables do."""
    if type_info.type is not NoneType:
        return None
    return PrimitiveConstructorSpec(
        nargs=1,
        metavar="none",
        instance_from_str=_parse_none,
        is_instance=lambda value: value is None,
        str_from_instance=lambda _: ["none"],
    )


def _parse_none(words: list[str]) -> None:
    if words[0].lower() != "none":
        raise ValueError(f"{words[0]!r} is not none")


def parse(kind: type[Any], command: str, arguments: Sequence[str]) -> Any:
    """The dataclass of a command line. For help or a mistake, print it and exit."""
    return tyro.cli(
        kind,
        prog=f"optimist {command}",
        description=inspect.getdoc(kind),  # whole: tyro would leave out its example
        args=list(arguments),
        config=CONFIG,
        registry=REGISTRY,
    )
