"""Optimist beside Stable-Baselines3 and tables, by steps: five seeds, environments as they come.

Every agent takes the same number of steps and learns all the way. What is shown is the mean return
of the episodes that end in the last fifth of the steps. Optimist, Q-learning and the count bonus
have one setting for all environments, and are told gamma alone. DQN and PPO have the settings that
RL Baselines3 Zoo publishes for an environment, or for one like it (`DQN`, `PPO` below), otherwise
those of Stable-Baselines3; their schedules are stretched or shortened to the steps taken here.

It needs ``pip install 'optimist[sb3]' minigrid``. Run by hand: ``python -m benchmarks.by_steps
FOLDER``, an hour on two cores; finished runs are kept in FOLDER, and the table is printed from it.
"""

import argparse
import json
import os
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[variable] = "1"

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.wrappers import FlattenObservation

import optimist as opt

GAMMA = 0.99
STEPS = 50_000
SEEDS = 5

GRID = {"normalize": True, "n_envs": 8, "n_steps": 128, "batch_size": 64, "learning_rate": 2.5e-4}
WIDE = {"net_arch": [256, 256]}
DQN: dict[str, dict[str, Any]] = {
    "CartPole-v1": {
        "learning_rate": 2.3e-3, "batch_size": 64, "buffer_size": 100_000, "learning_starts": 1000,
        "target_update_interval": 10, "train_freq": 256, "gradient_steps": 128,
        "exploration_fraction": 0.16, "exploration_final_eps": 0.04, "policy_kwargs": WIDE,
    },
    "MountainCar-v0": {
        "learning_rate": 4e-3, "batch_size": 128, "buffer_size": 10_000, "learning_starts": 1000,
        "gamma": 0.98, "target_update_interval": 600, "train_freq": 16, "gradient_steps": 8,
        "exploration_fraction": 0.2, "exploration_final_eps": 0.07, "policy_kwargs": WIDE,
    },
    "Acrobot-v1": {
        "learning_rate": 6.3e-4, "batch_size": 128, "buffer_size": 50_000, "learning_starts": 0,
        "target_update_interval": 250, "train_freq": 4, "gradient_steps": -1,
        "exploration_fraction": 0.12, "exploration_final_eps": 0.1, "policy_kwargs": WIDE,
    },
}  # fmt: skip
PPO: dict[str, dict[str, Any]] = {
    "CartPole-v1": {
        "n_envs": 8, "n_steps": 32, "batch_size": 256, "gae_lambda": 0.8, "gamma": 0.98,
        "n_epochs": 20, "learning_rate": lambda left: 1e-3 * left,
        "clip_range": lambda left: 0.2 * left,
    },
    "MountainCar-v0": {
        "normalize": True, "n_envs": 16, "n_steps": 16, "gae_lambda": 0.98, "n_epochs": 4,
    },
    "Acrobot-v1": {
        "normalize": True, "n_envs": 16, "n_steps": 256, "gae_lambda": 0.94, "n_epochs": 4,
    },
    "MiniGrid": GRID,
    "MiniGrid-FourRooms-v0": {**GRID, "n_steps": 512},
}  # fmt: skip
"""Settings of RL Baselines3 Zoo (April 2026)."""


class Task(NamedTuple):
    """An environment, by the line that makes it."""

    name: str
    make: Callable[[], gymnasium.Env[Any, Any]]

    @property
    def grid(self) -> bool:
        """Whether it is one of MiniGrid."""
        return self.name.startswith("MiniGrid")


def plain(name: str, **options: Any) -> Task:
    """An environment of Gymnasium, or of this library."""
    return Task(name, lambda: gymnasium.make(name, **options))


def grid(name: str) -> Task:
    """A grid that is wholly seen."""

    def make() -> Any:
        from minigrid.wrappers import FullyObsWrapper

        return FullyObsWrapper(gymnasium.make(name))

    return Task(name, make)


TASKS = (
    *(plain(name) for name in ("MountainCar-v0", "CartPole-v1", "Acrobot-v1")),
    *(plain(name) for name in ("FrozenLake-v1", "Taxi-v4", "Blackjack-v1")),
    plain("optimist/DeepSea-v0"),
    *(grid(f"MiniGrid-{name}-v0") for name in ("Empty-8x8", "FourRooms")),
    *(grid(f"MiniGrid-DoorKey-{name}-v0") for name in ("5x5", "6x6")),
)


