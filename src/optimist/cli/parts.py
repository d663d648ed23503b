"""The flags of the world, the agent or the imitator of a command line.

Words are searched for names before they are parsed, because the names decide which flags there are:
the world comes first, ``--agent NAME`` anywhere. A parameter that is one of several dataclasses is
chosen in the same way, by ``--agent.bonus NAME``.
"""

import os
import sys
from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import MISSING, Field, field, fields, is_dataclass, make_dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_type_hints

import gymnasium
from tyro.conf import Fixed, arg

from optimist.agents import Agent, Algorithm
from optimist.cli.flags import EPISODES, FRA_IL
from optimist.cli.mistakes import user_errors
from optimist.cli.parse import checked
from optimist.envs import ArrayWorld, Gym, World
from optimist.envs.gym_world import check_id, module_of
from optimist.envs.mdp_files import SUFFIXES
from optimist.errors import StudyError
from optimist.experiments.learners import LEARNERS, config_of
from optimist.experiments.worlds import KINDS
from optimist.imitation import IMITATORS
from optimist.parameters import kind_of
from optimist.registry import Registry, import_trusted, is_reference

GYM = "gym:"
NONE = "none"


def parse_with_parts(
    command: type[Any], words: list[str], parse: Callable[[type[Any]], Any]
) -> Any:
    """Parse a command with the flags of what its words name, the first word its world.

    ``parse`` parses the words into a dataclass; ``command`` is the one without these flags.
    """
    import_modules(values_of("import", words))
    known: dict[str, Any] = {f.name: f for f in fields(command)}
    parts: dict[str, Any] = {"world": world_part(words[0], words, "agent_name" in known)}
    if "expert" in known:
        imitator = IMITATORS[checked("imitator", value_of("learner", words, FRA_IL), IMITATORS)]
        parts["config"] = Annotated[narrowed(imitator.Config, "", words), arg(name="")]
    if "agent_name" not in known:
        return restored(parse(with_parts(command, parts)), parts)
    learner = agent_named(value_of("agent", words, known["agent_name"].default))
    parts["agent"] = narrowed(config_of(learner), "agent", words)
    presets = getattr(learner, "presets", ())
    if presets:
        text = "parameters of the agent for this world and number of episodes, where not given"
        parts["preset"] = Annotated[Literal[(NONE, *presets)], arg(help=text)]
    given = restored(parse(with_parts(command, parts)), parts)
    if presets and given.preset != NONE:
        K = EPISODES if given.episodes is None else given.episodes
        with user_errors():
            config = getattr(learner, given.preset)(given.world, K=K).config
        parts["agent"] = narrowed(config_of(learner), "agent", words, config)
        given = restored(parse(with_parts(command, parts)), parts)
    return given


def with_parts(command: type[Any], parts: dict[str, Any]) -> type[Any]:
    """The flags of a command and of its parts: types of flags, or worlds without any."""
    fixed = {name: part for name, part in parts.items() if isinstance(part, World)}
    flags = [
        (name, part, field(default=NONE) if name == "preset" else field())
        for name, part in parts.items()
        if name not in fixed
    ]
    how: Any = {"bases": (command,), "frozen": True, "kw_only": True, "namespace": fixed}
    return make_dataclass(command.__name__, flags, **how)


# Names


def world_part(name: str, words: list[str], environments: bool) -> Any:
    """The flags of a named world, or the world itself if it has none."""
    if name.endswith(SUFFIXES):
        with user_errors():
            return ArrayWorld.load(Path(name))
    if name.startswith(GYM):
        id = name.removeprefix(GYM)
        with user_errors():
            import_modules(filter(None, [module_of(id)]))  # naming a module here is trusting it
            check_id(id)
        kind: Any = Gym
    else:
        if name in gymnasium.registry:
            raise StudyError(f"there is no world {name!r}: Gymnasium's is {GYM}{name}")
        id, kind = name, find(KINDS, name)
    if isinstance(kind, type) and issubclass(kind, World):
        return narrowed(kind, "world", words)
    if not callable(kind):
        raise StudyError(f"the world must be a World or a function that makes one; {name} is not")
    if not environments:
        raise StudyError(f"the world must be finite; {name} is a Gymnasium environment")
    return Annotated[narrowed(Gym, "", words, id=id), arg(name="")]


