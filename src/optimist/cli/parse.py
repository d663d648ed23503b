"""Command lines read into frozen dataclasses, by tyro."""

import inspect
from collections.abc import Sequence
from typing import Any

import tyro

CONFIG = (tyro.conf.FlagCreatePairsOff, tyro.conf.AvoidSubcommands)
"""A boolean is one flag; a choice among dataclasses keeps the kind of its default."""


def parse(kind: type[Any], command: str, arguments: Sequence[str]) -> Any:
    """The dataclass of a command line; a mistake or a call for help ends the program."""
    return tyro.cli(
        kind,
        prog=f"optimist {command}",
        description=inspect.getdoc(kind),  # whole: tyro would leave out its example
        args=list(arguments),
        config=CONFIG,
    )
