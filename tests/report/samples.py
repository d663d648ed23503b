"""Made-up results in the shape that page and figures take."""

import numpy as np

ROOM = ["######", "#s..x#", "#.##.#", "#...$#", "######"]
ROOM_CELLS = [[i, j] for i, line in enumerate(ROOM) for j, c in enumerate(line) if c != "#"]
FOUR_WAYS = [[-1, 0], [0, 1], [1, 0], [0, -1]]
SEA = ["s  ", ".. ", "..$", "==="]
SEA_CELLS = [[0, 0], [1, 0], [1, 1], [2, 0], [2, 1], [2, 2], [3, 0]]
EPISODES = [0, 1, 4, 16, 64]
SIDE = 30
"""The cells of a map along each axis."""


def sample(
    worlds=("Room", "Sea", "River"), agents=("Bold", "Careful", "Idle"), seeds=4, imitators=()
):
    """A study; the first world has a room as its picture, the second a sea, the others none.

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


def estimate(numbers, note=""):
    """The mean and the extremes of some numbers; one number has no interval."""
    low, high = (float(f(numbers)) if len(numbers) > 1 else None for f in (np.min, np.max))
    note = note or ("" if len(numbers) > 1 else "one seed: no interval")
    return {"value": float(np.mean(numbers)), "low": low, "high": high, "note": note}


def band(curves, names=("mean", "low", "high")):
    """The mean and the extremes of curves [seeds, T] at each point."""
    ends = [curves.min(axis=0).tolist(), curves.max(axis=0).tolist()]
    low, high = ends if len(curves) > 1 else [[None] * curves.shape[1]] * 2
    return dict(zip(names, (curves.mean(axis=0).tolist(), low, high), strict=True))


def _world(i, name, agents, seeds, imitators, rng):
    losses = {agent: _losses(k, seeds, rng) for k, agent in enumerate(agents)}
    averages = {agent: loss.mean(axis=1) for agent, loss in losses.items()}
    picture = None
    if i < 2:
        place = (ROOM, ROOM_CELLS, FOUR_WAYS) if i == 0 else (SEA, SEA_CELLS, [[1, -1], [1, 1]])
        picture = _picture(*place, agents, imitators, rng)
    no_slope = {"value": None, "low": None, "high": None, "note": "no regret to fit"}
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
                "average": estimate(averages[agent]),
                "iqm": estimate(averages[agent]),
                "final": estimate(loss[:, -3:].mean(axis=1)),
                "regret": estimate(10 * loss.sum(axis=1)),
                "slope": no_slope if agent == agents[-1] else estimate(0.5 + averages[agent]),
            }
            for agent, loss in losses.items()
        ],
        "curves": {agent: _curve(loss, agent in imitators) for agent, loss in losses.items()},
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


def _curve(losses, imitates):
    """The curves of an agent; the matching errors of an imitator are half the losses and 0.1."""
    curves = {"regret": np.cumsum(10 * losses, axis=1), "suboptimality": losses}
    if imitates:
        curves["matching_error"] = error = losses / 2 + 0.1
        so_far = np.cumsum(error, axis=1) / np.arange(1, error.shape[1] + 1)
        curves["average_matching_error"] = so_far
    bands = {name: band(numbers) for name, numbers in curves.items()}
    bands["suboptimality"] |= band(0.9 * losses, ("iqm", "iqm_low", "iqm_high"))
    episode = np.unique(np.geomspace(1, 1001, 60).astype(int))[:30].tolist()
    seeds = {name: numbers.tolist() for name, numbers in curves.items()}
    return {"episode": episode, **bands, "seeds": seeds}


def _chance(a, b):
    value = float(((a[:, None] < b) + 0.5 * (a[:, None] == b)).mean())
    if len(a) == 1:
        return estimate([value])
    return {"value": value, "low": max(0.0, value - 0.2), "high": min(1.0, value + 0.2), "note": ""}


def _picture(board, cells, moves, agents, imitators, rng):
    n, n_actions = len(cells), len(moves)
    best = {
        "value": np.linspace(1, 9, n).tolist(),
        "occupancy": rng.dirichlet(np.ones(n)).tolist(),
        "policy": np.eye(n_actions)[rng.integers(n_actions, size=n)].tolist(),
    }
    runs = []
    for agent in agents:
        time = [np.append(0.0, rng.dirichlet(np.ones(n - 1) / (k + 1))) for k in range(5)]
        heaven = [(0.4**k * np.linspace(0.5, 0.1, n)).tolist() for k in range(5)]
        difference = [(there - best["occupancy"]).tolist() for there in time]
        runs.append({
            "agent": agent,
            "seed": 0,
            "episodes": EPISODES,
            "value": [(10 * 0.8**k * np.linspace(0.2, 1, n)).tolist() for k in range(5)],
            "bonus": [(0.5**k * np.linspace(1, 0.1, n)).tolist() for k in range(5)],
            "ascension": None if agent == agents[-1] else heaven,
            "occupancy": [there.tolist() for there in time],
            "difference": difference if agent in imitators else None,
            "policy": rng.dirichlet(np.ones(n_actions) / 2, size=(5, n)).tolist(),
        })  # fmt: skip
    return {"board": board, "cells": cells, "moves": moves, "optimal": best, "runs": runs}


def environment(agents, name="Plane", drawn=True):
    """A Gymnasium environment; the later an agent, the lower its returns."""
    rng = np.random.default_rng(3)
    rise = 1 - np.exp(-np.arange(20) / 5)
    returns = {
        agent: -200 + (40 - 10 * k) * rise + rng.normal(size=(4, 20))
        for k, agent in enumerate(agents)
    }
    return {
        "name": name,
        "detail": f"Gym: id {name}-v0, gamma 0.99",
        "returns": True,
        "states": None,
        "actions": 3,
        "episodes": 200,
        "seeds": 4,
        "optimal": None,
        "uniform": None,
        "rows": [
            {
                "agent": agent,
                "mean_return": estimate(numbers.mean(axis=1)),
                "final_return": estimate(numbers[:, -2:].mean(axis=1)),
            }
            for agent, numbers in returns.items()
        ],
        "curves": {
            agent: {
                "episode": list(range(10, 201, 10)),
                "return": band(numbers),
                "seeds": {"return": numbers.tolist()},
            }
            for agent, numbers in returns.items()
        },
        "improvement": [[None if a == b else estimate([0.7, 0.8]) for b in agents] for a in agents],
        "picture": _maps(agents, rng) if drawn else None,
    }


def _maps(agents, rng):
    episodes, cells = [0, 1, 8, 64], SIDE**2
    shape = (len(episodes), cells)
    runs = [
        {
            "agent": agent,
            "seed": 0,
            "episodes": episodes,
            "value": (50 + 10 * rng.random(shape)).tolist(),
            "bonus": rng.random(shape).tolist(),
            "ascension": rng.random(shape).tolist(),
            "visits": (100 * rng.random(shape)).tolist(),
            "action": rng.integers(3, size=shape).tolist(),
            "difference": None,
        }
        for agent in agents
    ]
    return {
        "board": ["." * SIDE] * SIDE,
        "cells": [list(divmod(x, SIDE)) for x in range(cells)],
        "moves": None,
        "axes": [[-1.2, 0.6], [-0.07, 0.07]],
        "optimal": None,
        "runs": runs,
    }


def comparison(worlds, families=("Bold", "Careful", "Idle"), held_out=1, spread=0.2):
    """A subject, the first family, and its peers; some of the worlds, the last, are held out."""
    rng = np.random.default_rng(0)
    first = len(worlds) - held_out
    found = [_compared(w, families, i >= first, spread, rng) for i, w in enumerate(worlds)]
    groups = {"all": found}
    if held_out:
        groups |= {"chosen": found[:first], "held_out": found[first:]}
    return {
        "subject": families[0],
        "families": {name: 2 if i else 1 for i, name in enumerate(families)},
        "sentence": f"{families[0]} is lowest or within 1.2 times the best peer on some worlds.",
        "within": 1.2,
        "fails": 0.5,
        "succeeds": 0.1,
        "counts": {
            group: {"worlds": len(some), "lowest": 0, "close": 0, "fails_alone": 0}
            for group, some in groups.items()
        },
        "ranks": {
            group: {name: _about(1.0 + i, spread) for i, name in enumerate(families)}
            for group in groups
        },
        "left_out": [],
        "worlds": found,
    }


def _about(value, spread):
    return estimate([value] if spread is None else [value * (1 - spread), value * (1 + spread)])


def _compared(name, families, held_out, spread, rng):
    subject, *others = families
    means = dict(zip(others, 0.01 * 10 ** rng.uniform(0, 1.2, len(others)), strict=True))
    peer = min(means, key=means.get)
    ratio = 10 ** rng.uniform(-0.3, 0.3)
    return {
        "name": name,
        "held_out": held_out,
        "peer": peer,
        "ratio": _about(ratio, spread),
        "verdict": "lowest" if ratio <= 1 else "within" if ratio <= 1.2 else "behind",
        "failed": False,
        "succeeded": [],
        "families": {
            family: {
                "setting": "" if family == subject else "beta 0.3",
                "average": _about(mean, spread),
                "ratio": mean / means[peer],
            }
            for family, mean in {subject: ratio * means[peer], **means}.items()
        },
    }
