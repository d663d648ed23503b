"""The demonstration, ``python -m optimist.demo``: worlds solved exactly, then learnt."""

import time

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from optimist import envs
from optimist.agents import RmaxRaviUcb
from optimist.envs import World
from optimist.mdp.optimum import Optimum, find_optimum

LESSONS = (
    ("RiverSwim", envs.RiverSwim(6), 2000),
    ("RiverSwim 20", envs.RiverSwim(20), 3000),
    ("DeepSea", envs.DeepSea(10), 2000),
    ("FourRooms", envs.FourRooms(), 2000),
    ("RandomLinear", envs.RandomLinear(), 1000),
)
"""What the demonstration learns, and for how many episodes."""

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


def show_solved(console: Console) -> None:
    """Every world and what its exact solution says."""
    solve(envs.RiverSwim())  # the first solve also pays for loading LAPACK
    table = _table("The worlds of optimist, solved exactly", "world")
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
    console.print(
        table,
        "optimal, uniform: expected discounted reward from the start, rewards in [0, 1]\n"
        f"certified: no value is off by more than {worst:.0e} of the largest in its world\n"
        "d: the dimension of the features in which the world is linear\n",
    )


def show_learnt(console: Console) -> None:
    """RMAX-RAVI-UCB with its default parameters on some of them."""
    table = _table("RMAX-RAVI-UCB, the same parameters everywhere", "world")
    for heading in ("episodes", "steps", "time", "lost", "lost at the end", "uniform"):
        table.add_column(heading, justify="right", no_wrap=True)
    for name, world, episodes in LESSONS:
        mdp = world.mdp
        agent = RmaxRaviUcb(world, seed=0)
        begin = time.perf_counter()
        history = agent.learn(episodes)
        seconds = time.perf_counter() - begin
        lost = history.regrets() / mdp.optimal().value
        uniform = mdp.suboptimality(mdp.uniform_policy) / mdp.optimal().value
        table.add_row(
            name,
            f"{episodes:,}",
            f"{history.steps.sum():,}",
            f"{seconds:.2f} s",
            f"{lost.mean():.1%}",
            f"{abs(lost[-len(lost) // 10 :].mean()):.1%}",
            f"{uniform:.0%}",
        )
    console.print(
        table,
        "lost: what the policies played fall short of the optimum, by their exact values,\n"
        "over the run and over its last tenth; uniform: what uniform play loses",
    )


def _table(title: str, first: str) -> Table:
    table = Table(title=title, box=SIMPLE, padding=0)
    table.add_column(first, no_wrap=True)
    return table


def main() -> None:
    """Print both tables."""
    console = Console()
    show_solved(console)
    with console.status("compiling the engine, once for this machine"):
        RmaxRaviUcb(envs.RiverSwim()).learn(1)
    show_learnt(console)


if __name__ == "__main__":
    main()
