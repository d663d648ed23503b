"""From a TOML file to the fields of a study: grids expanded, every mistake with its key."""

from collections.abc import Iterable, Mapping
from typing import Any

from optimist import checks
from optimist.errors import DataError, TooLarge
from optimist.experiments.parameters import Plain, did_you_mean, grid, grid_size
from optimist.experiments.specification import AnyWorld, default_stride, read_agent, read_world
from optimist.experiments.study_checks import (
    check_description,
    check_everywhere,
    check_length,
    check_name,
    check_runs,
    check_title,
    refuse_again,
)
from optimist.experiments.subject import check_family, check_held_out, check_subject, families_of

SETTINGS = ("episodes", "stride")
"""What a world may set for itself, and a study for all worlds."""

ABOUT = ("subject", "held_out")
"""Whom a study is about, and where its constants were not chosen."""

KEYS = ("title", "description", "seeds", "seed", *SETTINGS, *ABOUT, "worlds", "agents")


def study_fields(data: Plain, title: str) -> dict[str, Any]:
    """The fields of the study that a TOML file holds; an error says at which key it is wrong."""
    for key in data:
        if key not in KEYS:
            raise DataError((key,), f"there is no key {key!r}: {did_you_mean(key, KEYS)}")
    for key in ("title", "description"):
        if not isinstance(data.get(key, ""), str):
            raise DataError((key,), f"{key} = {data[key]!r} is not text")
    checked(("title",), check_title, data.get("title", title))
    checked(("description",), check_description, data.get("description", ""))
    seed = checked(("seed",), checks.count, data.get("seed", 0), "seed", 0)
    for key in data.keys() & set(SETTINGS):  # even if every world has its own
        checked((key,), checks.count, data[key], key)
    n_worlds, n_agents = (_number_of(data, key) for key in ("worlds", "agents"))
    checked(("seeds",), check_runs, data.get("seeds", 5), n_worlds, n_agents)
    settings: dict[str, dict[str, int]] = {key: {} for key in SETTINGS}
    worlds: dict[str, AnyWorld] = {}
    known_worlds: dict[Any, str] = {}
    for label, table, path, _ in _expanded(data, "worlds"):
        if label in worlds:
            raise DataError(path, f"there are two worlds with the name {label!r}")
        for key in SETTINGS:
            value = table.pop(key, data.get(key))
            if value is None and key == "stride":
                value = default_stride(settings["episodes"][label])
            if value is None:
                raise DataError(
                    path, f"world {label!r} needs a number of {key}, here or at the top"
                )
            settings[key][label] = checked((*path, key), checks.count, value, key)
        worlds[label] = read_world(table, path)
        played = worlds[label], settings["episodes"][label], settings["stride"][label]
        checked(path, check_length, *played)
        checked(path, refuse_again, "worlds", known_worlds, played, label)
    agents: dict[str, Any] = {}
    known_agents: dict[Any, str] = {}
    families: dict[str, str] = {}
    for label, table, path, name in _expanded(data, "agents"):
        if label in agents:
            raise DataError(path, f"there are two agents with the name {label!r}")
        family = table.pop("family", name)
        checked((*path, "family"), check_family, family)
        if family != label:
            families[label] = family
        agents[label] = read_agent(table, path)
        checked(path, check_everywhere, worlds, agents[label])
        checked(path, refuse_again, "agents", known_agents, agents[label], label)
    subject, held_out = data.get("subject"), data.get("held_out", [])
    checked(("subject",), check_subject, subject, families_of(agents, families))
    checked(("held_out",), check_held_out, held_out, worlds, subject)
    return {
        "worlds": worlds,
        "agents": agents,
        **settings,
        "seeds": data.get("seeds", 5),
        "seed": seed,
        "title": data.get("title", title),
        "description": data.get("description", ""),
        "subject": subject,
        "held_out": held_out,
        "families": families,
    }


def _number_of(data: Plain, key: str) -> int:
    """How many worlds or agents there are, every choice of a grid counted, and none made."""
    entries = data.get(key, {})
    if not isinstance(entries, Mapping):
        return 0
    return sum(
        _within((key, name), grid_size, entry)
        for name, entry in entries.items()
        if isinstance(entry, Mapping)
    )


def _expanded(data: Plain, key: str) -> Iterable[tuple[str, Plain, tuple[str, ...], str]]:
    """The label and the table of every entry, its lists expanded, where it is, and its name."""
    entries = data.get(key, {})
    if not isinstance(entries, Mapping) or not entries:
        raise DataError((key,), f"the study has no {key}: give each a table [{key}.NAME]")
    for name, entry in entries.items():
        path = (key, name)
        if not isinstance(entry, Mapping):
            raise DataError(path, f"{name} = {entry!r} is not a table: write [{key}.{name}]")
        for table, chosen in _within(path, lambda data: list(grid(data)), entry):
            label = _label(name, chosen)
            checked(path, check_name, label)
            yield label, table, path, name


def _within(path: tuple[str, ...], make: Any, *arguments: Any) -> Any:
    """The result of a call whose errors know where they are within a path."""
    try:
        return make(*arguments)
    except DataError as error:
        raise DataError((*path, *error.path), str(error)) from error


def _label(name: str, chosen: Plain) -> str:
    """The name of one of a grid: ``{beta}`` in it is the value of beta; others are appended.

    Examples
    --------
    >>> _label("beta {beta}", {"beta": 0.5, "eta": 10})
    'beta 0.5, eta 10'
    """
    for key, value in chosen.items():
        if isinstance(value, Mapping):
            value = value.get("kind", value)
        text = str(value).removesuffix(".0") if isinstance(value, float) else str(value)
        slot = f"{{{key}}}"
        name = name.replace(slot, text) if slot in name else f"{name}, {key} {text}"
    return name


def checked(path: tuple[str, ...], make: Any, *arguments: Any) -> Any:
    """The result of a call whose errors are about what stands at a path."""
    try:
        return make(*arguments)
    except DataError:
        raise
    except (ValueError, TypeError, TooLarge) as error:
        raise DataError(path, str(error)) from error
