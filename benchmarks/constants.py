"""How the default hangs on its constants: ``python -m benchmarks.constants runs/exploration``.

The folder is that of the exploration study, whose peers are the yardstick. Each line is the default
with one constant changed, in the worlds that are not held out: the geometric mean of the ratios to
the best setting of any peer in each world, chosen in hindsight; how many worlds are within 1.2
times of it; and the largest ratio. A quarter of an hour on two cores.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from joblib import Parallel, delayed

import optimist as opt
from benchmarks.exploration import losses
from optimist.core import VarianceBonus, Variant
from optimist.experiments import open_results

SEEDS = 10


def settings() -> Iterator[tuple[str, Variant]]:
    """The default, and what is close to it."""
    default = opt.Optimist.Config().variant()
    yield "the default", default
    for c in (0.0, 0.05, 0.5):
        yield f"c {c:g}", replace(default, bonus=VarianceBonus(c))
    for eta in (3.0, 30.0):
        yield f"eta {eta:g}", replace(default, eta=eta)
    for updates in (30, 300):
        yield f"updates {updates}", replace(default, updates=updates)


def lost(world: opt.envs.World, episodes: int, config: Variant, seed: int) -> float:
    """The average suboptimality over a run as a fraction of the optimum."""
    agent = opt.agents.VariantAgent(world, config=config, seed=seed, stride=max(1, episodes // 400))
    history = agent.learn(episodes, show_progress=False)
    return float(history.regrets().mean() / world.mdp.optimal().value)


def main() -> None:
    """Print the table."""
    results = open_results(sys.argv[1])
    study, mean = results.study, losses(results).mean
    own = list(study.agents).index(study.subject or "")
    best = np.delete(mean, own, axis=1).min(axis=1)
    kept = [(i, name) for i, name in enumerate(study.worlds) if name not in study.held_out]
    print("| | geometric mean | within 1.2 | at most |\n|---|---|---|---|")
    for name, config in settings():
        cells = [
            delayed(lost)(study.worlds[world], study.lengths[world], config, seed)
            for _, world in kept
            for seed in range(SEEDS)
        ]
        found = np.reshape(Parallel(n_jobs=-1, max_nbytes=None)(cells), (len(kept), SEEDS)).mean(
            axis=1
        )
        ratios = found / best[[i for i, _ in kept]]
        print(
            f"| {name} | {np.exp(np.log(ratios).mean()):.2f} | {(ratios <= 1.2).sum()} of "
            f"{len(kept)} | {ratios.max():.1f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
