"""The panels of `benchmarks.rivals`: what is run in each, and how gaps fall in it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from benchmarks.rival_runs import LINES, WORLDS, Cell, Found, world_of
from optimist.checks import FloatArray
from optimist.experiments.statistics import DRAWS, LEVEL
from optimist.imitation import IMITATORS
from optimist.theory import imitation as theory
from optimist.theory.literature import TABLE, Axis, Row

ROUNDING = 1e-5
"""Gaps below this share of V_E - V_uniform are those of a solver of linear programmes."""

MORE = 10
"""The larger tau_E, the less the actions of LowerTauE differ, and the more episodes that takes."""

SPAN = 30
"""Slopes are fitted to the points within this factor of the last."""

AXES: tuple[Axis, ...] = ("tau_E", "K", "H")

# Of the two rows of BehaviouralCloning the later is the tabular one, for deterministic experts.
ROWS: dict[str, Row] = {entry.learner: entry for entry in TABLE}


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

    def in_world(self, world: str) -> "Sizes":
        """The sizes that a world has."""
        if world == "LowerTauE":
            return replace(self, K=MORE * self.K, tau_K=self.tau_E)
        return self

    def points(self, axis: Axis) -> tuple[int, ...]:
        """The points of an axis."""
        return {"tau_E": self.taus, "K": self.lengths, "H": self.horizons}[axis]

    def fixed(self, axis: Axis) -> dict[Axis, int]:
        """What the other axes are while one changes."""
        tau_E = self.tau_K if axis == "K" else self.tau_E
        given: dict[Axis, int] = {"tau_E": tau_E, "K": self.K, "H": self.H}
        return {name: x for name, x in given.items() if name != axis}

    def cell(self, axis: Axis, x: int, world: str, learner: str, view: str, seed: int) -> Cell:
        """What is run at a point of an axis."""
        given: dict[Axis, int] = {**self.fixed(axis), axis: x}
        if learner not in IMITATORS or not IMITATORS[learner].plays:
            given["K"] = 0
        return Cell(world, learner, view, given["tau_E"], given["K"], given["H"], seed)


QUICK = Sizes((3, 10, 30), (30, 100, 300), (5, 10), tau_E=30, tau_K=300, K=100)


class Line(NamedTuple):
    """What a learner did at the points of an axis, by seed."""

    learner: str
    view: str
    x: tuple[int, ...]
    gaps: FloatArray  # [points, seeds]
    shares: FloatArray  # gap / (V_E - V_uniform), [points, seeds]
    steps: FloatArray  # [points]


def cells_of(axis: Axis, world: str, sizes: Sizes, seeds: int) -> list[Cell]:
    """All that is run in a panel."""
    return [
        sizes.cell(axis, x, world, learner, view, seed)
        for learner, view in LINES
        for x in sizes.points(axis)
        for seed in range(seeds)
    ]


def line(
    axis: Axis, world: str, sizes: Sizes, seeds: int, found: dict[Cell, Found], who: tuple[str, str]
) -> Line:
    """What was found of a learner with a view of the data."""
    x = sizes.points(axis)
    runs = [[found[sizes.cell(axis, p, world, *who, i)] for i in range(seeds)] for p in x]
    scale = np.array([[run.scale for run in point] for point in runs])
    shares = np.array([[run.gap for run in point] for point in runs]) / scale
    shares[np.abs(shares) < ROUNDING] = 0
    steps = np.array([np.mean([run.steps for run in point]) for point in runs])
    return Line(*who, x, shares * scale, shares, steps)


def fitted_slope(x: Sequence[int], gaps: FloatArray) -> tuple[float, ...]:
    """The least-squares slope of the log mean gap [points, seeds] in log x, with its interval.

    It is empty if some mean is 0 within SPAN of the last point, and has no interval if that of some
    resample is.
    """
    x_late = np.log(x)
    late = x_late >= x_late[-1] - math.log(SPAN)
    points, n = gaps[late], gaps.shape[1]
    if (points.mean(axis=1) <= 0).any() or late.sum() < 2:
        return ()
    rng, centred = np.random.default_rng(0), x_late[late] - x_late[late].mean()
    drawn = np.stack([p[rng.integers(n, size=(DRAWS, n))].mean(axis=1) for p in points])
    means = np.column_stack([points.mean(axis=1), drawn])
    means = means[:, (means > 0).all(axis=0)]
    slopes = centred @ np.log(means) / (centred @ centred)
    if n == 1 or means.shape[1] <= DRAWS:
        return (float(slopes[0]),)
    low, high = np.quantile(slopes[1:], [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return (float(slopes[0]), float(low), float(high))


def power_of(axis: Axis, found: Line) -> tuple[float, ...]:
    """The measured power of the gap; of K there is none for a learner that plays no episodes."""
    return () if axis == "K" and not IMITATORS[found.learner].plays else measured_power(found)


def measured_power(found: Line) -> tuple[float, ...]:
    """The slope of a line."""
    return fitted_slope(found.x, found.gaps)


def bound_tau_E(axis: Axis, x: int, sizes: Sizes) -> float:
    """The lower bound on the gap in LowerTauE without actions, as a share of V_E - V_uniform."""
    cell = sizes.cell(axis, x, "LowerTauE", "", "", 0)
    pair: list[Any] = [world_of(replace(cell, seed=i)).mdp for i in (0, 1)]
    bound = theory.lower_bound_tau_E(cell.tau_E, pair[0].gamma)
    scale = np.mean([mdp.optimal().value - mdp.value(mdp.uniform_policy) for mdp in pair])
    return float(bound / scale)


def cloning_on_the_cliff(axis: Axis, x: int, sizes: Sizes) -> float:
    """The closed form of what cloning tau_E pairs loses on the hard ResetCliff, as a share.

    gamma q H^2 / (1 + gamma q H) with the mean q = (1 - 1/A) sum_x rho(x) (1 - rho(x))^tau_E.
    """
    cell = sizes.cell(axis, x, "hard ResetCliff", "", "", 0)
    mdp = world_of(cell).mdp
    rho, gamma, H = mdp.nu0, mdp.gamma, cell.H
    q = (1 - 1 / mdp.n_actions) * float((rho * (1 - rho) ** cell.tau_E).sum())
    scale = mdp.optimal().value - mdp.value(mdp.uniform_policy)
    return float(gamma * q * H**2 / (1 + gamma * q * H) / scale)


def to_toml(lines: dict[tuple[Axis, str], list[Line]], seeds: int) -> str:
    """The measured powers, as `optimist.theory.literature.measured` reads them."""
    text = [
        "# How gaps fall: written by `python -m benchmarks.rivals FOLDER --measured FILE`, see",
        "# docs/rivals.md. A power with its interval; empty if there is no gap left to measure.",
        f"seeds = {seeds}",
    ]
    for learner, view in LINES:
        for axis in AXES:
            if axis == "K" and not IMITATORS[learner].plays:
                continue
            text.append(f'\n[powers.{learner}."{view}".{axis}]')
            for world in WORLDS:
                found = [f for f in lines[axis, world] if (f.learner, f.view) == (learner, view)]
                numbers = ", ".join(f"{power:.2f}" for power in measured_power(found[0]))
                text.append(f'"{world}" = [{numbers}]')
    return "\n".join(text) + "\n"