def ours(task: Task, agent: str, seed: int) -> tuple[Any, Any]:
    """The steps of each episode, and their returns."""
    if agent == "Optimist":
        learner: Any = opt.Optimist(task.make(), gamma=GAMMA, seed=seed)
    else:
        algorithm = {"Q-learning": opt.HashedQLearning, "count bonus": opt.CountBonus}[agent]()
        learner = opt.PythonAgent(task.make(), algorithm, gamma=GAMMA, seed=seed)
    history = learner.learn(steps=STEPS, show_progress=False)
    return history.steps.cumsum(), history.reward


def theirs(task: Task, agent: str, seed: int) -> tuple[Any, Any]:
    """The same of Stable-Baselines3, which plays several copies side by side if it is told to."""
    import stable_baselines3 as sb3
    import torch
    from stable_baselines3.common.env_util import make_vec_env
    from stable_baselines3.common.vec_env import VecNormalize

    torch.set_num_threads(1)
    table = DQN if agent == "DQN" else PPO
    given = dict(table.get(task.name) or (table.get("MiniGrid", {}) if task.grid else {}))
    normalize, n = given.pop("normalize", False), given.pop("n_envs", 1)

    def make() -> Any:
        env = task.make()
        if isinstance(env.observation_space, spaces.Tuple):  # which it does not take
            return FlattenObservation(env)
        if not task.grid:
            return env
        from minigrid.wrappers import ImgObsWrapper

        return FlattenObservation(ImgObsWrapper(env))

    env: Any = make_vec_env(make, n_envs=n, seed=seed)
    env = VecNormalize(env, gamma=given.get("gamma", GAMMA)) if normalize else env
    kind = getattr(sb3, agent)
    model = kind("MlpPolicy", env, seed=seed, **{"gamma": GAMMA, **given})
    ends, returns = [], []

    def note(local: dict[str, Any], _: Any) -> bool:
        for info in local["infos"]:
            if "episode" in info:
                ends.append(model.num_timesteps)
                returns.append(info["episode"]["r"])
        return bool(model.num_timesteps < STEPS)

    model.learn(STEPS, callback=note)
    return np.array(ends), np.array(returns)


AGENTS = {
    **dict.fromkeys(("Optimist", "Q-learning", "count bonus"), ours),
    **dict.fromkeys(("DQN", "PPO"), theirs),
}


def measure(name: str, agent: str, seed: int, folder: str) -> None:
    """One run, kept in a file."""
    file = Path(folder) / f"{name.replace('/', '-')} {agent} {seed}.json"
    if file.exists():
        return
    task = next(task for task in TASKS if task.name == name)
    if task.grid:
        import minigrid

        assert minigrid  # it registers its environments
    started = time.process_time()  # others may use the machine
    ends, returns = AGENTS[agent](task, agent, seed)
    seconds = time.process_time() - started
    fifths = np.minimum(5 * ends // (STEPS + 1), 4)
    means = [float(returns[fifths == i].mean()) if (fifths == i).any() else None for i in range(5)]
    kept = {"task": name, "agent": agent, "seed": seed, "fifths": means, "seconds": seconds}
    file.write_text(json.dumps(kept))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--table", action="store_true", help="print what there is, and run nothing")
    parser.add_argument("--agents", nargs="+", default=list(AGENTS), choices=list(AGENTS))
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    if not given.table:
        runs = [
            (t.name, a, s, str(given.folder))
            for s in range(SEEDS)
            for t in TASKS
            for a in given.agents
        ]
        with ProcessPoolExecutor(given.jobs, mp_context=get_context("spawn")) as pool:
            for run in [pool.submit(measure, *run) for run in runs]:
                run.result()
    kept = [json.loads(file.read_text()) for file in sorted(given.folder.glob("*.json"))]
    print(f"Mean return in the last fifth of {STEPS:,} steps (the worst seed), and CPU seconds:\n")
    print("|", " | ".join(("environment", "seeds", *given.agents)), "|")
    print("|---" * (2 + len(given.agents)) + "|")
    for task in TASKS:
        runs_of = {
            a: [r for r in kept if (r["task"], r["agent"]) == (task.name, a)] for a in given.agents
        }
        least = min(map(len, runs_of.values()))
        cells = [cell([run for run in found if run["seed"] < least]) for found in runs_of.values()]
        print("|", " | ".join((task.name, str(least), *cells)), "|")


def cell(runs: list[dict[str, Any]]) -> str:
    """The mean return of some runs, the worst, and how long they took."""
    last = [run["fifths"][4] for run in runs if run["fifths"][4] is not None]
    seconds = [run["seconds"] for run in runs]
    return f"{np.mean(last):.2f} ({min(last):.2f}), {np.mean(seconds):.0f} s" if last else "-"


if __name__ == "__main__":
    main()
