"""What figures and the report show of a study, as plain data: texts, numbers and lists."""

import math
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

import optimist
from optimist.checks import FloatArray, IntArray
from optimist.experiments import statistics
from optimist.experiments.parameters import to_plain
from optimist.experiments.snapshots import can_be_drawn
from optimist.experiments.specification import agent_name
from optimist.experiments.statistics import Estimate

if TYPE_CHECKING:
    from optimist.experiments.results import Cell, Results

POINTS = 60
"""Curves are shown at so many points spaced evenly, and as many in the logarithm."""

DIGITS = 5
"""Significant digits of the numbers on a page."""

ROUNDING = 1e-12
"""Differences of exact occupancies below this are rounding errors, and none."""


def summary(results: "Results") -> dict[str, Any]:
    """The data of a report."""
    study = results.study
    return {
        "title": study.title,
        "description": study.description,
        "version": optimist.__version__,
        "created": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "level": statistics.LEVEL,
        "draws": statistics.DRAWS,
        "specification": study.text,
        "environment": _joined(results.environments),
        "agents": [
            {"name": name, "detail": _detail(agent_name(config), to_plain(config))}
            for name, config in study.configurations.items()
        ],
        "failures": [
            {"world": r.world, "agent": r.agent, "seed": r.index, "message": message}
            for r, message in results.failures.items()
        ],
        "unfinished": results.unfinished,
        "worlds": [_world(results, name) for name in study.worlds],
    }


def _world(results: "Results", name: str) -> dict[str, Any]:
    study = results.study
    world = study.worlds[name]
    mdp = world.mdp
    cells = {agent: results.cell(name, agent) for agent in study.agents}
    there = {agent: cell for agent, cell in cells.items() if cell is not None}
    return {
        "name": name,
        "detail": _detail(type(world).__name__, to_plain(world)),
        "states": mdp.n_states,
        "actions": mdp.n_actions,
        "episodes": study.lengths[name],
        "seeds": max((len(cell.seeds) for cell in there.values()), default=0),
        "optimal": _number(mdp.optimal().value),
        "uniform": _number(float(mdp.value(mdp.uniform_policy))),
        "rows": [
            {"agent": agent, **{k: _estimate(e) for k, e in cell.estimates.items()}}
            for agent, cell in there.items()
        ],
        "curves": {agent: _curves(cell) for agent, cell in there.items()},
        "improvement": [
            [
                _estimate(results.improvement(name, agent, other)) if agent != other else None
                for other in there
            ]
            for agent in there
        ],
        "picture": _picture(results, name) if can_be_drawn(world) and there else None,
    }


def _curves(cell: "Cell") -> dict[str, Any]:
    at = shown_points(cell.episode)
    regret, lost = cell.regret[:, at], cell.suboptimality[:, at]
    rng = np.random.default_rng(0)
    iqm = statistics.iqm_band(lost, rng)
    curves = {
        "episode": cell.episode[at].tolist(),
        "regret": _band(statistics.mean_band(regret, rng)),
        "suboptimality": {
            **_band(statistics.mean_band(lost, rng)),
            "iqm": _numbers(iqm.value),
            "iqm_low": _numbers(iqm.low),
            "iqm_high": _numbers(iqm.high),
        },
        "seeds": {"regret": _rows(regret), "suboptimality": _rows(lost)},
    }
    for name in ("matching_error", "average_matching_error"):
        error = getattr(cell, name)
        if error is not None:
            curves[name] = _band(statistics.mean_band(error[:, at], rng))
            curves["seeds"][name] = _rows(error[:, at])
    return curves


def shown_points(episode: IntArray) -> IntArray:
    """The indices of the points that are shown of a curve.

    Examples
    --------
    >>> len(shown_points(np.arange(1, 10_001)))
    112
    """
    last = len(episode) - 1
    even = np.linspace(0, last, POINTS).round()
    early = np.searchsorted(episode, np.geomspace(episode[0], episode[-1], POINTS))
    return np.union1d(even, np.minimum(early, last)).astype(np.int64)


def _picture(results: "Results", name: str) -> dict[str, Any]:
    """What the first seed of each agent believed on the way.

    The optimum is the expert of those who imitate one: theirs are the differences from it.
    """
    world = results.study.worlds[name]
    mdp, best = world.mdp, world.mdp.optimal()
    expert = mdp.state_occupancy(best.policy)
    first = {r.agent: r for r in reversed(results.finished) if r.world == name}
    runs = []
    for agent in results.study.agents:
        if agent not in first:
            continue
        shots = results.folder.of(first[agent]).snapshots
        occupancy = mdp.state_occupancy(shots.policy)
        cell = results.cell(name, agent)
        imitates = cell is not None and cell.matching_error is not None
        more = occupancy - expert
        more[np.abs(more) < ROUNDING] = 0.0
        runs.append(
            {
                "agent": agent,
                "seed": first[agent].index,
                "episodes": shots.episodes.tolist(),
                "value": _rows(shots.value),
                "bonus": _rows(shots.bonus.mean(axis=2)),
                "ascension": _rows(shots.ascension.mean(axis=2)),
                "occupancy": _rows(occupancy),
                "difference": _rows(more) if imitates else None,
                "policy": [_rows(policy) for policy in shots.policy],
            }
        )
    return {
        "board": list(world.board),
        "cells": [list(world.position(x)) for x in range(mdp.n_states)],
        "moves": world.moves and [list(move) for move in world.moves],
        "optimal": {
            "value": _numbers(best.V),
            "occupancy": _numbers(expert),
            "policy": _rows(best.policy),
        },
        "runs": runs,
    }


def _band(band: statistics.Band) -> dict[str, Any]:
    return {"mean": _numbers(band.value), "low": _numbers(band.low), "high": _numbers(band.high)}


def _estimate(e: Estimate | None) -> dict[str, Any] | None:
    if e is None:
        return None
    numbers = {"value": _number(e.value), "low": _number(e.low), "high": _number(e.high)}
    return {**numbers, "note": e.note}


def _detail(kind: str, parameters: dict[str, Any]) -> str:
    """A thing and its parameters in one line."""
    shown = []
    for name, value in parameters.items():
        if isinstance(value, dict):
            value = f"({_detail(value['kind'], {k: v for k, v in value.items() if k != 'kind'})})"
        elif isinstance(value, float):
            value = f"{value:g}"
        elif isinstance(value, str) and "\n" in value:
            continue  # a map is shown as a picture
        shown.append(f"{name} {value}")
    return f"{kind}: {', '.join(shown)}" if shown else kind


def _joined(environments: list[dict[str, str]]) -> dict[str, str]:
    """What the runs ran on, each name once, with all its values."""
    names = dict.fromkeys(name for e in environments for name in e)
    return {n: ", ".join(dict.fromkeys(e[n] for e in environments if n in e)) for n in names}


def _rows(array: FloatArray) -> list[list[float | None]]:
    return [_numbers(row) for row in array]


def _numbers(array: FloatArray) -> list[float | None]:
    return [_number(float(x)) for x in array]


def _number(x: float) -> float | None:
    """A number to a few digits; None if it is none."""
    return float(f"{x:.{DIGITS}g}") if math.isfinite(x) else None
