"""The figure of `benchmarks.rivals`: gaps over tau_E, K and H in three worlds."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.imitation import spread
from benchmarks.rival_panels import (
    AXES,
    Line,
    Sizes,
    bound_tau_E,
    cloning_on_the_cliff,
)
from benchmarks.rival_peer import PEER
from benchmarks.rival_runs import WORLDS, Cell, Found
from optimist.theory.literature import Axis

FLOOR, TOP = 1e-3, 3.0
"""Shares of V_E - V_uniform; what is below the floor is drawn on it."""

LOOKS: dict[str, tuple[str, str, str, str]] = {
    # pairs
    "BehaviouralCloning": ("cloning", "#7fb3de", "o", "-"),
    "LinearCloning": ("linear cloning", "#7fb3de", "x", "-"),
    "MimicMD": ("Mimic-MD", "#003f6b", "s", "--"),
    "Oal": ("OAL", "#0072B2", "^", "-"),
    "MbTail": ("MB-TAIL", "#003f6b", "D", "-"),
    # states
    "ForwardAIL": ("FAIL", "#E69F00", "v", "-"),
    "Mobile": ("MobILE", "#C1440E", "P", "-"),
    PEER: ("MCE-IRL", "#C1440E", "", "--"),
    # features
    "OgaIL": ("OGAIL", "#8fd0b5", "<", "-"),
    "Ilarl": ("ILARL", "#33a478", ">", "-"),
    "FraIL": ("FRA-IL", "#00543a", "*", "-"),
}
"""Label, colour by what is seen, marker, and dashes where P is known."""

LABELS = {"tau_E": "expert trajectories $\\tau_E$", "K": "episodes $K$", "H": "horizon $H$"}

GUIDES: Mapping[Axis, tuple[float, float, Sequence[tuple[float, str]]]] = {
    "tau_E": (1, 12, ((-1, r"$\tau_E^{-1}$"), (-0.5, r"$\tau_E^{-1/2}$"))),
    "K": (30, 500, ((-0.5, "$K^{-1/2}$"), (-0.25, "$K^{-1/4}$"))),
    "H": (20, 80, ((1, "$H^2$"), (0.5, "$H^{3/2}$"))),
}
"""Where the guides begin and end, and the powers of shares that theory predicts.

V_E - V_uniform grows about as H, so that a gap as H^2 is a share as H.
"""


def figure(
    lines: Mapping[tuple[Axis, str], list[Line]],
    sizes: Sizes,
    found: Mapping[Cell, Found],
    file: Path,
) -> None:
    """Draw all panels; the peer if its runs are there."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    from optimist.display.style import WIDE, number, style

    with style(), rc_context({"text.parse_math": True, "mathtext.fontset": "stix"}):
        fig = Figure(figsize=(WIDE, 7.4), layout="constrained")
        all_axes = fig.subplots(3, 3, sharey=True, sharex="col")
        handles: dict[str, Any] = {}
        for ax_row, world in zip(all_axes, WORLDS, strict=True):
            own = sizes.in_world(world)
            for ax, axis in zip(ax_row, AXES, strict=True):
                for drawn in lines[axis, world]:
                    handle = draw(ax, drawn)
                    if drawn.view != "last":
                        handles[LOOKS[drawn.learner][0]] = handle
                if axis == "tau_E":
                    handles |= draw_peer(ax, world, own, found)
                handles |= draw_theory(ax, axis, world, own)
                guides(ax, axis)
                ax.set(xscale="log", yscale="log", ylim=(FLOOR / 1.25, TOP))
                ax.xaxis.set_major_formatter(number)
                ax.yaxis.set_major_formatter(share)
                if world == WORLDS[-1]:
                    ax.set_xlabel(LABELS[axis])
                if axis == "H":
                    ax.set_xticks(own.horizons, minor=False)
                    ax.set_xticks([], minor=True)
            ax_row[0].set_ylabel(f"{world}\ngap / $(V_E - V_\\mathrm{{uniform}})$")
        order = [name for name, *_ in LOOKS.values() if name in handles]
        order += [name for name in handles if name not in order]
        fig.legend(
            [handles[name] for name in order], order, loc="outside upper center", ncols=5,
        )  # fmt: skip
        fig.savefig(file, dpi=200)


def draw(ax: Any, drawn: Line) -> Any:
    """The mean of a line; thin and hollow if it is of the view "last"."""
    _, colour, marker, dashes = LOOKS[drawn.learner]
    thin = drawn.view == "last"
    mean = np.maximum(drawn.shares.mean(axis=1), FLOOR)
    look: dict[str, Any] = {"mfc": "white", "lw": 0.6, "alpha": 0.75} if thin else {"lw": 1.1}
    if not thin:
        low, high = np.maximum([(e.low, e.high) for e in map(spread, drawn.shares)], FLOOR).T
        ax.fill_between(drawn.x, low, high, color=colour, alpha=0.12, lw=0)
    (handle,) = ax.plot(
        drawn.x, mean, color=colour, marker=marker, ls=":" if thin else dashes, ms=3.2,
        mew=0.7, clip_on=False, zorder=2 if thin else 3, **look,
    )  # fmt: skip
    return handle


def draw_peer(ax: Any, world: str, sizes: Sizes, found: Mapping[Cell, Found]) -> dict[str, Any]:
    """MCE-IRL, where it was run."""
    points = []
    for x in sizes.taus:
        base = sizes.cell("tau_E", x, world, PEER, "whole", 0)
        runs = [
            run for cell, run in found.items()
            if (cell.world, cell.learner, cell.tau_E, cell.H) == (world, PEER, x, base.H)
        ]  # fmt: skip
        if runs:
            points.append((x, max(np.mean([run.gap / run.scale for run in runs]), FLOOR)))
    if not points:
        return {}
    label, colour, _, dashes = LOOKS[PEER]
    (handle,) = ax.plot(*zip(*points, strict=True), color=colour, ls=dashes, lw=0.9)
    return {label: handle}


def draw_theory(ax: Any, axis: Axis, world: str, sizes: Sizes) -> dict[str, Any]:
    """The closed form of cloning on the cliff, and the lower bound of LowerTauE."""
    x = sizes.points(axis)
    if world == "GridWorld" or axis == "K":
        return {}
    if world == "LowerTauE":
        bounds = [bound_tau_E(axis, p, sizes) for p in x]
        return {
            "lower bound from $\\tau_E$ states": ax.plot(x, bounds, color="black", lw=1.6, ls="-")[
                0
            ]
        }
    exact = [cloning_on_the_cliff(axis, p, sizes) for p in x]
    return {"cloning, closed form": ax.plot(x, exact, color="#555555", lw=2.4, alpha=0.4)[0]}


def guides(ax: Any, axis: Axis) -> None:
    """Thin lines of the slopes that the theory predicts, in a corner of the panel."""
    first, last, slopes = GUIDES[axis]
    x = np.array([first, last], dtype=float)
    for power, label in slopes:
        start = (
            2 * FLOOR if power > 0 else 1.5 * FLOOR * (last / first) ** -min(p for p, _ in slopes)
        )
        y = start * (x / first) ** power
        ax.plot(x, y, color="#888888", lw=0.6, zorder=1)
        ax.annotate(label, (x[1], y[1]), color="#666666", fontsize=6, va="center", xytext=(2, 0),
                    textcoords="offset points")  # fmt: skip


def share(x: float, _: int | None = None) -> str:
    """The label of a share."""
    return f"\N{LESS-THAN OR EQUAL TO} {FLOOR:g}" if x <= FLOOR else f"{x:g}"
