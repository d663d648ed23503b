"""All imitators of Appendix C on the same experts: ``python -m benchmarks.rivals [FOLDER]``.

The gap <nu0, V^{pi_E} - V^{pi}> of the policy that the theorem of each learner is about, over the
expert's trajectories tau_E, the episodes K and the horizon H, with default parameters. Finished
runs are kept in FOLDER/rivals.csv, one a row, and are not made again. ``--seeds 2 --quick`` takes a
minute, the whole less than half an hour on two idle cores. ``--figure FILE`` draws docs/rivals.png,
``--measured FILE`` writes the powers for `optimist theory`, and ``--peers PYTHON`` adds MCE-IRL
(benchmarks/peers/mce_irl.py).

``--speed``, ``--theory``, ``--cuts`` and ``--standard`` print other tables instead: how long a run
of each learner takes, what the constants of its theory do, longer trajectories of the expert, and
StandardImitation.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import tracemalloc
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import rival_theory
from benchmarks.imitation import header, row, spread
from benchmarks.rival_figure import figure
from benchmarks.rival_panels import (
    AXES,
    QUICK,
    ROWS,
    SPAN,
    Line,
    Sizes,
    bound_tau_E,
    cells_of,
    line,
    power_of,
    to_toml,
)
from benchmarks.rival_peer import add_peer
from benchmarks.rival_runs import LINES, ONE_VIEW, WORLDS, Cell, read, run, run_all
from optimist.imitation import IMITATORS
from optimist.theory.literature import Axis

Lines = dict[tuple[Axis, str], list[Line]]


def shown_power(power: tuple[float, ...]) -> str:
    """A power with its interval, if it has one."""
    if len(power) < 2:
        return f"{power[0]:z.2f}" if power else "-"
    return f"{power[0]:z.2f} [{power[1]:z.2f}, {power[2]:z.2f}]"


def show(axis: Axis, world: str, sizes: Sizes, seeds: int, lines: list[Line]) -> None:
    """The table of an axis in a world."""
    points = sizes.points(axis)
    fixed = ", ".join(f"{name} = {x:,}" for name, x in sizes.fixed(axis).items())
    print(f"\n### {world}: gap / (V_E - V_uniform) over {axis}; {fixed}; {seeds} seeds\n")
    cells = [f"{axis} = {x:,}" for x in points]
    header("learner", "view", *cells, f"power of {axis} in the gap", "predicted", "steps")
    for found in lines:
        predicted = ", ".join(f"{p:.3g}" for p in ROWS[found.learner].powers(axis)) or "0"
        row(found.learner, found.view, *map(spread, found.shares),
            shown_power(power_of(axis, found)), predicted, f"{found.steps[-1]:,.0f}")  # fmt: skip
    if world == "LowerTauE" and axis != "K":
        bounds = [f"{bound_tau_E(axis, x, sizes):.3g}" for x in points]
        row("Lower bound", "last", *bounds, "", "", "")


def show_powers(lines: Lines) -> None:
    """The measured powers beside those of the table of Appendix C."""
    for axis in AXES:
        print(f"\n### The power of {axis} in the gap\n")
        header("learner", "view", "predicted", *WORLDS)
        for i, (name, view) in enumerate(LINES):
            if axis == "K" and not IMITATORS[name].plays:
                continue
            predicted = ", ".join(f"{p:.3g}" for p in ROWS[name].powers(axis))
            found = [shown_power(power_of(axis, lines[axis, world][i])) for world in WORLDS]
            row(name, view, predicted, *found)


def show_reached(lines: Lines, sizes: Sizes, share: float = 0.1) -> None:
    """From which K on the mean gap is below a share of V_E - V_uniform, and the steps of that."""
    points = sizes.points("K")
    print(f"\n### Episodes (steps) until the gap is below {share:.0%} of V_E - V_uniform\n")
    header("learner", "view", *WORLDS)
    for i, (name, view) in enumerate(LINES):
        if not IMITATORS[name].plays:
            continue
        cells = []
        for world in WORLDS:
            found = lines["K", world][i]
            above = np.flatnonzero(found.shares.mean(axis=1) > share)
            j = 0 if not above.size else above[-1] + 1
            cells.append(f"{points[j]:,} ({found.steps[j]:,.0f})" if j < len(points) else "-")
        row(name, view, *cells)


def tables(sizes: Sizes, seeds: int, file: Path | None, jobs: int) -> Lines:
    """Make the runs that are not in the file, and print all tables."""
    panels = [(axis, world, sizes.in_world(world)) for axis in AXES for world in WORLDS]
    found = run_all((cell for panel in panels for cell in cells_of(*panel, seeds)), file, jobs)
    lines: Lines = {
        (axis, world): [line(axis, world, own, seeds, found, who) for who in LINES]
        for axis, world, own in panels
    }
    for axis, world, own in panels:
        show(axis, world, own, seeds, lines[axis, world])
    show_powers(lines)
    show_reached(lines, sizes)
    print(
        "\nIntervals are of the mean over the seeds, by the bootstrap. A power is the slope of the "
        "logarithm of the mean gap, not of its share, by least squares over the points within a "
        f"factor of {SPAN} of the last: - if a mean there is 0, without interval if that of some "
        "resample is. What is predicted follows from Appendix C: over H first for few expert data, "
        "then for few episodes. Steps are those of a run at the last point, all roll-ins counted. "
        "The hard ResetCliff is the hardest for tau_E pairs, and the pair of LowerTauE the hardest "
        "for tau_E states, at every point anew."
    )
    return lines


def speed(K: int = 1000, tau_E: int = 100) -> None:
    """The time of a run in the 5 x 5 grid, with what is compiled at hand, and its memory."""
    print(f"\n### A run in the 5 x 5 grid, K = {K:,}, tau_E = {tau_E}, on one thread\n")
    times, growth = {}, {}
    for name, kind in reversed(IMITATORS.items()):  # FraIL is the last
        view = ONE_VIEW.get(name, "whole")
        cell = Cell("GridWorld", name, view, tau_E, K if kind.plays else 0, 10, seed=0)
        run(cell)  # compiles
        times[name] = min(run(cell)[1].seconds for _ in range(5))
        longer = replace(cell, K=10 * cell.K)
        growth[name] = (peak(longer) - peak(cell)) / (9 * K) if kind.plays else 0
    header("learner", "seconds of processor time", "times FraIL", "bytes an episode")
    for name in IMITATORS:
        ratio = times[name] / times["FraIL"]
        row(name, f"{times[name]:.3f}", f"{ratio:.2f}", f"{growth[name]:.0f}")


def peak(cell: Cell) -> int:
    """The most memory that a run takes, in bytes."""
    tracemalloc.start()
    run(cell)
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found


def main() -> None:
    """Make the runs that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--quick", action="store_true", help="few points, and few episodes")
    parser.add_argument("--jobs", type=int, default=-1, help="processes; all cores by default")
    parser.add_argument("--figure", type=Path, help="the figure to draw")
    parser.add_argument("--measured", type=Path, help="the TOML file of powers to write")
    parser.add_argument("--peers", help="the Python that has imitation")
    for other in ("speed", "theory", "cuts", "standard"):
        parser.add_argument(f"--{other}", action="store_true", help="another table, instead")
    for field, value in asdict(Sizes()).items():
        many: Any = {"nargs": "+"} if isinstance(value, tuple) else {}
        parser.add_argument(f"--{field}", type=int, **many)
    given = parser.parse_args()
    if given.speed:
        speed()
    if given.theory:
        rival_theory.constants(given.seeds, given.jobs)
    if given.cuts:
        rival_theory.cuts(given.seeds, given.jobs)
    if given.standard:
        rival_theory.standard(given.seeds)
    if given.speed or given.theory or given.cuts or given.standard:
        return
    told = {n: getattr(given, n) for n in asdict(Sizes()) if getattr(given, n) is not None}
    told = {n: tuple(x) if isinstance(x, list) else x for n, x in told.items()}
    sizes = replace(QUICK if given.quick else Sizes(), **told)
    file = given.folder and given.folder / "rivals.csv"
    lines = tables(sizes, given.seeds, file, given.jobs)
    if given.peers is not None:
        add_peer(given.peers, sizes, given.seeds, file)
    if given.measured is not None:
        given.measured.write_text(to_toml(lines, given.seeds))
    if given.figure is not None:
        figure(lines, sizes, read(file), given.figure)


if __name__ == "__main__":
    main()
