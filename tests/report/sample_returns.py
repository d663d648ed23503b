"""Made-up results of a Gymnasium environment, in the shape that the page takes."""

import numpy as np

SIDE = 30
EPISODES = [0, 1, 8, 64]
AXES = [[-1.2, 0.6], [-0.07, 0.07]]


def environment(agents, name="Plane", seeds=4, drawn=True):
    """An environment; the later an agent, the lower its returns."""
    rng = np.random.default_rng(3)
    returns = {
        agent: -200
        + (40 - 10 * k) * (1 - np.exp(-np.arange(20) / 5))
        + rng.normal(size=(seeds, 20))
        for k, agent in enumerate(agents)
    }
    return {
        "name": name,
        "detail": f"Gym: id {name}-v0, gamma 0.99",
        "returns": True,
        "states": None,
        "actions": 3,
        "episodes": 200,
        "seeds": seeds,
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
                "return": {
                    "mean": numbers.mean(axis=0).tolist(),
                    "low": numbers.min(axis=0).tolist(),
                    "high": numbers.max(axis=0).tolist(),
                },
                "seeds": {"return": numbers.tolist()},
            }
            for agent, numbers in returns.items()
        },
        "improvement": [
            [None if a == b else estimate(np.array([0.7, 0.8])) for b in agents] for a in agents
        ],
        "picture": picture(agents, rng) if drawn else None,
    }


def estimate(numbers):
    value, low, high = (float(x) for x in (numbers.mean(), numbers.min(), numbers.max()))
    return {"value": value, "low": low, "high": high, "note": ""}


def picture(agents, rng):
    n, cells = len(EPISODES), SIDE**2
    return {
        "board": ["." * SIDE] * SIDE,
        "cells": [list(divmod(x, SIDE)) for x in range(cells)],
        "moves": None,
        "axes": AXES,
        "optimal": None,
        "runs": [
            {
                "agent": agent,
                "seed": 0,
                "episodes": EPISODES,
                "value": (50 + 10 * rng.random((n, cells))).tolist(),
                "bonus": rng.random((n, cells)).tolist(),
                "ascension": rng.random((n, cells)).tolist(),
                "visits": (100 * rng.random((n, cells))).tolist(),
                "action": rng.integers(3, size=(n, cells)).tolist(),
                "difference": None,
            }
            for agent in agents
        ],
    }
