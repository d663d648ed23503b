"""Made-up results in the shape that the page takes: any number of worlds, agents and seeds."""

import numpy as np

ROOM = ["######", "#s..x#", "#.##.#", "#...$#", "######"]
SEA = ["s  ", ".. ", "..$", "==="]
FOUR_WAYS = [[-1, 0], [0, 1], [1, 0], [0, -1]]
EPISODES = [0, 1, 4, 16, 64]


def sample(
    worlds=("Room", "Sea", "River"), agents=("Bold", "Careful", "Idle"), seeds=4, imitators=()
):
    """Results; the first world has a room as its picture, the second a sea, the others none.

    Some of the agents may be imitators.
    """
    rng = np.random.default_rng(7)
    return {
        "title": "A sample study",
        "description": "Made-up numbers.",
        "version": "0.1.0",
        "created": "2026-11-16 00:10 UTC",
        "level": 0.95,
        "draws": 2000,
        "specification": '[study]\ntitle = "A sample study"\n\nseeds = 4\n',
        "environment": {"python": "3.11.7", "commit": "f7df7dc"},
        "agents": [{"name": name, "detail": f"{name}: beta 0.5"} for name in agents],
        "failures": [],
        "damaged": [],
        "unfinished": 0,
        "worlds": [_world(i, name, agents, seeds, imitators, rng) for i, name in enumerate(worlds)],
    }


def _world(i, name, agents, seeds, imitators, rng):
    losses = {agent: _losses(k, seeds, rng) for k, agent in enumerate(agents)}
    averages = {agent: loss.mean(axis=1) for agent, loss in losses.items()}
    picture = _room(agents, rng) if i == 0 else _sea(agents, rng) if i == 1 else None
    for run in picture["runs"] if picture else []:
        if run["agent"] in imitators:
            run["difference"] = np.subtract(
                run["occupancy"], picture["optimal"]["occupancy"]
            ).tolist()
    return {
        "name": name,
        "detail": f"{name}: slip 0.1, gamma 0.9",
        "states": 9,
        "actions": 4,
        "episodes": 1000,
        "seeds": seeds,
        "optimal": 10.0,
        "uniform": 1.5,
        "rows": [
            {
                "agent": agent,
                "average": _estimate(averages[agent]),
                "iqm": _estimate(averages[agent]),
                "final": _estimate(loss[:, -3:].mean(axis=1)),
                "regret": _estimate(10 * loss.sum(axis=1)),
                "slope": {"value": None, "low": None, "high": None, "note": "no regret to fit"}
                if agent == agents[-1]
                else _estimate(0.5 + averages[agent]),
            }
            for agent, loss in losses.items()
        ],
        "curves": {
            agent: _add_matching(_curve(loss), loss) if agent in imitators else _curve(loss)
            for agent, loss in losses.items()
        },
        "improvement": [
            [None if a == b else _chance(averages[a], averages[b]) for b in agents] for a in agents
        ],
        "picture": picture,
    }


def _losses(k, seeds, rng):
    """Suboptimality [seeds, T] that falls, the first agent's to exactly zero and below."""
    decay = np.exp(-np.arange(30) / (3 + 5 * k))
    losses = decay * (1 + 0.2 * rng.normal(size=(seeds, 1))) + 0.01 * k
    if k == 0:
        losses[:, 20:] = 0.0
        losses[:, 25:] = -0.001
    return np.minimum(losses, 1)


def _curve(losses):
    seeds = len(losses)
    regret = np.cumsum(10 * losses, axis=1)
    return {
        "episode": np.unique(np.geomspace(1, 1001, 60).astype(int))[:30].tolist(),
        "regret": _band(regret, "mean", "low", "high", seeds),
        "suboptimality": _band(losses, "mean", "low", "high", seeds)
        | _band(0.9 * losses, "iqm", "iqm_low", "iqm_high", seeds),
        "seeds": {"regret": regret.tolist(), "suboptimality": losses.tolist()},
    }


def _add_matching(curve, losses):
    """Matching errors: half the losses and a tenth, and their means so far."""
    error = losses / 2 + 0.1
    average = np.cumsum(error, axis=1) / np.arange(1, error.shape[1] + 1)
    for name, numbers in (("matching_error", error), ("average_matching_error", average)):
        curve[name] = _band(numbers, "mean", "low", "high", len(losses))
        curve["seeds"][name] = numbers.tolist()
    return curve


def _band(curves, value, low, high, seeds):
    none = [None] * curves.shape[1]
    return {
        value: curves.mean(axis=0).tolist(),
        low: curves.min(axis=0).tolist() if seeds > 1 else none,
        high: curves.max(axis=0).tolist() if seeds > 1 else none,
    }


def _estimate(numbers):
    value = float(numbers.mean())
    if len(numbers) == 1:
        return {"value": value, "low": None, "high": None, "note": "one seed: no interval"}
    return {
        "value": value,
        "low": float(numbers.min()),
        "high": float(numbers.max()),
        "note": "",
    }


def _chance(a, b):
    value = float(((a[:, None] < b) + 0.5 * (a[:, None] == b)).mean())
    if len(a) == 1:
        return {"value": value, "low": None, "high": None, "note": "one seed: no interval"}
    return {"value": value, "low": max(0.0, value - 0.2), "high": min(1.0, value + 0.2), "note": ""}


def _room(agents, rng):
    cells = [[i, j] for i, line in enumerate(ROOM) for j, c in enumerate(line) if c != "#"]
    return _picture(ROOM, cells, FOUR_WAYS, agents, rng)


def _sea(agents, rng):
    cells = [[0, 0], [1, 0], [1, 1], [2, 0], [2, 1], [2, 2], [3, 0]]
    return _picture(SEA, cells, [[1, -1], [1, 1]], agents, rng)


def _picture(board, cells, moves, agents, rng):
    n, n_actions = len(cells), len(moves)
    return {
        "board": board,
        "cells": cells,
        "moves": moves,
        "optimal": {
            "value": np.linspace(1, 9, n).tolist(),
            "occupancy": rng.dirichlet(np.ones(n)).tolist(),
            "policy": np.eye(n_actions)[rng.integers(n_actions, size=n)].tolist(),
        },
        "runs": [
            {
                "agent": agent,
                "seed": 0,
                "episodes": EPISODES,
                "value": [(10 * 0.8**k * np.linspace(0.2, 1, n)).tolist() for k in range(5)],
                "bonus": [(0.5**k * np.linspace(1, 0.1, n)).tolist() for k in range(5)],
                "ascension": None
                if agent == agents[-1]
                else [(0.4**k * np.linspace(0.5, 0.1, n)).tolist() for k in range(5)],
                "occupancy": [
                    np.append(0.0, rng.dirichlet(np.ones(n - 1) / (k + 1))).tolist()
                    for k in range(5)
                ],
                "difference": None,
                "policy": rng.dirichlet(np.ones(n_actions) / 2, size=(5, n)).tolist(),
            }
            for agent in agents
        ],
    }
