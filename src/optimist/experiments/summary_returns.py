"""What figures and the report show of a Gymnasium environment, where no optimum is known."""

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from optimist.envs import Gym
from optimist.experiments import statistics
from optimist.experiments.cells import ReturnCell
from optimist.experiments.maps import SIDE
from optimist.experiments.parameters import to_plain
from optimist.experiments.plain import band, detail, rows, shown_points

if TYPE_CHECKING:
    from optimist.experiments.results import Results

DIGITS = 3
"""Significant digits of the numbers on a map, of which there are many."""


def of_environment(
    results: "Results", name: str, world: Gym, cells: dict[str, Any]
) -> dict[str, Any]:
    """What is shown of an environment only, by returns."""
    runs = list(results.first_runs(name).values())
    told = results.folder.of(runs[0]).result if runs else {}
    actions, plane = told.get("actions"), _plane(told.get("plane"))
    return {
        "detail": described(world),
        "returns": True,
        "states": None,
        "actions": actions if type(actions) is int else None,
        "optimal": None,
        "uniform": None,
        "curves": {agent: _curves(cell) for agent, cell in cells.items()},
        "picture": _picture(results, name, plane) if plane and cells else None,
    }


def _plane(told: Any) -> list[list[float | None]] | None:
    """The ends of both dimensions as a run has written them, if it was in a plane."""
    try:
        ends = np.array(told, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return rows(ends, DIGITS) if ends.shape == (2, 2) and np.isfinite(ends).all() else None


def described(world: Gym) -> str:
    """An environment in one line, with all that is not as it is by default.

    Examples
    --------
    >>> described(Gym("MountainCar-v0", repeat=4))
    'Gym: id MountainCar-v0, gamma 0.99, repeat 4'
    """
    usual = {field.name: field.default for field in fields(Gym)}
    told = [name for name in usual if name == "gamma" or getattr(world, name) != usual[name]]
    return detail("Gym", {name: value for name, value in to_plain(world).items() if name in told})


def _curves(cell: ReturnCell) -> dict[str, Any]:
    """Returns are noisy, so a point that is shown is the mean of all since the one before."""
    at = shown_points(cell.episode)
    sums = np.cumsum(cell.returns * np.diff(cell.episode, prepend=0), axis=1)[:, at]
    shown = np.diff(sums, prepend=0) / np.diff(cell.episode[at], prepend=0)
    return {
        "episode": cell.episode[at].tolist(),
        "return": band(statistics.mean_band(shown, np.random.default_rng(0))),
        "seeds": {"return": rows(shown)},
    }


def _picture(results: "Results", name: str, plane: list[list[float | None]]) -> dict[str, Any]:
    """What the first seed of each agent believed on the way, on a grid of observations."""
    runs = []
    for agent, run in results.first_runs(name).items():
        maps = results.shots(run)
        if maps is None:
            continue
        runs.append(
            {
                "agent": agent,
                "seed": run.index,
                "episodes": maps.episodes.tolist(),
                "value": rows(maps.value, DIGITS),
                "bonus": rows(maps.bonus, DIGITS),
                "ascension": rows(maps.ascension, DIGITS),
                "visits": rows(maps.visits, DIGITS),
                "action": maps.action.tolist(),
                "difference": None,
            }
        )
    return {
        "board": ["." * SIDE] * SIDE,
        "cells": [list(divmod(x, SIDE)) for x in range(SIDE**2)],
        "moves": None,
        "axes": plane,
        "optimal": None,
        "runs": runs,
    }
