"""``optimist compare``: the probability that one agent does better than another."""

from pathlib import Path
from typing import Any

import numpy as np

from optimist.cli import OK, SOME_FAILED
from optimist.cli.flags import Compare
from optimist.cli.studies import print_json
from optimist.cli.tables import a_console, compact, interval, new_table, percent
from optimist.errors import StudyError
from optimist.experiments import Results, open_results
from optimist.experiments.cells import Cell
from optimist.experiments.statistics import probability_of_improvement
from optimist.experiments.worlds import StudyWorld
from optimist.text import printable

Place = tuple[StudyWorld, int]
"""A world and a number of episodes; only runs with the same are compared."""


def main(given: Compare) -> int:
    studies = {
        folder: open_results(folder, given.imports) for folder in (given.folder, *given.more)
    }
    places = collect(studies)
    if not places:
        raise StudyError("no run has finished in " + ", ".join(str(f) for f in studies))
    code = SOME_FAILED if any(results.damaged for results in studies.values()) else OK
    found = [
        {"world": name, "agents": list(cells), "pairs": pairs(cells)}
        for name, cells in places.values()
    ]
    if given.json:
        print_json(found)
        return code
    for name, cells in places.values():
        show(name, cells)
    return code


def collect(studies: dict[Path, Results]) -> dict[Place, tuple[str, dict[str, Cell]]]:
    """The name of each place and its agents, labelled with their folder if there are several."""
    places: dict[Place, tuple[str, dict[str, Cell]]] = {}
    for folder, results in studies.items():
        for world in results.study.worlds:
            place = results.study.worlds[world], results.study.lengths[world]
            name, cells = places.get(place, (world, {}))
            for agent in results.study.agents:
                cell = results.cell(world, agent)
                if cell is not None:
                    cells[agent if len(studies) == 1 else f"{agent} ({printable(folder)})"] = cell
            if cells:
                places[place] = name, cells
    return places


def pairs(cells: dict[str, Cell]) -> list[dict[str, Any]]:
    """The probability of improvement of every ordered pair of agents."""
    return [
        {"agent": a, "over": b, **vars(_improvement(cells[a], cells[b]))}
        for a in cells
        for b in cells
        if a != b
    ]


def show(name: str, cells: dict[str, Cell]) -> None:
    """Print the comparison in one world."""
    by_returns = next(iter(cells.values())).track.labels.higher
    measured = "return" if by_returns else "lost"
    table = new_table(name, "agent", numbers=(measured, *(f"better than {b}" for b in cells)))
    for a, cell in cells.items():
        chances = []
        for b, other in cells.items():
            p = _improvement(cell, other)
            chances.append("" if a == b else f"{percent(p.value)} ({interval(p)})")
        e = cell.estimates
        shown = compact(e["mean_return"].value) if by_returns else percent(e["average"].value)
        table.add_row(a, shown, *chances)
    a_console().print(table)


def _improvement(cell: Cell, other: Cell) -> Any:
    return probability_of_improvement(cell.losses, other.losses, np.random.default_rng(0))
