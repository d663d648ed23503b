"""Helpers of the commands about one world: its name comes first, its parameters are flags."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field, make_dataclass
from pathlib import Path
from typing import Annotated, Any

import gymnasium
import tyro

from optimist.envs import WORLDS
from optimist.errors import StudyError
from optimist.parameters import did_you_mean

Option = tuple[str, Any, Any]
"""The name, type and default of a flag, as `make_dataclass` takes them."""


@contextmanager
def user_errors() -> Iterator[None]:
    """Raise wrong values of flags, and errors of the files they name, as `StudyError`."""
    try:
        yield
    except (ValueError, OSError) as error:
        raise StudyError(str(error)) from error


def check_writable(*paths: Path | None) -> None:
    """Refuse files in folders that do not exist, before any work is done."""
    for path in paths:
        if path is not None and not path.absolute().parent.is_dir():
            raise StudyError(f"cannot write {path}: there is no folder {path.parent}")


def choice(name: str, rest: list[str], among: Iterable[str], default: str) -> tuple[str, list[str]]:
    """The value of a flag on which other flags depend, and the other arguments.

    Examples
    --------
    >>> choice("agent", ["--episodes", "10", "--agent", "Rmax"], ["Rmax"], "Rmax")
    ('Rmax', ['--episodes', '10'])
    """
    flag, chosen, left = f"--{name}", default, []
    given = iter(rest)
    for word in given:
        if word == flag:
            chosen = next(given, "")
        elif word.startswith(f"{flag}="):
            chosen = word.removeprefix(f"{flag}=")
        else:
            left.append(word)
    if chosen not in among:
        hint = did_you_mean(chosen, among, "there are")
        raise StudyError(f"there is no {name} {chosen!r}: {hint}")
    return chosen, left


def named(arguments: Sequence[str]) -> tuple[str, list[str]]:
    """The world and the other arguments."""
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
    """A flag for an optional output path."""
    how = tyro.conf.arg(metavar=metavar, help=text, help_behavior_hint="(default: not written)")
    return name, Annotated[Path | None, how], field(default=None)


def needed_file(name: str, text: str) -> Option:
    """A flag for a required path."""
    return name, Annotated[Path, tyro.conf.arg(metavar="FILE", help=text)], field(kw_only=True)


def options(doc: str, world: str, *flags: Option, **parts: Any) -> type[Any]:
    """A dataclass of the flags of a command, of a world and of other parts."""
    return with_parts(doc, *flags, world=WORLDS[world](), **parts)


def with_parts(doc: str, *flags: Option, **parts: Any) -> type[Any]:
    """A dataclass of the flags of a command, and of parts, whose fields are flags too."""
    more = [(name, type(part), field(default=part)) for name, part in parts.items()]
    made = make_dataclass("Options", [*flags, *more], frozen=True)
    made.__doc__ = doc
    return made
