"""Twelve short runs whose numbers are kept in runs.toml: what a rebuild must not change.

``python tests/golden/runs.py`` computes them anew, shows what differs and writes the file. Runs are
named after what they compute, and are read through the public interface by `numbers` alone.
"""

import difflib
import tomllib
from pathlib import Path

import gymnasium
import numpy as np

import optimist as opt
from optimist.core import Switching
from optimist.features import OneHotState, StateOnly
from optimist.imitation import FeatureDataset

FILE = Path(__file__).with_name("runs.toml")
DIGITS = 9

RIVER = opt.envs.RiverSwim(6, gamma=0.95)
GRID = opt.envs.GridWorld("S...\n.#..\n..OG", gamma=0.9)
LINEAR = opt.envs.RandomLinear(4, 12, 3, gamma=0.9)
PAPER = opt.RmaxRaviUcb.Config(eta=2.0, beta=0.5, alpha=8.0, omega=4.0, updates=3)


def finite(agent, episodes=60):
    history = agent.learn(episodes)
    states = np.arange(agent.mdp.n_states)
    regrets = history.regrets()
    return {**numbers(agent, history, states), "regret": regrets.sum(), "last regret": regrets[-1]}


def streaming(agent, episodes, observations):
    return numbers(agent, agent.learn(episodes), observations)


def imitation(il, episodes, observations):
    return {
        **numbers(il, il.learn(episodes), observations),
        "weights": il.reward_weights,
        "last weights": il.last_reward_weights,
    }


def numbers(agent, history, observations):
    """The sums of the history's columns, and the last policy at some observations."""
    columns = {name: column.sum() for name, column in history.table().items() if name != "episode"}
    policy = agent.policy.probabilities(observations)
    return {
        **columns,
        "policy": policy.ravel(),
        "output": agent.output.probabilities(observations).ravel(),
    }


def expert(world):
    states = StateOnly(OneHotState(world.mdp.n_states), world.mdp.n_actions)
    return FeatureDataset.from_policy(world, world.mdp.optimal().policy, states)


def linear():
    return {"world": LINEAR, "features": LINEAR.features}


def adversary():
    r = np.stack([GRID.mdp.r, 1 - GRID.mdp.r])
    return opt.RmaxRaviUcb(GRID, config=PAPER, rewards=Switching(r, every=5), seed=8, stride=1)


def lake():
    env = gymnasium.make("FrozenLake-v1", is_slippery=True)
    return opt.Optimist(env, gamma=0.95, seed=9)


def cart():
    """Dense features, and episodes that end."""
    env = gymnasium.make("CartPole-v1")
    return opt.RmaxRaviUcb(env, "fourier:3", config=PAPER, gamma=0.95, seed=10)


CART = np.array([[0.0, 0.0, 0.0, 0.0], [0.5, 0.1, -0.1, 0.2], [-1.0, -0.5, 0.1, 0.5]])

RUNS = {
    "default, RiverSwim": lambda: finite(opt.Optimist(RIVER, seed=1, stride=1)),
    "default, GridWorld": lambda: finite(opt.Optimist(GRID, seed=2, stride=1)),
    "default, RandomLinear, dense features": lambda: finite(
        opt.Optimist(**linear(), seed=3, stride=1)
    ),
    "RMAX-RAVI-UCB, RandomLinear, dense features": lambda: finite(
        opt.RmaxRaviUcb(**linear(), config=PAPER, seed=4, stride=1)
    ),
    "RMAX-RAVI-UCB, GridWorld, changing rewards": lambda: finite(adversary()),
    "RAVI-UCB, RiverSwim": lambda: finite(opt.RaviUcb(RIVER, seed=5, stride=1)),
    "PSRL, RiverSwim": lambda: finite(opt.Psrl(RIVER, seed=6, stride=1)),
    "LSVI-UCB, RandomLinear, dense features": lambda: finite(
        opt.LsviUcb(**linear(), seed=7, stride=1)
    ),
    "default, FrozenLake": lambda: streaming(lake(), 60, np.arange(16)),
    "RMAX-RAVI-UCB, CartPole, dense features": lambda: streaming(cart(), 30, CART),
    "FRA-IL, GridWorld": lambda: imitation(
        opt.FraIL(GRID, expert(GRID), seed=11), 60, np.arange(GRID.mdp.n_states)
    ),
    "FRA-IL, RiverSwim as an environment": lambda: imitation(
        opt.FraIL(RIVER.make(), expert(RIVER), gamma=0.95, seed=12), 60, np.arange(6)
    ),
}


def text(results):
    """The file: numbers to nine digits, those below 1e-12 as 0."""

    def line(value):
        rounded = [f"{0.0 if abs(v) < 1e-12 else v:.{DIGITS}g}" for v in np.atleast_1d(value)]
        return rounded[0] if np.ndim(value) == 0 else f"[{', '.join(rounded)}]"

    runs = [
        "\n".join([f'["{name}"]', *(f'"{key}" = {line(value)}' for key, value in found.items())])
        for name, found in results.items()
    ]
    return "\n\n".join(["# Written by runs.py; numbers to nine digits.", *runs]) + "\n"


def kept():
    """The numbers of the file."""
    return tomllib.loads(FILE.read_text())


def main():
    before = FILE.read_text() if FILE.exists() else ""
    after = text({name: run() for name, run in RUNS.items()})
    lines = difflib.unified_diff(
        before.splitlines(), after.splitlines(), "before", "now", n=0, lineterm=""
    )
    print("\n".join(lines) or "nothing has changed")
    FILE.write_text(after)


if __name__ == "__main__":
    main()
