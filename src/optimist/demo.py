"""The demonstration, ``python -m optimist.demo``: every shipped world, solved exactly."""

import time

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from optimist import envs
from optimist.envs import World
from optimist.mdp.optimum import Optimum, find_optimum

OPEN_FIELD = "\n".join(["S" + "." * 99] + ["." * 100] * 98 + ["." * 99 + "G"])


def worlds() -> list[tuple[str, World]]:
    """Every shipped world in its default size, then some larger ones, each with a name."""
    shipped = [(name, world()) for name, world in envs.WORLDS.items()]
    larger = [
        ("RiverSwim 20", envs.RiverSwim(20)),
        ("DeepSea 30", envs.DeepSea(30)),
        ("GridWorld 100x100", envs.GridWorld(OPEN_FIELD, gamma=0.99)),
    ]
    return shipped + larger


def solve(world: World) -> tuple[Optimum, float]:
    """The optimum of a world, and the milliseconds that it took to find."""
    mdp = world.mdp
    begin = time.perf_counter()
    best = find_optimum(mdp.dynamics, mdp.r, mdp.nu0)
    return best, 1000 * (time.perf_counter() - begin)


def main() -> None:
    """Print the table."""
    solve(envs.RiverSwim())  # the first solve also pays for loading LAPACK
    table = Table(title="The worlds of optimist, solved exactly", box=SIMPLE, padding=0)
    table.add_column("world", no_wrap=True)
    for heading in ("states", "actions", "d", "gamma", "optimal", "uniform", "solved in"):
        table.add_column(heading, justify="right", no_wrap=True)
    worst = 0.0
    for name, world in worlds():
        mdp = world.mdp
        best, milliseconds = solve(world)
        worst = max(worst, best.residual * mdp.horizon / best.V.max())
        table.add_row(
            name,
            f"{mdp.n_states:,}",
            str(mdp.n_actions),
            f"{world.features.dim:,}",
            f"{mdp.gamma:g}",
            f"{best.value:.4f}",
            f"{mdp.value(mdp.uniform_policy):.4f}",
            f"{milliseconds:,.1f} ms",
        )
    console = Console()
    console.print(table)
    console.print(
        "optimal, uniform: expected discounted reward from the start, rewards in [0, 1]\n"
        f"certified: no value is off by more than {worst:.0e} of the largest in its world\n"
        "d: the dimension of the features in which the world is linear"
    )


if __name__ == "__main__":
    main()
