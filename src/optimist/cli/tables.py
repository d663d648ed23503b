"""Tables for the terminal."""

import math
import sys
import textwrap
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from optimist.envs import Gym
from optimist.experiments import Results
from optimist.experiments.cells import Cell
from optimist.experiments.specification import agent_table
from optimist.experiments.statistics import LEVEL, Estimate
from optimist.experiments.study import named
from optimist.experiments.summary import detail
from optimist.text import printable

LOSSES = """\
lost: mean suboptimality of the policies played, in percent of the optimal value;
at the end: over the last tenth of the episodes; growth: the exponent of K in the
regret over the last decade (1: no learning; 1/2: the theory; 0: converged)"""

RETURNS = """\
return: mean undiscounted sum of the environment's rewards in an episode;
at the end: over the last tenth of the episodes"""

RETURNS_BY_STEPS = """\
return: mean over the steps of the undiscounted sum of the environment's rewards in an episode;
at the end: over the last tenth of the steps"""


def a_console() -> Console:
    """A console that prints brackets as text, and does not wrap lines when piped."""
    plain: dict[str, Any] = {"markup": False, "emoji": False, "highlight": False}
    return Console(**plain) if sys.stdout.isatty() else Console(width=160, **plain)


def new_table(title: str, *names: str, numbers: tuple[str, ...] = ()) -> Table:
    """A table with columns of text, then columns of numbers."""
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name in names:
        table.add_column(name, no_wrap=True)
    for name in numbers:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def show_results(results: Results) -> None:
    """Print the loss or the return of each agent in each world, with the best in bold."""
    worlds = results.study.worlds
    by_returns = [name for name, world in worlds.items() if isinstance(world, Gym)]
    known = [name for name in worlds if name not in by_returns]
    band = f"{LEVEL:.0%} interval"
    if known:
        _show_cells(results, known, ("world", "agent", "lost", band, "at the end", "growth"))
        a_console().print(LOSSES)
    if by_returns:
        names = ("environment", "agent", "return", band, "at the end", band)
        _show_cells(results, by_returns, names)
        a_console().print(RETURNS if results.study.unit == "episodes" else RETURNS_BY_STEPS)
        for line in _how_played(results):
            a_console().print(wrapped(line, a_console().width))
    if any(len(cell.seeds) == 1 for world in worlds for cell in _cells(results, world).values()):
        a_console().print("one seed: no interval")
    if results.peers:
        a_console().print(
            f"\n{results.peers.sentence}\nEvery peer has the best setting of its grid in each "
            f"world, chosen in hindsight; {results.peers.subject} has one setting for all."
        )
    show_agents(agent_tables(results))


def _how_played(results: Results) -> list[str]:
    """The settings with which agents played each environment, in words."""
    found = {}
    for run in results.finished:
        how = results.folder.of(run).result.get("played")
        if how is not None:
            found[run.world, how] = f"{run.world}: {how}"
    return list(found.values())


def agent_tables(results: Results) -> dict[str, dict[str, Any]]:
    """The parameters of each agent of a study."""
    return {name: agent_table(c) for name, c in results.study.configurations.items()}


def show_agents(tables: dict[str, dict[str, Any]]) -> None:
    """Print the parameters of each agent, given by its table."""
    console = a_console()
    console.print()
    for name, table in tables.items():
        console.print(wrapped(agent_line(name, table), console.width))


def agent_line(name: str, table: dict[str, Any]) -> str:
    """The parameters of an agent in one line.

    Examples
    --------
    >>> agent_line("R-max", {"agent": "Rmax", "visits": 2, "updates": 100})
    'R-max (Rmax): visits 2, updates 100'
    """
    kind = table["agent"]
    parameters = {key: value for key, value in table.items() if key != "agent"}
    return detail(kind if name == kind else f"{name} ({kind})", parameters)


