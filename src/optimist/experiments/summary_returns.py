"""The data of a report about Gymnasium environments, where no optimum is known."""

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from optimist.envs import Gym
from optimist.experiments import statistics
from optimist.experiments.cells import ReturnCell
from optimist.experiments.maps import SIDE
from optimist.experiments.plain import band, detail, rows, shown_points
from optimist.parameters import to_plain

if TYPE_CHECKING:
    from optimist.experiments.results import Results

DIGITS = 3
"""Significant digits of the numbers of maps; few, as maps are large."""


def environment_data(
    results: "Results", name: str, world: Gym, cells: dict[str, Any]
) -> dict[str, Any]:
    """The data of a world that only Gymnasium environments have: returns and maps."""
    runs = list(results.first_runs(name).values())
    recorded = results.folder.of(runs[0]).result if runs else {}
    actions, plane = recorded.get("actions"), _plane(recorded.get("plane"))
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


def _plane(recorded: Any) -> list[list[float | None]] | None:
    """The ends of both dimensions as written by a run; None if they are not those of a plane."""
    try:
        ends = np.array(recorded, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return rows(ends, DIGITS) if ends.shape == (2, 2) and np.isfinite(ends).all() else None


def described(world: Gym) -> str:
    """An environment in one line, with gamma and all parameters that are not the default.

    Examples
    --------
    >>> described(Gym("MountainCar-v0", repeat=4))
    'Gym: id MountainCar-v0, gamma 0.99, repeat 4'
    """
    defaults = {field.name: field.default for field in fields(Gym)}
    shown = [name for name in defaults if name == "gamma" or getattr(world, name) != defaults[name]]
    return detail("Gym", {name: value for name, value in to_plain(world).items() if name in shown})


def _curves(cell: ReturnCell) -> dict[str, Any]:
    """Curves of returns; each point is the mean since the previous one, as returns are noisy."""
    at = shown_points(cell.episode)
    sums = np.cumsum(cell.returns * np.diff(cell.episode, prepend=0), axis=1)[:, at]
    shown = np.diff(sums, prepend=0) / np.diff(cell.episode[at], prepend=0)
    return {
        "episode": cell.episode[at].tolist(),
        "return": band(statistics.mean_band(shown, np.random.default_rng(0))),
        "seeds": {"return": rows(shown)},
    }


def _picture(results: "Results", name: str, plane: list[list[float | None]]) -> dict[str, Any]:
    """The recorded beliefs of the first seed of each agent, on a grid of observations."""
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
