"""Parse command lines into the frozen dataclasses of `optimist.cli.flags`, with tyro."""

import inspect
import textwrap
from collections.abc import Iterable
from dataclasses import MISSING, fields
from types import NoneType
from typing import Annotated, Any, Union

import tyro
from tyro.constructors import ConstructorRegistry, PrimitiveConstructorSpec, PrimitiveTypeInfo

from optimist.cli.flags import COMMANDS
from optimist.errors import StudyError
from optimist.parameters import did_you_mean

DESCRIPTION = """\
Provably efficient exploration in discounted MDPs with linear features.
`optimist COMMAND --help` shows the flags of a command and an example.

exit codes; finished runs are kept in every case:
  0    success
  1    some runs failed or are damaged, or a statement is violated
  2    a mistake in the command, the study or a file
  3    the disk is full, or a folder cannot be written
  130  interrupted; `optimist resume FOLDER` continues"""

CONFIG = (
    tyro.conf.FlagCreatePairsOff,  # a boolean is one flag
    tyro.conf.AvoidSubcommands,
    tyro.conf.SuppressFixed,  # a value that has no text is no flag
)

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


def checked(what: str, name: str, names: Iterable[str]) -> str:
    """A name, if it is among the known ones."""
    if name not in names:
        hint = did_you_mean(name, names, "there are")
        raise StudyError(f"there is no {what} {name!r}: {hint}")
    return name


def parse(words: list[str]) -> Any:
    """The dataclass of a command line. For help or a wrong flag, print it and exit."""
    name, rest = words[0], words[1:]
    if not name.startswith("-"):
        checked("command", name, COMMANDS)
    kind = COMMANDS.get(name)
    about = {f.name: f for f in fields(kind)}.get("world_name") if kind else None
    if about and rest and not rest[0].startswith("-"):
        from optimist.cli.parts import parse_with_parts

        return parse_with_parts(COMMANDS[name], rest, lambda kind: _parse(words, kind))
    if about and about.default is MISSING and rest and not {"-h", "--help"} & set(rest):
        raise StudyError(f"the world comes first, before {rest[0]}")
    return _parse(words, kind)


def _wrapped(paragraph: str) -> str:
    """A wrapped paragraph: tyro wraps nothing, and joins lines that are not indented."""
    if paragraph.startswith("Example"):
        return f"\n\n{paragraph}"
    return "\n" + textwrap.indent(textwrap.fill(paragraph.replace("\n", " "), 77), "  ")


def _parse(words: list[str], kind: type[Any] | None) -> Any:
    """Parse words whose command has these flags."""
    commands: list[Any] = []
    for name, usual in COMMANDS.items():
        named = name == words[0]
        summary, *rest = (inspect.getdoc(usual) or "").split("\n\n")
        text = "".join([summary, *map(_wrapped, rest)])
        how = tyro.conf.subcommand(name, description=text if named else summary)
        commands.append(Annotated[(kind if named else usual), how])
    any_of: Any = Union[tuple(commands)]  # noqa: UP007
    return tyro.cli(
        any_of,
        prog="optimist",
        description=DESCRIPTION,
        args=words,
        config=CONFIG,
        registry=REGISTRY,
    )
