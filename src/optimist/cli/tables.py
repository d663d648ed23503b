"""Tables for people, in a terminal."""

import math
import sys

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from optimist.experiments import Results
from optimist.experiments.statistics import LEVEL, Estimate


def a_console() -> Console:
    """The terminal; what is piped elsewhere is not folded to 80 columns."""
    return Console() if sys.stdout.isatty() else Console(width=160)


def new_table(title: str, *names: str, numbers: tuple[str, ...] = ()) -> Table:
    """A table with columns of text, then columns of numbers."""
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name in names:
        table.add_column(name, no_wrap=True)
    for name in numbers:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def show_results(results: Results) -> None:
    """What each agent lost in each world, the least in bold."""
    table = new_table(
        f"{results.study.title} ({counted(len(results.study.numbers), 'seed')})",
        "world",
        "agent",
        numbers=("lost", f"{LEVEL:.0%} interval", "at the end", "growth"),
    )
    one_seed = False
    for world in results.study.worlds:
        cells = {a: results.cell(world, a) for a in results.study.agents}
        there = {a: c for a, c in cells.items() if c is not None}
        least = min((c.estimates["average"].value for c in there.values()), default=math.nan)
        mdp = results.study.worlds[world].mdp
        for agent, cell in there.items():
            e = cell.estimates
            style = "bold" if e["average"].value == least and len(there) > 1 else ""
            one_seed |= len(cell.seeds) == 1
            table.add_row(
                world if agent == next(iter(there)) else "",
                agent,
                percent(e["average"].value),
                interval(e["average"]),
                percent(e["final"].value),
                growth(e["slope"]),
                style=style,
            )
        if there:
            uniform = mdp.suboptimality(mdp.uniform_policy) / (mdp.optimal().value or 1.0)
            table.add_row("", "[dim]uniform play", f"[dim]{percent(uniform)}", "", "", "")
            table.add_section()
    console = a_console()
    console.print(table)
    console.print(
        "lost: by how much the policies played fall short of the optimum, by exact values;\n"
        "at the end: over the last tenth of the episodes; growth: the power of K by which\n"
        "regret grows over the last decade (1: it never learns; 1/2: the theory; 0: it has learnt)"
        + ("\none seed: no interval" if one_seed else ""),
        highlight=False,
    )


def show_failures(results: Results) -> None:
    """Which runs failed, and why, on the error output."""
    for run, message in results.failures.items():
        print(f"failed: {run.agent} in {run.world}, seed {run.index}: {message}", file=sys.stderr)
        print(f"        {results.folder.of(run).path / 'failure.json'}", file=sys.stderr)


def counted(n: int, thing: str) -> str:
    """So many things.

    Examples
    --------
    >>> counted(1, "seed"), counted(5, "seed")
    ('1 seed', '5 seeds')
    """
    return f"{n} {thing}" if n == 1 else f"{n} {thing}s"


def percent(share: float) -> str:
    """A share in percent.

    Examples
    --------
    >>> percent(0.12345), percent(-1e-17)
    ('12.3%', '0.0%')
    """
    return f"{share + 0.0:.1%}".replace("-0.0%", "0.0%")


def growth(e: Estimate) -> str:
    """A slope, or a dash where there is none."""
    return "-" if math.isnan(e.value) else f"{e.value:.2f}".replace("-0.00", "0.00")


def interval(e: Estimate) -> str:
    """The interval of a share."""
    if math.isnan(e.low):
        return "-"
    return f"{percent(e.low)} - {percent(e.high)}"
