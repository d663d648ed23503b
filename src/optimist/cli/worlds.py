"""What the commands about one world share: its name comes first, its parameters are flags."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field, make_dataclass
from pathlib import Path
from typing import Annotated, Any

import gymnasium
import tyro

from optimist.envs import WORLDS
from optimist.errors import StudyError
from optimist.experiments.parameters import did_you_mean

Option = tuple[str, Any, Any]
"""The name, type and default of a flag, as `make_dataclass` takes them."""


@contextmanager
def answered() -> Iterator[None]:
    """What can be wrong with the values of flags, and with the files they name, is a sentence."""
    try:
        yield
    except (ValueError, OSError) as error:
        raise StudyError(str(error)) from error


def to_be_written(*paths: Path | None) -> None:
    """Refuse files in folders that do not exist, before any work is done."""
    for path in paths:
        if path is not None and not path.absolute().parent.is_dir():
            raise StudyError(f"{path} cannot be written: there is no folder {path.parent}")


def named(arguments: Sequence[str]) -> tuple[str, list[str]]:
    """The world and the rest of a command line."""
    world, *rest = arguments
    if world.startswith("-"):
        raise StudyError(f"the world comes first, before {world}: one of {', '.join(WORLDS)}")
    if world not in WORLDS:
        hint = did_you_mean(world, WORLDS, "there are")
        if world in gymnasium.registry:
            hint = f"Gymnasium's is gym:{world}"
        raise StudyError(f"there is no world {world!r}: {hint}")
    return world, rest


def option(name: str, kind: Any, default: Any, text: str) -> Option:
    """A flag with a default value."""
    return name, Annotated[kind, tyro.conf.arg(help=text)], field(default=default)


def file(name: str, metavar: str, text: str) -> Option:
    """A flag for a path that is not written if it is not given."""
    how = tyro.conf.arg(metavar=metavar, help=text, help_behavior_hint="(default: not written)")
    return name, Annotated[Path | None, how], field(default=None)


def needed_file(name: str, text: str) -> Option:
    """A flag for a path that has to be given."""
    return name, Annotated[Path, tyro.conf.arg(metavar="FILE", help=text)], field(kw_only=True)


def options(doc: str, world: str, *flags: Option, agent: Any = None) -> type[Any]:
    """The flags of a command in this world, and of an agent there, as a dataclass."""
    made = ("world", WORLDS[world], field(default=WORLDS[world]()))
    return with_agent(doc, *flags, made, agent=agent)


def default_agent(kind: type[Any], arguments: Sequence[str]) -> Any:
    """What an agent is told where a command line says nothing; it may depend on what that says."""
    flags = [a.removeprefix("--agent.") for a in arguments if a.startswith("--agent.")]
    told = [re.split(r"[.=]", flag)[0].replace("-", "_") for flag in flags]
    choice = getattr(kind, "default_for", None)
    return kind() if choice is None else choice(told)


def with_agent(doc: str, *flags: Option, agent: Any = None) -> type[Any]:
    """The flags of a command, and of an agent, as a dataclass."""
    more: list[Option] = []
    if agent is not None:
        more.append(("agent", type(agent), field(default=agent)))
    made = make_dataclass("Options", [*flags, *more], frozen=True)
    made.__doc__ = doc
    return made