def agent_named(name: str) -> Any:
    """The agent or algorithm of a name."""
    found = find(LEARNERS, name)
    if not isinstance(found, type) or not issubclass(found, Agent | Algorithm):
        raise StudyError(f"the agent must be an Agent or an Algorithm; {name} is {found!r}")
    return found


def find(names: Registry, name: str) -> Any:
    """The class of a name. To name a module on the command line is to trust it."""
    if is_reference(name) and not names.declared(name):
        import_modules([name.partition(":")[0]])
    return names.find(name)


def import_modules(modules: Iterable[str]) -> None:
    """Import modules, from the current folder too, as ``python -m`` does."""
    for module in modules:
        if "" not in sys.path and os.getcwd() not in sys.path:
            sys.path.insert(0, os.getcwd())
        import_trusted(module)


def values_of(flag: str, words: list[str]) -> list[str]:
    """The values of a flag among words that were not parsed yet.

    Examples
    --------
    >>> values_of("agent", ["--episodes", "10", "--agent", "Rmax", "--agent=Psrl"])
    ['Rmax', 'Psrl']
    """
    values = []
    for word, after in zip(words, [*words[1:], ""], strict=True):
        name, equals, value = word.partition("=")
        if name.replace("_", "-") == f"--{flag}":
            values.append(value if equals else after)
    return values


def value_of(flag: str, words: list[str], default: str) -> str:
    """The last value of a flag among words."""
    return [default, *values_of(flag, words)][-1]


# Dataclasses whose fields are flags


def narrowed(
    kind: type[Any], prefix: str, words: list[str], usual: Any = None, **fixed: Any
) -> type[Any]:
    """A dataclass for tyro, with the flags of another. `restored` makes that one of its instances.

    A union of dataclasses is narrowed to the one that words choose. Values are not checked yet.
    Fields in ``fixed``, and those that only Python can give, are no flags. ``usual`` has the
    default values, if they are not those of the class.
    """
    hints = get_type_hints(kind, include_extras=True)
    flags: list[tuple[str, Any, Any]] = []
    for f in fields(kind):
        options: dict[str, type[Any]] = {
            kind_of(o): o
            for o in get_args(hints[f.name])
            if isinstance(o, type) and is_dataclass(o)
        }
        default = fixed.get(f.name, default_of(f) if usual is None else getattr(usual, f.name))
        if f.name in fixed or not f.metadata.get("plain", True):
            factory = partial(copy, default)
            flags.append((f.name, Annotated[Any, Fixed], field(default_factory=factory)))
        elif options:
            flag = f"{prefix}.{f.name}".strip(".").replace("_", "-")
            first = kind_of(type(default))
            name = checked(flag, value_of(flag, words, first), options)
            same = default if type(default) is options[name] else None
            flags.append((f.name, narrowed(options[name], flag, words, same), field()))
            text = f"the kind of {f.name}, whose parameters are flags"
            choice: Any = Annotated[Literal[tuple(options)], arg(name=f.name, help=text)]
            flags.append((f"{f.name}_kind", choice, field(default=first)))
        elif usual is not None and f.init:
            flags.append((f.name, hints[f.name], field(default=default)))
    frozen = kind.__dataclass_params__.frozen
    own = {"narrowed_from": kind, "__post_init__": lambda self: None, "__doc__": kind.__doc__}
    how: Any = {"bases": (kind,), "frozen": frozen, "kw_only": True, "namespace": own}
    made = make_dataclass(kind.__name__, flags, **how)
    made.__module__, made.__qualname__ = kind.__module__, kind.__qualname__  # its comments are help
    return made


def default_of(f: Field[Any]) -> Any:
    """The default of a field."""
    return f.default if f.default_factory is MISSING else f.default_factory()


def restored(given: Any, parts: Iterable[str]) -> Any:
    """The parsed dataclass, with its parts as instances of the original classes."""
    with user_errors():
        flags = {f.name for f in fields(given)}
        own = {name: _restored(getattr(given, name)) for name in parts if name in flags}
        return replace(given, **own)


def _restored(part: Any) -> Any:
    kind = getattr(type(part), "narrowed_from", None)
    if kind is None:
        return part
    return kind(**{f.name: _restored(getattr(part, f.name)) for f in fields(kind) if f.init})
