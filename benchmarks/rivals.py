"""All imitators of Appendix C on the same experts: ``python -m benchmarks.rivals [FOLDER]``.

The gap <nu0, V^{pi_E} - V^{pi}> of the policy that the theorem of each learner is about, over the
expert's trajectories tau_E, the episodes K and the horizon H, with default parameters. Finished
runs are kept in FOLDER/rivals.csv, one a row, and are not made again. ``--seeds 2 --quick`` takes a
minute, the whole hours; ``--speed`` prints how long a run of each learner takes instead.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.imitation import header, row, spread
from benchmarks.rival_runs import LINES, ONE_VIEW, WORLDS, Cell, Found, run, run_all, world_of
from optimist.checks import FloatArray
from optimist.experiments.statistics import DRAWS, LEVEL
from optimist.imitation import IMITATORS
from optimist.theory import imitation as theory
from optimist.theory.literature import TABLE, Problem, Row

ROUNDING = 1e-5
"""Gaps below this share of V_E - V_uniform are those of a solver of linear programmes."""

MORE = 10
"""The larger tau_E, the less the actions of LowerTauE differ, and the more episodes that takes."""

SPAN = 30
"""Slopes are fitted to the points within this factor of the last."""


@dataclass(frozen=True)
class Sizes:
    """The points of the axes, and what is fixed on the others; LowerTauE has MORE times K."""

    taus: tuple[int, ...] = (1, 3, 10, 30, 100, 300, 1000, 3000)
    lengths: tuple[int, ...] = (30, 100, 300, 1000, 3000, 10000, 30000)
    horizons: tuple[int, ...] = (5, 10, 20, 50, 100)
    tau_E: int = 100
    tau_K: int = 3000  # tau_E while K changes, for data to be no limit; LowerTauE has tau_E
    K: int = 3000
    H: int = 10


QUICK = Sizes((3, 10, 30), (30, 100, 300), (5, 10), tau_E=30, tau_K=300, K=100)


class Power(NamedTuple):
    """Of a cost n = H^a / eps^b: eps is (H^a / n)^{1 / b}."""

    of_n: float
    of_H: float


def powers(cost: Any) -> Power:
    """The powers of a cost of Appendix C, which is a product of powers."""
    one, more = Problem(epsilon=1.0, H=1.0), math.e
    b = math.log(cost(replace(one, epsilon=1 / more)) / cost(one))
    return Power(-1 / b, math.log(cost(replace(one, H=more)) / cost(one)) / b)


# Of the two rows of BehaviouralCloning the later is the tabular one, for deterministic experts.
ROWS: dict[str, Row] = {entry.learner: entry for entry in TABLE}


def predicted(axis: str, learner: str) -> str:
    """The power of the gap that the table of Appendix C says."""
    entry = ROWS[learner]
    expert, mdp = powers(entry.expert), None if entry.mdp is None else powers(entry.mdp)
    if axis == "tau_E":
        return f"{expert.of_n:.3g}"
    if axis == "K":
        return "0" if mdp is None else f"{mdp.of_n:.3g}"
    return f"{expert.of_H:.3g}" + ("" if mdp is None else f", {mdp.of_H:.3g}")


def slope(x: Sequence[int], gaps: FloatArray) -> str:
    """The least-squares slope of the log mean gap [points, seeds] in log x, with its interval."""
    x_late = np.log(x)
    late = x_late >= x_late[-1] - math.log(SPAN)
    points, n = gaps[late], gaps.shape[1]
    if (points.mean(axis=1) <= 0).any() or late.sum() < 2:
        return "-"
    rng, centred = np.random.default_rng(0), x_late[late] - x_late[late].mean()
    drawn = np.stack([p[rng.integers(n, size=(DRAWS, n))].mean(axis=1) for p in points])
    means = np.column_stack([points.mean(axis=1), drawn])
    means = means[:, (means > 0).all(axis=0)]
    slopes = centred @ np.log(means) / (centred @ centred)
    low, high = np.quantile(slopes[1:], [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    if n == 1 or means.shape[1] <= DRAWS:  # some resamples have no gap
        return f"{slopes[0]:z.2f}"
    return f"{slopes[0]:z.2f} [{low:z.2f}, {high:z.2f}]"


def cells_of(axis: str, world: str, sizes: Sizes, seeds: int) -> dict[tuple[str, str], list[Any]]:
    """The cells of each line of a table, [points][seeds]."""
    found: dict[tuple[str, str], list[Any]] = {}
    for name, view in LINES:
        tau_E = sizes.tau_K if axis == "K" else sizes.tau_E
        base = Cell(world, name, view, tau_E, sizes.K, sizes.H, 0)
        points = [at(base, axis, x) for x in axes(sizes)[axis]]
        if not IMITATORS[name].plays:
            points = [replace(point, K=0) for point in points]
        found[name, view] = [[replace(p, seed=i) for i in range(seeds)] for p in points]
    return found


def in_world(sizes: Sizes, world: str) -> Sizes:
    """The sizes that a world has."""
    if world == "LowerTauE":
        return replace(sizes, K=MORE * sizes.K, tau_K=sizes.tau_E)
    return sizes


def at(cell: Cell, axis: str, x: int) -> Cell:
    """The same cell at a point of an axis."""
    changed: Any = {axis: x}
    return replace(cell, **changed)


def axes(sizes: Sizes) -> dict[str, tuple[int, ...]]:
    """The points of each axis."""
    return {"tau_E": sizes.taus, "K": sizes.lengths, "H": sizes.horizons}


def show(axis: str, world: str, sizes: Sizes, seeds: int, found: dict[Cell, Found]) -> None:
    """The table of an axis in a world."""
    points = axes(sizes)[axis]
    other = {"tau_E": sizes.tau_K if axis == "K" else sizes.tau_E, "K": sizes.K, "H": sizes.H}
    fixed = ", ".join(f"{name} = {x:,}" for name, x in other.items() if name != axis)
    print(f"\n### {world}: gap / (V_E - V_uniform) over {axis}; {fixed}; {seeds} seeds\n")
    cells = [f"{axis} = {x:,}" for x in points]
    header("learner", "view", *cells, f"power of {axis} in the gap", "predicted", "steps")
    for (name, view), line in cells_of(axis, world, sizes, seeds).items():
        runs = [[found[cell] for cell in point] for point in line]
        share = np.array([[r.gap / r.scale for r in point] for point in runs])
        share[np.abs(share) < ROUNDING] = 0
        gaps = share * np.array([[r.scale for r in point] for point in runs])
        fitted = "-" if axis == "K" and not IMITATORS[name].plays else slope(points, gaps)
        steps = np.mean([r.steps for r in runs[-1]])
        row(name, view, *map(spread, share), fitted, predicted(axis, name), f"{steps:,.0f}")
    if world == "LowerTauE" and axis != "K":
        row("Lower bound", "last", *(least(axis, x, sizes) for x in points), "", "", "")


def least(axis: str, x: int, sizes: Sizes) -> str:
    """The lower bound on the gap without actions, as the runs have it."""
    cell = at(Cell("LowerTauE", "", "", sizes.tau_E, 0, sizes.H, 0), axis, x)
    pair = [world_of(replace(cell, seed=i)).mdp for i in (0, 1)]
    bound = theory.lower_bound_tau_E(cell.tau_E, pair[0].gamma)
    scale = np.mean([mdp.optimal().value - mdp.value(mdp.uniform_policy) for mdp in pair])
    return f"{bound / scale:.3g}"


def tables(sizes: Sizes, seeds: int, file: Path | None, jobs: int) -> None:
    """Make the runs and print all tables."""
    panels = [(axis, world, in_world(sizes, world)) for axis in axes(sizes) for world in WORLDS]
    lines = [line for panel in panels for line in cells_of(*panel, seeds).values()]
    found = run_all((cell for line in lines for point in line for cell in point), file, jobs)
    for panel in panels:
        show(*panel, seeds, found)
    print(
        "\nIntervals are of the mean over the seeds, by the bootstrap. A power is the slope of the "
        "logarithm of the mean gap, not of its share, by least squares over the points within a "
        f"factor of {SPAN} of the last: - if a mean there is 0, without interval if that of some "
        "resample is. What is predicted follows from Appendix C: over H first for few expert data, "
        "then for few episodes. Steps are those of a run at the last point, all roll-ins counted. "
        "The hard ResetCliff is the hardest for tau_E pairs, and the pair of LowerTauE the hardest "
        "for tau_E states, at every point anew."
    )


def speed(K: int = 1000, tau_E: int = 100) -> None:
    """The time of a run in the 5 x 5 grid, with what is compiled at hand."""
    print(f"\n### A run in the 5 x 5 grid, K = {K:,}, tau_E = {tau_E}, on one thread\n")
    times = {}
    for name in reversed(IMITATORS):  # FraIL is the last
        view = ONE_VIEW.get(name, "whole")
        cell = Cell("GridWorld", name, view, tau_E, K if IMITATORS[name].plays else 0, 10, seed=0)
        run(cell)  # compiles
        times[name] = min(run(cell)[1].seconds for _ in range(3))
    header("learner", "seconds", "times FraIL")
    for name in IMITATORS:
        row(name, f"{times[name]:.3f}", f"{times[name] / times['FraIL']:.2f}")


def main() -> None:
    """Make the runs that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--quick", action="store_true", help="few points, and few episodes")
    parser.add_argument("--jobs", type=int, default=-1, help="processes; all cores by default")
    parser.add_argument("--speed", action="store_true", help="how long a run takes, instead")
    for field, value in asdict(Sizes()).items():
        many: Any = {"nargs": "+"} if isinstance(value, tuple) else {}
        parser.add_argument(f"--{field}", type=int, **many)
    given = parser.parse_args()
    if given.speed:
        speed()
        return
    told = {n: getattr(given, n) for n in asdict(Sizes()) if getattr(given, n) is not None}
    told = {n: tuple(x) if isinstance(x, list) else x for n, x in told.items()}
    sizes = replace(QUICK if given.quick else Sizes(), **told)
    tables(sizes, given.seeds, given.folder and given.folder / "rivals.csv", given.jobs)


if __name__ == "__main__":
    main()
