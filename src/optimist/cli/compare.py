"""``optimist compare``: the probability that one agent does better than another."""

from pathlib import Path

import numpy as np

from optimist.cli import OK, SOME_FAILED
from optimist.cli.flags import Compare
from optimist.cli.parts import import_modules
from optimist.cli.studies import print_json
from optimist.cli.tables import (
    a_console,
    agent_tables,
    compact,
    interval,
    new_table,
    percent,
    show_agents,
)
from optimist.errors import StudyError
from optimist.experiments import Results, open_results
from optimist.experiments.cells import Cell
from optimist.experiments.specification import Unit
from optimist.experiments.statistics import Estimate, probability_of_improvement
from optimist.experiments.worlds import StudyWorld
from optimist.parameters import Plain
from optimist.text import printable

Place = tuple[StudyWorld, Unit, int]
"""A world and a number of episodes or of steps; only runs with the same are compared."""

Pairs = dict[tuple[str, str], Estimate]
"""The probability that the first of two agents is better than the second."""


def main(given: Compare) -> int:
    import_modules(given.imports)
    studies = {folder: open_results(folder) for folder in (given.folder, *given.more)}
    places, agents = collect(studies)
    if not places:
        raise StudyError("no run has finished in " + ", ".join(str(f) for f in studies))
    code = SOME_FAILED if any(results.damaged for results in studies.values()) else OK
    found = [(name, cells, improvements(cells)) for name, cells in places.values()]
    if given.json:
        print_json(
            [
                {
                    "world": name,
                    "agents": {agent: agents[agent] for agent in cells},
                    "pairs": [{"agent": a, "over": b, **vars(p)} for (a, b), p in pairs.items()],
                }
                for name, cells, pairs in found
            ]
        )
        return code
    for name, cells, pairs in found:
        show(name, cells, pairs)
    show_agents(agents)
    return code


def collect(
    studies: dict[Path, Results],
) -> tuple[dict[Place, tuple[str, dict[str, Cell]]], dict[str, Plain]]:
    """The name and the cells of each place, and the parameters of all agents.

    If there are several studies, agents are labelled with their folder.
    """
    places: dict[Place, tuple[str, dict[str, Cell]]] = {}
    agents: dict[str, Plain] = {}
    for folder, results in studies.items():
        where = "" if len(studies) == 1 else f" ({printable(folder)})"
        agents |= {f"{a}{where}": table for a, table in agent_tables(results).items()}
        for world in results.study.worlds:
            study = results.study
            place = study.worlds[world], study.unit, study.lengths[world]
            name, cells = places.get(place, (world, {}))
            for agent in results.study.agents:
                cell = results.cell(world, agent)
                if cell is not None:
                    cells[f"{agent}{where}"] = cell
            if cells:
                places[place] = name, cells
    return places, agents


def improvements(cells: dict[str, Cell]) -> Pairs:
    """The probability of improvement of every ordered pair of agents."""
    return {
        (a, b): probability_of_improvement(one.losses, other.losses, np.random.default_rng(0))
        for a, one in cells.items()
        for b, other in cells.items()
        if a != b
    }


def show(name: str, cells: dict[str, Cell], pairs: Pairs) -> None:
    """Print the comparison in one world."""
    by_returns = next(iter(cells.values())).track.labels.higher
    measured = "return" if by_returns else "lost"
    table = new_table(name, "agent", numbers=(measured, *(f"better than {b}" for b in cells)))
    for a, cell in cells.items():
        shown = ["" if a == b else chance(pairs[a, b]) for b in cells]
        e = cell.estimates
        mean = compact(e["mean_return"].value) if by_returns else percent(e["average"].value)
        table.add_row(a, mean, *shown)
    a_console().print(table)


def chance(p: Estimate) -> str:
    """Format a probability with its interval."""
    return f"{percent(p.value)} ({interval(p)})"
