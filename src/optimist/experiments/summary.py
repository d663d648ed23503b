"""What figures and the report show of a study, as plain data: texts, numbers and lists."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

import optimist
from optimist.envs import Gym, World
from optimist.experiments import peers, statistics
from optimist.experiments.cells import Cell
from optimist.experiments.parameters import to_plain
from optimist.experiments.plain import band, detail, estimate, number, numbers, rows, shown_points
from optimist.experiments.snapshots import can_be_drawn
from optimist.experiments.specification import agent_name
from optimist.experiments.summary_returns import of_environment

if TYPE_CHECKING:
    from optimist.experiments.results import Results

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
            {
                "name": name,
                "family": study.family[name],
                "detail": detail(agent_name(config), to_plain(config)),
            }
            for name, config in study.configurations.items()
        ],
        "failures": [
            {"world": r.world, "agent": r.agent, "seed": r.index, "message": message}
            for r, message in results.failures.items()
        ],
        "unfinished": results.unfinished,
        "peers": results.peers and peers.plain(results.peers),
        "worlds": [_world(results, name) for name in study.worlds],
    }


def _world(results: "Results", name: str) -> dict[str, Any]:
    study = results.study
    world = study.worlds[name]
    cells = {agent: results.cell(name, agent) for agent in study.agents}
    there = {agent: cell for agent, cell in cells.items() if cell is not None}
    return {
        "name": name,
        "detail": detail(type(world).__name__, to_plain(world)),
        "episodes": study.lengths[name],
        "seeds": max((len(cell.seeds) for cell in there.values()), default=0),
        "rows": [
            {"agent": agent, **{k: estimate(e) for k, e in cell.estimates.items()}}
            for agent, cell in there.items()
        ],
        "improvement": [
            [
                estimate(results.improvement(name, agent, other)) if agent != other else None
                for other in there
            ]
            for agent in there
        ],
        **(
            of_environment(results, name, world, there)
            if isinstance(world, Gym)
            else _of_known_world(results, name, world, there)
        ),
    }


def _of_known_world(
    results: "Results", name: str, world: World, cells: dict[str, Any]
) -> dict[str, Any]:
    """What is shown of a known MDP only, by exact values."""
    mdp = world.mdp
    return {
        "returns": False,
        "states": mdp.n_states,
        "actions": mdp.n_actions,
        "optimal": number(mdp.optimal().value),
        "uniform": number(float(mdp.value(mdp.uniform_policy))),
        "curves": {agent: _curves(cell) for agent, cell in cells.items()},
        "picture": _picture(results, name, world) if can_be_drawn(world) and cells else None,
    }


def _curves(cell: Cell) -> dict[str, Any]:
    at = shown_points(cell.episode)
    regret, lost = cell.regret[:, at], cell.suboptimality[:, at]
    rng = np.random.default_rng(0)
    iqm = statistics.iqm_band(lost, rng)
    curves = {
        "episode": cell.episode[at].tolist(),
        "regret": band(statistics.mean_band(regret, rng)),
        "suboptimality": {
            **band(statistics.mean_band(lost, rng)),
            "iqm": numbers(iqm.value),
            "iqm_low": numbers(iqm.low),
            "iqm_high": numbers(iqm.high),
        },
        "seeds": {"regret": rows(regret), "suboptimality": rows(lost)},
    }
    for name in ("matching_error", "average_matching_error"):
        error = getattr(cell, name)
        if error is not None:
            curves[name] = band(statistics.mean_band(error[:, at], rng))
            curves["seeds"][name] = rows(error[:, at])
    return curves


def _picture(results: "Results", name: str, world: World) -> dict[str, Any]:
    """What the first seed of each agent believed on the way.

    The optimum is the expert of those who imitate one: theirs are the differences from it.
    """
    mdp, best = world.mdp, world.mdp.optimal()
    expert = mdp.state_occupancy(best.policy)
    runs = []
    for agent, run in results.first_runs(name).items():
        shots = results.folder.of(run).snapshots
        occupancy = mdp.state_occupancy(shots.policy)
        cell = results.cell(name, agent)
        imitates = isinstance(cell, Cell) and cell.matching_error is not None
        more = occupancy - expert
        more[np.abs(more) < ROUNDING] = 0.0
        runs.append(
            {
                "agent": agent,
                "seed": run.index,
                "episodes": shots.episodes.tolist(),
                "value": rows(shots.value),
                "bonus": rows(shots.bonus.mean(axis=2)),
                "ascension": rows(shots.ascension.mean(axis=2)),
                "occupancy": rows(occupancy),
                "difference": rows(more) if imitates else None,
                "policy": [rows(policy) for policy in shots.policy],
            }
        )
    return {
        "board": list(world.board),
        "cells": [list(world.position(x)) for x in range(mdp.n_states)],
        "moves": world.moves and [list(move) for move in world.moves],
        "optimal": {
            "value": numbers(best.V),
            "occupancy": numbers(expert),
            "policy": rows(best.policy),
        },
        "runs": runs,
    }


def _joined(environments: list[dict[str, str]]) -> dict[str, str]:
    """What the runs ran on, each name once, with all its values."""
    names = dict.fromkeys(name for e in environments for name in e)
    return {n: ", ".join(dict.fromkeys(e[n] for e in environments if n in e)) for n in names}
