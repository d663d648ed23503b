"""From a TOML file to the fields of a study. Grids are expanded; errors carry their key."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from optimist import checks
from optimist.errors import DataError, TooLarge
from optimist.experiments.grid import grid, grid_size
from optimist.experiments.specification import (
    Unit,
    agent_table,
    check_unit,
    default_stride,
    length_table,
    read_agent,
    read_certify,
)
from optimist.experiments.study_checks import (
    NO_STRIDE,
    check_agent,
    check_description,
    check_length,
    check_name,
    check_runs,
    check_title,
    refuse_duplicate,
)
from optimist.experiments.subject import check_family, check_held_out, check_subject, families_of
from optimist.experiments.worlds import StudyWorld, read_world, world_table
from optimist.parameters import Plain, did_you_mean

SETTINGS = ("episodes", "steps", "stride")
"""Keys of a world, or of the study for all worlds."""

ABOUT = ("subject", "held_out")
"""Keys about the agent that a study is about."""

KEYS = ("title", "description", "seeds", "seed", "certify", *SETTINGS, *ABOUT, "worlds", "agents")


def study_fields(
    data: Plain, title: str, folder: Path | None = None, load: bool = True
) -> dict[str, Any]:
    """The fields of the study in a TOML file in a folder; an error says at which key it is."""
    for key in data:
        if key not in KEYS:
            raise DataError((key,), f"there is no key {key!r}: {did_you_mean(key, KEYS)}")
    for key in ("title", "description"):
        if not isinstance(data.get(key, ""), str):
            raise DataError((key,), f"{key} must be text; got {data[key]!r}")
    located(("title",), check_title, data.get("title", title))
    located(("description",), check_description, data.get("description", ""))
    seed = located(("seed",), checks.count, data.get("seed", 0), "seed", 0)
    for key in data.keys() & set(SETTINGS):  # even if every world overrides it
        located((key,), checks.count, data[key], key)
    n_worlds, n_agents = (_count_entries(data, key) for key in ("worlds", "agents"))
    located(("seeds",), check_runs, data.get("seeds", 5), n_worlds, n_agents)
    unit = _unit(data)
    lengths: dict[str, int] = {}
    strides: dict[str, int] = {}
    worlds: dict[str, StudyWorld] = {}
    known_worlds: dict[Any, str] = {}
    for label, table, path, _ in _expanded(data, "worlds"):
        if label in worlds:
            raise DataError(path, f"there are two worlds with the name {label!r}")
        given = table.pop(unit, data.get(unit))
        if given is None:
            raise DataError(path, f"world {label!r} needs {unit}, in its table or at the top")
        length = lengths[label] = located((*path, unit), checks.count, given, unit)
        usual = default_stride(length) if unit == "episodes" else 1
        given = table.pop("stride", data.get("stride", usual))
        strides[label] = located((*path, "stride"), checks.count, given, "stride")
        worlds[label] = read_world(table, path, folder, load)
        located(path, check_length, worlds[label], unit, length, strides[label])
        played = {**world_table(worlds[label]), **length_table(unit, length, strides[label])}
        located(path, refuse_duplicate, "worlds", known_worlds, played, label)
    agents: dict[str, Any] = {}
    known_agents: dict[Any, str] = {}
    families: dict[str, str] = {}
    for label, table, path, name in _expanded(data, "agents"):
        if label in agents:
            raise DataError(path, f"there are two agents with the name {label!r}")
        family = table.pop("family", name)
        located((*path, "family"), check_family, family)
        if family != label:
            families[label] = family
        agents[label] = read_agent(table, path, load)
        located(path, check_agent, worlds, agents[label], unit)
        table = agent_table(agents[label])
        located(path, refuse_duplicate, "agents", known_agents, table, label)
    subject, held_out = data.get("subject"), data.get("held_out", [])
    located(("subject",), check_subject, subject, families_of(agents, families))
    located(("held_out",), check_held_out, held_out, worlds, subject)
    located(("certify",), read_certify, data.get("certify"), *worlds.values())
    return {
        "worlds": worlds,
        "agents": agents,
        unit: lengths,
        "stride": strides if unit == "episodes" else None,
        "seeds": data.get("seeds", 5),
        "seed": seed,
        "title": data.get("title", title),
        "description": data.get("description", ""),
        "subject": subject,
        "held_out": held_out,
        "families": families,
        "certify": data.get("certify"),
    }


def _unit(data: Plain) -> Unit:
    """Whether the study is by episodes or by steps; its worlds may set it too."""
    entries = data.get("worlds")
    worlds = entries.items() if isinstance(entries, Mapping) else ()
    tables: list[tuple[tuple[str, ...], Any]] = [((), data)]
    tables += [(("worlds", name), table) for name, table in worlds if isinstance(table, Mapping)]
    by = {key: path for path, table in tables for key in SETTINGS if key in table}
    if "steps" not in by:
        return "episodes"
    if "episodes" in by:
        located((*by["episodes"], "episodes"), check_unit, data, data)
    if "stride" in by:
        raise DataError((*by["stride"], "stride"), NO_STRIDE)
    return "steps"


def _count_entries(data: Plain, key: str) -> int:
    """The number of worlds or agents, counting every choice of a grid without creating it."""
    entries = data.get(key, {})
    if not isinstance(entries, Mapping):
        return 0
    return sum(
        _below((key, name), grid_size, entry)
        for name, entry in entries.items()
        if isinstance(entry, Mapping)
    )


def _expanded(data: Plain, key: str) -> Iterable[tuple[str, Plain, tuple[str, ...], str]]:
    """Yield label, table, path and name of every entry, with its lists expanded."""
    entries = data.get(key, {})
    if not isinstance(entries, Mapping) or not entries:
        raise DataError((key,), f"the study has no {key}: add a table [{key}.NAME]")
    for name, entry in entries.items():
        path = (key, name)
        if not isinstance(entry, Mapping):
            raise DataError(path, f"{name} must be a table [{key}.{name}]; got {entry!r}")
        for table, chosen in _below(path, lambda data: list(grid(data)), entry):
            label = _label(name, chosen)
            located(path, check_name, label)
            yield label, table, path, name


def _below(path: tuple[str, ...], make: Any, *arguments: Any) -> Any:
    """Call a function; put ``path`` before the path of its errors."""
    try:
        return make(*arguments)
    except DataError as error:
        raise DataError((*path, *error.path), str(error)) from error


def _label(name: str, chosen: Plain) -> str:
    """The name of one choice of a grid: ``{beta}`` becomes its value, other values are appended.

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


def located(path: tuple[str, ...], make: Any, *arguments: Any) -> Any:
    """Call a function; its errors become a `DataError` at ``path``."""
    try:
        return make(*arguments)
    except DataError:
        raise
    except (ValueError, TypeError, TooLarge) as error:
        raise DataError(path, str(error)) from error
