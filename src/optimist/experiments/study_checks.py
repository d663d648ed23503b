"""What a study is refused for: its size, its names, one thing under two names."""

from collections.abc import Mapping, Sized
from typing import Any

from optimist import limits
from optimist.agents.history import check_history
from optimist.envs import Gym
from optimist.experiments.learners import check_together
from optimist.experiments.specification import AnyWorld
from optimist.text import LINES, check_seen

PARTS = 10
"""At least so many times a run stops to look at itself (`optimist.experiments.execute.marks`)."""

BYTES_A_RUN = 10_000
"""About what a run takes while a study is run: its specification, spelt out, and what is asked."""

BYTES_A_ROW = 400
"""About what a row of curves takes: ten numbers, and copies of them."""


def check_runs(seeds: Any, n_worlds: int, n_agents: int) -> None:
    """Refuse more runs than fit into memory, before they are listed.

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


def check_length(world: AnyWorld, episodes: int, stride: int) -> None:
    """Refuse a run whose curves, or policies that are kept to be evaluated, do not fit."""
    rows = -(-episodes // stride)
    limits.need(BYTES_A_ROW * rows, f"the curves of {episodes:,} episodes with stride {stride:,}")
    part = rows // PARTS + 1  # after which policies are evaluated, and forgotten
    size = 0 if isinstance(world, Gym) else world.mdp.r.size
    check_history(part * stride, 0 if isinstance(world, Gym) else part, size)


def check_name(name: str) -> None:
    """Refuse a name of a world or an agent that cannot be seen whole."""
    check_seen(name, "the name of a world or an agent")


def check_title(title: str) -> None:
    """Likewise of a title, which is one line."""
    check_seen(title, "title")


def check_description(description: str) -> None:
    """Likewise of a description, which may have several."""
    check_seen(description, "description", keep=LINES)


def check_everywhere(worlds: Mapping[str, AnyWorld], config: Any) -> None:
    """Refuse an agent that cannot learn every one of the worlds."""
    for world in worlds.values():
        check_together(world, config)


def refuse_twice(what: str, named: Mapping[str, Any]) -> None:
    """Refuse two names for one thing: their runs would be the same runs."""
    first: dict[Any, str] = {}
    for name, thing in named.items():
        refuse_again(what, first, thing, name)


def refuse_again(what: str, first: dict[Any, str], thing: Any, name: str) -> None:
    """Refuse a thing that is among the first ones under another name; remember it."""
    if first.setdefault(thing, name) != name:
        raise ValueError(f"the {what} {first[thing]!r} and {name!r} are the same")
