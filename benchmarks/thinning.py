"""What forgetting costs, in runs with less and less memory: ``python -m benchmarks.thinning``.

Each row is the mean over seeds of the return of an episode, over the run and over its last fifth.
The first memory of a task is never full.
"""

import argparse
import os
from concurrent.futures import ProcessPoolExecutor
from typing import NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import gymnasium
import numpy as np

import optimist as opt
from benchmarks.environments import SETTINGS


class Task(NamedTuple):
    """An environment with its features, a setting, how long it is played, and the memories."""

    id: str
    features: str
    setting: str
    episodes: int
    memories: tuple[float, ...]


TASKS = (
    Task("MountainCar-v0", "rbf:12", "step", 300, (1e9, 2e7, 1e7, 5e6)),
    Task("MountainCar-v0", "rbf:12", "optimist", 300, (1e9, 2e7, 1e7, 5e6)),
    Task("MountainCar-v0", "tiles:40", "optimist", 500, (1e9, 2e5, 1e5)),
    Task("Taxi-v4", "distinct", "optimist", 500, (1e9, 4e5, 3e5, 2e5)),
)


class Row(NamedTuple):
    """What one run has earned, and what it kept."""

    played: float
    late: float
    thinnings: float
    states: float


def run(task: Task, memory: float, seed: int) -> Row:
    """One run."""
    config = SETTINGS[task.setting]
    agent = opt.agents.VariantAgent(
        gymnasium.make(task.id), task.features, config=config, gamma=0.99, seed=seed, memory=memory
    )
    history = agent.learn(task.episodes, show_progress=False)
    thinnings = int((np.diff(history.states) < 0).sum())
    last = task.episodes // 5
    earned = history.mean_return(task.episodes), history.mean_return(last)
    return Row(*earned, thinnings, int(history.states.max()))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="", help="the tasks whose names hold this")
    given = parser.parse_args()
    print("| task | memory, bytes | states at most | thinnings | over the run | last fifth |")
    print("|---" * 6 + "|", flush=True)
    with ProcessPoolExecutor(given.jobs) as pool:
        for task in TASKS:
            name = f"{task.id}, {task.features}, {task.setting}, {task.episodes} episodes"
            if given.only not in name:
                continue
            for memory in task.memories:
                n = given.seeds
                rows = list(pool.map(run, [task] * n, [memory] * n, range(n)))
                mean = Row(*np.mean(rows, axis=0))
                print(
                    f"| {name} | {memory:.0e} | {mean.states:,.0f} | {mean.thinnings:.0f} | "
                    f"{mean.played:.1f} | {mean.late:.1f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