def wrapped(line: str, width: int) -> str:
    """Break a line after commas, with a hanging indent.

    Examples
    --------
    >>> print(wrapped("Rmax: visits 2, updates 100, scale 1", width=20))
    Rmax: visits 2,
        updates 100,
        scale 1
    """
    kept = "\u00a0"  # no line breaks at such a space
    glued = line.replace(" ", kept).replace(f",{kept}", ", ")
    lines = textwrap.wrap(glued, width, subsequent_indent="    ", break_on_hyphens=False)
    return "\n".join(lines).replace(kept, " ")


def _show_cells(results: Results, worlds: list[str], names: tuple[str, ...]) -> None:
    title = f"{results.study.title} ({counted(len(results.study.numbers), 'seed')})"
    table = new_table(title, *names[:2], numbers=names[2:])
    for name in worlds:
        there = _cells(results, name)
        rows = {agent: _row(cell) for agent, cell in there.items()}
        best = min((order for order, *_ in rows.values()), default=math.nan)
        for agent, (order, *shown) in rows.items():
            style = "bold" if order == best and len(there) > 1 else ""
            table.add_row(name if agent == next(iter(there)) else "", agent, *shown, style=style)
        world = results.study.worlds[name]
        if there and not isinstance(world, Gym):
            mdp = world.mdp
            uniform = mdp.suboptimality(mdp.uniform_policy) / (mdp.optimal().value or 1.0)
            table.add_row("", "uniform play", percent(uniform), "", "", "", style="dim")
        table.add_section()
    a_console().print(table)


def _row(cell: Cell) -> tuple[Any, ...]:
    """The sort key of an agent in a world, lower is better, and its numbers."""
    e = cell.estimates
    if cell.track.labels.higher:
        mean, final = e["mean_return"], e["final_return"]
        return -mean.value, compact(mean.value), span(mean), compact(final.value), span(final)
    lost, final = e["average"], e["final"]
    return lost.value, percent(lost.value), interval(lost), percent(final.value), growth(e["slope"])


def _cells(results: Results, world: str) -> dict[str, Cell]:
    """The agents with a finished run in a world."""
    cells = {agent: results.cell(world, agent) for agent in results.study.agents}
    return {agent: cell for agent, cell in cells.items() if cell is not None}


def show_failures(results: Results, kept: bool = True) -> None:
    """Print the failed runs and their reasons to stderr, with the file of each if it is kept."""
    for run, message in results.failures.items():
        lines = [f"failed: {named(run)}: {message}"]
        if kept:
            lines.append(f"        {results.folder.of(run).path / 'failure.json'}")
        print(printable("\n".join(lines)), file=sys.stderr)


def counted(n: int, thing: str) -> str:
    """A number with its noun.

    Examples
    --------
    >>> counted(1, "seed"), counted(5, "seed")
    ('1 seed', '5 seeds')
    """
    return f"{n} {thing}" if n == 1 else f"{n} {thing}s"


def percent(share: float) -> str:
    """Format a share in percent.

    Examples
    --------
    >>> percent(0.12345), percent(-1e-17)
    ('12.3%', '0.0%')
    """
    return f"{share + 0.0:.1%}".replace("-0.0%", "0.0%")


def growth(e: Estimate) -> str:
    """Format a slope; a dash for nan."""
    return "-" if math.isnan(e.value) else f"{e.value:.2f}".replace("-0.00", "0.00")


def compact(x: float) -> str:
    """Format a number of any magnitude.

    Examples
    --------
    >>> compact(-142.3333), compact(0.74321), compact(12345.6)
    ('-142.3', '0.7432', '12346')
    """
    return f"{x + 0.0:.0f}" if abs(x) >= 1e4 else f"{x + 0.0:.4g}"


def interval(e: Estimate) -> str:
    """Format the interval of a share."""
    if math.isnan(e.low):
        return "-"
    return f"{percent(e.low)} - {percent(e.high)}"


def span(e: Estimate) -> str:
    """Format the interval of a number."""
    return "-" if math.isnan(e.low) else f"{compact(e.low)} to {compact(e.high)}"
