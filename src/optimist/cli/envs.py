"""``optimist envs``: list the worlds with their optimal values."""

import inspect
import time
from typing import Any

from optimist.cli import OK
from optimist.cli.flags import Envs
from optimist.cli.studies import print_json
from optimist.cli.tables import a_console, new_table
from optimist.envs import Gym, RiverSwim, World
from optimist.experiments.worlds import KINDS
from optimist.mdp.optimum import find_optimum
from optimist.parameters import to_plain


def main(given: Envs) -> int:
    solved(RiverSwim())  # so that no measured time includes loading LAPACK
    kinds = {name: KINDS.find(name) for name in KINDS.names if name != Gym.__name__}
    found = [{"world": name, **solved(kind())} for name, kind in kinds.items()]
    if given.json:
        print_json(found)
        return OK
    table = new_table(
        "Worlds, solved exactly",
        "world",
        numbers=("states", "actions", "d", "gamma", "optimal", "uniform", "solved in"),
    )
    for w in found:
        table.add_row(
            w["world"],
            f"{w['states']:,}",
            str(w["actions"]),
            f"{w['dimension']:,}",
            f"{w['gamma']:g}",
            f"{w['optimal']:.4f}",
            f"{w['uniform']:.4f}",
            f"{w['milliseconds']:.1f} ms",
        )
    worst = max(w["certificate"] for w in found)
    console = a_console()
    console.print(table)
    console.print(
        "optimal, uniform: values of these policies at the start, rewards in [0, 1]\n"
        f"certified: each value is exact to {worst:.0e} of the largest of its world\n"
        "d: dimension of the features"
    )
    return OK


def solved(world: World) -> dict[str, Any]:
    """A world and its exact solution, as plain data."""
    mdp = world.mdp
    begin = time.perf_counter()
    best = find_optimum(mdp.dynamics, mdp.r, mdp.nu0)
    seconds = time.perf_counter() - begin
    return {
        "summary": (inspect.getdoc(world) or "").partition("\n")[0],
        "parameters": to_plain(world),
        "states": mdp.n_states,
        "actions": mdp.n_actions,
        "dimension": world.features.dim,
        "gamma": mdp.gamma,
        "optimal": best.value,
        "uniform": float(mdp.value(mdp.uniform_policy)),
        "certificate": best.residual * mdp.horizon / best.V.max(),
        "milliseconds": 1000 * seconds,
    }
