"""Does `Optimist` settle for less? The share of seeds that end more than 5% below the optimum.

Every world of the exploration study, and LowerK at a fixed epsilon, at 1, 10 and 100 times the
episodes of the study. A run ends below the optimum by the mean loss of the policies that it played
in its last tenth. Finished runs are kept in FOLDER, and the table is printed from it:
``python -m benchmarks.consistency FOLDER --times 1 10 --seeds 30``, a quarter of an hour on two
cores; 100 times the episodes take hours.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import json
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

import optimist as opt
from optimist.experiments import Study, shipped_studies

BELOW = 0.05
POLICIES = 400
"""How many policies of a run are evaluated."""

SPECIAL = {f"LowerK, a* = {a}": opt.envs.LowerK(special=a, epsilon=0.05) for a in range(4)}
SPECIAL_EPISODES = 3000


def worlds() -> dict[str, tuple[opt.envs.World, int]]:
    """Each world, and its episodes in the study."""
    study = Study.parse(shipped_studies()["exploration"])
    found = {name: (study.worlds[name], study.lengths[name]) for name in study.worlds}
    return {**found, **{name: (world, SPECIAL_EPISODES) for name, world in SPECIAL.items()}}


def losses(
    world: opt.envs.World, episodes: int, seed: int, value_bound: float | None = None
) -> tuple[float, float]:
    """The loss over a run, and over its last tenth, as fractions of the optimum."""
    stride = max(1, episodes // POLICIES)
    agent = opt.Optimist(world, seed=seed, stride=stride, value_bound=value_bound)
    history = agent.learn(episodes, show_progress=False)
    lost = history.regrets() / world.mdp.optimal().value
    return float(lost.mean()), float(lost[-max(1, len(lost) // 10) :].mean())


def keep(file: Path, world: opt.envs.World, episodes: int, seed: int) -> None:
    """A run, if it was not finished before."""
    if not file.exists():
        file.write_text(json.dumps(losses(world, episodes, seed)))


def main() -> None:
    """Make the runs and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--times", type=int, nargs="+", default=[1, 10])
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--only", default="", help="worlds whose name holds this")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    chosen = {name: told for name, told in worlds().items() if given.only in name}

    def file(name: str, times: int, seed: int) -> Path:
        return Path(given.folder, f"{name} x{times} {seed}.json")

    Parallel(n_jobs=-1, max_nbytes=None)(
        delayed(keep)(file(name, times, seed), world, times * episodes, seed)
        for times in given.times
        for name, (world, episodes) in chosen.items()
        for seed in range(given.seeds)
    )
    print("| world | " + " | ".join(f"x{times}" for times in given.times) + " |")
    print("|---" * (1 + len(given.times)) + "|")
    for name in chosen:
        cells = []
        for times in given.times:
            found = [json.loads(file(name, times, i).read_text()) for i in range(given.seeds)]
            mean, end = np.array(found).T
            stuck = int((end > BELOW).sum())
            cells.append(f"{stuck} of {given.seeds}, {end.max():.3f} ({mean.mean():.4f})")
        print(f"| {name} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
