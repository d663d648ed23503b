"""Checks of a study: its size, its names, its duplicates."""

from collections.abc import Mapping, Sized
from typing import Any

from optimist import limits
from optimist.agents.history import check_history
from optimist.digests import digest
from optimist.envs import Gym
from optimist.experiments.learners import check_together
from optimist.experiments.specification import Unit, check_steps
from optimist.experiments.worlds import StudyWorld
from optimist.parameters import Plain
from optimist.text import LINES, check_seen

PARTS = 10
"""A run is evaluated at least this many times (`optimist.experiments.execute.marks`)."""

NO_STRIDE = "stride must not be given in a study by steps, whose rows are at fixed steps"

BYTES_A_RUN = 10_000
"""Approximate memory for a run of a study: its specification as an object and as plain data."""

BYTES_A_ROW = 400
"""Approximate memory for a row of curves: ten numbers, and copies of them."""


def check_runs(seeds: Any, n_worlds: int, n_agents: int) -> None:
    """Refuse more runs than fit into memory, before they are created.

    Examples
    --------
    >>> check_runs(seeds=10**12, n_worlds=2, n_agents=3)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    optimist.errors.TooLarge: 6,000,000,000,000 runs (1,000,000,000,000 seeds x 2 worlds x 3 agents)
    would need 60.0 PB of memory; the limit is ...
    """
    n = seeds if isinstance(seeds, int) else len(seeds) if isinstance(seeds, Sized) else 1
    runs = n * n_worlds * n_agents
    what = f"{runs:,} runs ({n:,} seeds x {n_worlds:,} worlds x {n_agents:,} agents)"
    limits.need(BYTES_A_RUN * runs, what)


def check_length(world: StudyWorld, unit: Unit, length: int, stride: int) -> None:
    """Refuse a run whose curves or kept policies do not fit into memory, and steps in an MDP."""
    if unit == "steps":
        check_steps(world)
    rows = -(-length // stride)
    limits.need(BYTES_A_ROW * rows, f"the curves of {length:,} {unit} with stride {stride:,}")
    part = rows // PARTS + 1  # the most policies that are kept between two marks
    size = 0 if isinstance(world, Gym) else world.mdp.r.size
    check_history(part * stride, 0 if isinstance(world, Gym) else part, size)


def check_name(name: str) -> None:
    """Refuse the name of a world or an agent if it has invisible characters."""
    check_seen(name, "the name of a world or an agent")


def check_title(title: str) -> None:
    """Refuse a title with invisible characters or several lines."""
    check_seen(title, "title")


def check_description(description: str) -> None:
    """Refuse a description with invisible characters; it may have several lines."""
    check_seen(description, "description", keep=LINES)


def check_agent(worlds: Mapping[str, StudyWorld], config: Any, unit: Unit) -> None:
    """Refuse an agent that cannot learn in one of the worlds."""
    for world in worlds.values():
        check_together(world, config, unit == "steps")


def refuse_duplicates(what: str, tables: Mapping[str, Plain]) -> None:
    """Refuse two names for the same world or agent: their runs would be the same."""
    first: dict[str, str] = {}
    for name, table in tables.items():
        refuse_duplicate(what, first, table, name)


def refuse_duplicate(what: str, first: dict[str, str], table: Plain, name: str) -> None:
    """Refuse a table that is in ``first`` under another name; add it otherwise."""
    key = digest(table)
    if first.setdefault(key, name) != name:
        raise ValueError(f"the {what} {first[key]!r} and {name!r} are the same")
