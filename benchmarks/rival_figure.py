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
    # those that see pairs
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

COLUMNS = {
    "sees pairs": ("BehaviouralCloning", "LinearCloning", "MimicMD", "Oal", "MbTail"),
    "sees states": ("ForwardAIL", "Mobile", PEER),
    "sees features of states": ("OgaIL", "Ilarl", "FraIL"),
}
"""The columns of the legend; a last one has what else is drawn."""

GREY = "#666666"
LAST: dict[str, Any] = {"ls": ":", "mfc": "white", "lw": 0.6, "ms": 3.2, "mew": 0.7, "alpha": 0.75}
GUIDE: dict[str, Any] = {"color": "#888888", "lw": 0.6}
CLOSED: dict[str, Any] = {"color": "#555555", "lw": 2.4, "alpha": 0.4}
BOUND: dict[str, Any] = {"color": "black", "lw": 1.6}
"""Lines of the view "last", of slopes, and of what is known in closed form."""

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
        for ax_row, world in zip(all_axes, WORLDS, strict=True):
            own = sizes.in_world(world)
            for ax, axis in zip(ax_row, AXES, strict=True):
                for drawn in lines[axis, world]:
                    draw(ax, drawn)
                if axis == "tau_E":
                    draw_peer(ax, world, own, found)
                draw_theory(ax, axis, world, own)
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
        legend(fig)
        fig.savefig(file, dpi=200)


def legend(fig: Any) -> None:
    """What each line is, in columns by what a learner sees, and a last one of all else."""
    from matplotlib.lines import Line2D

    titles = (*COLUMNS, "lines")
    columns: list[list[tuple[str, dict[str, Any]]]] = [
        [(LOOKS[name][0], look(name)) for name in names] for names in COLUMNS.values()
    ]
    columns.append([
        ("P is known", {"color": GREY, "ls": "--", "lw": 1.1}),
        ('view "last"', {"color": GREY, "marker": "o", **LAST}),
        ("slope by the table", GUIDE),
        ("cloning, closed form", CLOSED),
        ("bound for $\\tau_E$ states", BOUND),
    ])  # fmt: skip
    depth, nothing = max(map(len, columns)), ("", {"ls": ""})
    entries = [
        entry
        for title, column in zip(titles, columns, strict=True)
        for entry in [(title, {"ls": ""}), *column, *[nothing] * (depth - len(column))]
    ]
    drawn = fig.legend(
        [Line2D([], [], **how) for _, how in entries], [label for label, _ in entries],
        loc="outside upper center", ncols=len(columns),
    )  # fmt: skip
    for text in drawn.get_texts():
        if text.get_text() in titles:
            text.set_fontweight("bold")


def look(learner: str) -> dict[str, Any]:
    """How a line is drawn."""
    _, colour, marker, dashes = LOOKS[learner]
    return {"color": colour, "marker": marker, "ls": dashes, "lw": 1.1, "ms": 3.2, "mew": 0.7}


def draw(ax: Any, drawn: Line) -> None:
    """The mean of a line; dotted and hollow if it is of the view "last"."""
    style, thin = look(drawn.learner), drawn.view == "last"
    colour = style["color"]
    mean = np.maximum(drawn.shares.mean(axis=1), FLOOR)
    if not thin:
        low, high = np.maximum([(e.low, e.high) for e in map(spread, drawn.shares)], FLOOR).T
        ax.fill_between(drawn.x, low, high, color=colour, alpha=0.12, lw=0)
    ax.plot(drawn.x, mean, clip_on=False, zorder=2 if thin else 3, **style | (LAST if thin else {}))


def draw_peer(ax: Any, world: str, sizes: Sizes, found: Mapping[Cell, Found]) -> None:
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
    if points:
        ax.plot(*zip(*points, strict=True), **look(PEER))


def draw_theory(ax: Any, axis: Axis, world: str, sizes: Sizes) -> None:
    """The closed form of cloning on the cliff, and the lower bound of LowerTauE."""
    x = sizes.points(axis)
    if world == "LowerTauE" and axis != "K":
        ax.plot(x, [bound_tau_E(axis, p, sizes) for p in x], **BOUND)
    if world == "hard ResetCliff" and axis != "K":
        ax.plot(x, [cloning_on_the_cliff(axis, p, sizes) for p in x], **CLOSED)


def guides(ax: Any, axis: Axis) -> None:
    """Thin lines of the slopes that the theory predicts, in a corner of the panel."""
    first, last, slopes = GUIDES[axis]
    x = np.array([first, last], dtype=float)
    for power, label in slopes:
        start = (
            2 * FLOOR if power > 0 else 1.5 * FLOOR * (last / first) ** -min(p for p, _ in slopes)
        )
        y = start * (x / first) ** power
        ax.plot(x, y, zorder=1, **GUIDE)
        ax.annotate(label, (x[1], y[1]), color=GREY, fontsize=7, va="center", xytext=(2, 0),
                    textcoords="offset points", zorder=4,
                    bbox={"fc": "white", "ec": "none", "alpha": 0.7, "pad": 0.5})  # fmt: skip


def share(x: float, _: int | None = None) -> str:
    """The label of a share."""
    return f"\N{LESS-THAN OR EQUAL TO} {FLOOR:g}" if x <= FLOOR else f"{x:g}"
