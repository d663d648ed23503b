"""How the fixed-bonus algorithm does with one setting for all worlds, and how it hangs on beta.

Ten seeds a cell; every number is an average suboptimality, as a fraction of the optimal value, by
exact values of the policies played: over the run, and in brackets over its last tenth. It prints
the tables of docs/results/exploration.md: ``python -m benchmarks.defaults``.
"""

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # read when BLAS is loaded, so before NumPy is imported

import numpy as np
from joblib import Parallel, delayed

import optimist as opt
from optimist.envs import World

SEEDS = 10
WORLDS: dict[str, tuple[World, int]] = {
    "RiverSwim 6, .99": (opt.envs.RiverSwim(6, gamma=0.99), 2000),
    "RiverSwim 20, .99": (opt.envs.RiverSwim(20, gamma=0.99), 3000),
    "DeepSea 10, .99": (opt.envs.DeepSea(10, gamma=0.99), 2000),
    "FourRooms, .97": (opt.envs.FourRooms(), 2000),
    "RandomLinear 20, .9": (opt.envs.RandomLinear(20, 200, 5, gamma=0.9), 1000),
    "GridWorld 5 x 5, .9": (opt.envs.GridWorld(), 2000),
    "SixArms, .95": (opt.envs.SixArms(), 3000),
    "CombinationLock 6, .95": (opt.envs.CombinationLock(), 2000),
}
BETAS = (0.1, 0.2, 0.3, 0.5, 1.0, 2.0)
UPDATES = (1, 3, 10)


def loss(name: str, beta: float, updates: int, seed: int) -> tuple[float, float]:
    """Average suboptimality over a run, and over its last tenth."""
    world, episodes = WORLDS[name]
    config = opt.RmaxRaviUcb.Config(beta=beta, updates=updates).variant()
    agent = opt.agents.VariantAgent(world, config=config, seed=seed, stride=max(1, episodes // 200))
    regrets = agent.learn(episodes).regrets() / world.mdp.optimal().value
    return float(regrets.mean()), float(regrets[-len(regrets) // 10 :].mean())


def main() -> None:
    """Print the sensitivity, a table a world."""
    cells = [(n, b, u) for n in WORLDS for b in BETAS for u in UPDATES]
    jobs = [delayed(loss)(*cell, seed) for cell in cells for seed in range(SEEDS)]
    results = np.array(Parallel(n_jobs=-1)(jobs)).reshape(len(cells), SEEDS, 2).mean(axis=1)
    for updates in UPDATES:
        print(f"\n### {updates} update{'s' if updates > 1 else ''} an episode\n")
        print("| world | K | uniform |", " | ".join(f"beta {b}" for b in BETAS), "|")
        print("|---" * (3 + len(BETAS)) + "|")
        for name, (world, episodes) in WORLDS.items():
            mdp = world.mdp
            uniform = mdp.suboptimality(mdp.uniform_policy) / mdp.optimal().value
            found = [results[cells.index((name, b, updates))] for b in BETAS]
            numbers = " | ".join(f"{max(m, 0):.3f} ({max(e, 0):.3f})" for m, e in found)
            print(f"| {name} | {episodes:,} | {uniform:.2f} | {numbers} |")


if __name__ == "__main__":
    main()
