"""The default, untuned, against the best of its peers in hindsight, world by world.

It reads the folder of the exploration study, ``optimist sweep exploration --out runs/exploration``
(about an hour on two cores), and prints the tables of docs/results/exploration.md from the seeds
that all runs have finished: ``python -m benchmarks.exploration runs/exploration``.
"""

import sys
from typing import NamedTuple

import numpy as np

from optimist.checks import FloatArray
from optimist.experiments import Results, open_results
from optimist.experiments.statistics import mean_band

WITHIN = (1.2, 1.5, 2.0)
FLOOR = 0.002
"""Added to both losses of a ratio: where all is learnt in three episodes it would say nothing."""

DRAWS = 1000


class PairedRatio(NamedTuple):
    """Losses as multiples of others, with `FLOOR` added to both."""

    worlds: FloatArray  # [worlds]
    mean: float  # geometric, over worlds
    low: float  # 95%, by a bootstrap over pairs of equal seeds
    high: float


def paired_ratio(losses: FloatArray, others: FloatArray) -> PairedRatio:
    """Compare losses [worlds, seeds] with others of the same seeds."""
    seeds = losses.shape[1]
    picks = np.random.default_rng(0).integers(seeds, size=(DRAWS, seeds))
    worlds = (losses.mean(axis=1) + FLOOR) / (others.mean(axis=1) + FLOOR)
    drawn = (losses[:, picks].mean(axis=2) + FLOOR) / (others[:, picks].mean(axis=2) + FLOOR)
    low, high = np.quantile(np.exp(np.log(drawn).mean(axis=0)), [0.025, 0.975])
    return PairedRatio(worlds, float(np.exp(np.log(worlds).mean())), float(low), float(high))


def losses(results: Results) -> FloatArray:
    """Average suboptimality of runs as a fraction of the optimum, [worlds, agents, seeds].

    Only the seeds that no world and agent lacks.
    """
    study, found = results.study, {}
    for run in results.finished:
        measured = results.folder.of(run).read_json("result.json")
        lost = measured["average_suboptimality"] / measured["optimal"]
        found[run.index, run.world, run.agent] = lost
    cells = [(world, agent) for world in study.worlds for agent in study.agents]
    seeds = [i for i in study.numbers if all((i, *cell) in found for cell in cells)]
    every = np.array([[found[i, *cell] for i in seeds] for cell in cells])
    return every.reshape(len(study.worlds), len(study.agents), len(seeds))


def said(ratios: FloatArray) -> str:
    """How often and how far a setting is from the best of the peers."""
    counts = ", ".join(f"within {w:g}: {int((ratios <= w).sum())}" for w in WITHIN)
    return f"{np.exp(np.log(ratios).mean()):.2f} times, {counts}, at most {ratios.max():.1f}"


def main() -> None:
    """Print the sentences and the tables."""
    results = open_results(sys.argv[1])
    study, lost = results.study, losses(results)
    agents, worlds = list(study.agents), list(study.worlds)
    own = agents.index(study.subject or agents[0])
    peers = [k for k in range(len(agents)) if k != own]
    mean = lost.mean(axis=2)
    chosen = np.array(peers)[mean[:, peers].argmin(axis=1)]  # the best peer of each world
    best = lost[np.arange(len(worlds)), chosen]
    ratios = mean / best.mean(axis=1)[:, None]
    held = np.array([world in study.held_out for world in worlds])
    paired = paired_ratio(lost[:, own], best)
    print(f"{lost.shape[2]} seeds, {len(worlds)} worlds, {len(peers)} settings of peers\n")
    print(f"- {agents[own]}: {said(ratios[:, own])}")
    print(f"- held out: {said(ratios[held, own])} of {held.sum()}")
    print(f"- with the floor: {said(paired.worlds)}; 95%: {paired.low:.2f} - {paired.high:.2f}")
    print("\n| one setting everywhere | ratio to the best | default as a multiple of it | 95% |")
    print("|---" * 4 + "|")
    for k in sorted(peers, key=lambda k: float(np.log(ratios[:, k]).mean())):
        one = paired_ratio(lost[:, own], lost[:, k])
        off = np.exp(np.log(ratios[:, k]).mean())
        print(f"| {agents[k]} | {off:.2f} | {one.mean:.2f} | {one.low:.2f} - {one.high:.2f} |")
    columns = "world", "episodes", "default", "best peer in hindsight", "", "ratio", "floor"
    print("\n| " + " | ".join([*columns, "difference, 95%"]) + " |\n" + "|---" * 8 + "|")
    band = mean_band((lost[:, own] - best).T, np.random.default_rng(0))
    for i, world in enumerate(worlds):
        name = f"{world} (held out)" if held[i] else world
        print(
            f"| {name} | {study.lengths[world]:,} | {mean[i, own]:.4f} | {best[i].mean():.4f} | "
            f"{agents[chosen[i]]} | {ratios[i, own]:.2f} | {paired.worlds[i]:.2f} | "
            f"{band.low[i]:+.4f} to {band.high[i]:+.4f} |"
        )


if __name__ == "__main__":
    main()
