"""The data of a report as plain texts, numbers and lists."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

import optimist
from optimist.envs import Gym, World
from optimist.experiments import peers, statistics
from optimist.experiments.cells import Cell
from optimist.experiments.plain import band, detail, estimate, number, numbers, rows, shown_points
from optimist.experiments.snapshots import can_be_drawn
from optimist.experiments.specification import agent_table
from optimist.experiments.study import Run
from optimist.experiments.summary_returns import environment_data
from optimist.experiments.worlds import world_table
from optimist.text import printable

if TYPE_CHECKING:
    from optimist.experiments.results import Results

ROUNDING = 1e-12
"""Smaller differences of exact occupancies are rounding errors and count as zero."""


def summary(results: "Results") -> dict[str, Any]:
    """The data of a report."""
    study, shown = results.study, _displayed_agents(results)
    worlds = [_world(results, name, shown[name]) for name in study.worlds]
    environment = _merged(results.environments)
    return {
        "title": study.title,
        "description": study.description,
        "version": optimist.__version__,
        "created": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "level": statistics.LEVEL,
        "draws": statistics.DRAWS,
        "specification": printable(study.text),
        "environment": environment,
        "agents": _agents(results, shown),
        "failures": listed(results.failures),
        "damaged": listed(results.damaged),
        "unfinished": results.unfinished,
        "peers": results.peers and peers.plain(results.peers),
        "worlds": worlds,
    }


def listed(runs: dict[Run, str]) -> list[dict[str, Any]]:
    """Runs with their error messages."""
    return [
        {"world": r.world, "agent": r.agent, "seed": r.index, "message": printable(message)}
        for r, message in runs.items()
    ]


def _displayed_agents(results: "Results") -> dict[str, dict[str, str]]:
    """For each world, the displayed names and the agents they stand for.

    These are all agents. In a study with a subject they are the best setting of each family in
    hindsight, under the name of the family, as dozens of curves would be unreadable.
    """
    study = results.study
    every = {name: {agent: agent for agent in study.agents} for name in study.worlds}
    if results.peers is None or len(results.peers.worlds) < len(study.worlds):
        return every
    agents = {(f, peers.setting_of(agent, f)): agent for agent, f in study.family.items()}
    return {
        w.world: {family: agents[family, best.setting] for family, best in w.best.items()}
        for w in results.peers.worlds
    }


def _agents(results: "Results", shown: dict[str, dict[str, str]]) -> list[dict[str, Any]]:
    study = results.study
    lines = {
        name: detail(*_named(agent_table(config), "agent"))
        for name, config in study.configurations.items()
    }
    families: dict[str, list[str]] = {}
    for agent, family in study.family.items():
        families.setdefault(family, []).append(agent)
    named: dict[str, str] = {}
    for name in dict.fromkeys(name for agents in shown.values() for name in agents):
        others = families.get(name, [name])
        best = f"the best of {len(others)} settings in each world: {', '.join(others)}"
        named[name] = lines[others[0]] if len(others) == 1 else best
    return [
        {"name": name, "family": study.family.get(name, name), "detail": line}
        for name, line in named.items()
    ]


def _named(table: dict[str, Any], key: str) -> tuple[str, dict[str, Any]]:
    """The name in a table, and the rest of it."""
    return table[key], {name: value for name, value in table.items() if name != key}


def _world(results: "Results", name: str, shown: dict[str, str]) -> dict[str, Any]:
    study = results.study
    world = study.worlds[name]
    cells = {label: results.cell(name, agent) for label, agent in shown.items()}
    there = {label: cell for label, cell in cells.items() if cell is not None}
    return {
        "name": name,
        "detail": detail(*_named(world_table(world), "world")),
        "episodes": study.lengths[name],
        "seeds": max((len(cell.seeds) for cell in there.values()), default=0),
        "rows": [
            {"agent": agent, **{k: estimate(e) for k, e in cell.estimates.items()}}
            for agent, cell in there.items()
        ],
        "improvement": [
            [
                estimate(results.improvement(name, shown[agent], shown[other]))
                if agent != other
                else None
                for other in there
            ]
            for agent in there
        ],
        **(
            environment_data(results, name, world, there)
            if isinstance(world, Gym)
            else _known_world_data(results, name, world, there, shown)
        ),
    }


def _known_world_data(
    results: "Results", name: str, world: World, cells: dict[str, Any], shown: dict[str, str]
) -> dict[str, Any]:
    """The data of a world that only known MDPs have: exact values and pictures."""
    mdp = world.mdp
    return {
        "returns": False,
        "states": mdp.n_states,
        "actions": mdp.n_actions,
        "optimal": number(mdp.optimal().value),
        "uniform": number(float(mdp.value(mdp.uniform_policy))),
        "curves": {agent: _curves(cell) for agent, cell in cells.items()},
        "picture": _picture(results, name, world, shown) if can_be_drawn(world) and cells else None,
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


def _picture(results: "Results", name: str, world: World, shown: dict[str, str]) -> dict[str, Any]:
    """The beliefs of the first seed of each agent, as recorded during its run.

    The expert of imitators is the optimum; they have differences of occupancy from it.
    """
    mdp, best = world.mdp, world.mdp.optimal()
    expert = mdp.state_occupancy(best.policy)
    runs = []
    first = results.first_runs(name)
    for label, agent in shown.items():
        if agent not in first:
            continue
        run = first[agent]
        shots = results.shots(run)
        if shots is None:
            continue
        occupancy = mdp.state_occupancy(shots.policy)
        cell = results.cell(name, agent)
        imitates = isinstance(cell, Cell) and cell.matching_error is not None
        more = occupancy - expert
        more[np.abs(more) < ROUNDING] = 0.0
        runs.append(
            {
                "agent": label,
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


def _merged(environments: list[dict[str, str]]) -> dict[str, str]:
    """The environments of all runs merged: each name with all its values."""
    names = dict.fromkeys(name for e in environments for name in e)
    return {
        printable(n): printable(", ".join(dict.fromkeys(e[n] for e in environments if n in e)))
        for n in names
    }
