"""The default, untuned, against the best of its peers in hindsight, world by world.

It reads the folder of the exploration study, ``optimist sweep exploration --out runs/exploration``
(about an hour on two cores), and prints the tables of docs/defaults.md from the seeds that all
runs have finished: ``python -m benchmarks.exploration runs/exploration``.
"""

import sys
from typing import NamedTuple

import numpy as np

from optimist.checks import FloatArray
from optimist.experiments import Results, open_results

WITHIN = (1.2, 1.5, 2.0)


class Losses(NamedTuple):
    """The average suboptimality over a run as a fraction of the optimum, its mean over seeds."""

    mean: FloatArray  # [worlds, agents]
    seeds: int


def losses(results: Results) -> Losses:
    """The losses of all agents in all worlds, over the seeds that none of them lacks."""
    study, found = results.study, {}
    for run in results.finished:
        measured = results.folder.of(run).read_json("result.json")
        lost = measured["average_suboptimality"] / measured["optimal"]
        found[run.index, run.world, run.agent] = lost
    cells = [(world, agent) for world in study.worlds for agent in study.agents]
    seeds = [i for i in study.numbers if all((i, *cell) in found for cell in cells)]
    mean = np.array([np.mean([found[i, *cell] for i in seeds]) for cell in cells])
    return Losses(mean.reshape(len(study.worlds), len(study.agents)), len(seeds))


def said(ratios: FloatArray) -> str:
    """How often and how far a setting is from the best of the peers."""
    counts = ", ".join(f"within {w:g}: {int((ratios <= w).sum())}" for w in WITHIN)
    return f"{np.exp(np.log(ratios).mean()):.2f} times, {counts}, at most {ratios.max():.1f}"


def main() -> None:
    """Print the sentences and the table."""
    results = open_results(sys.argv[1])
    study, lost = results.study, losses(results)
    agents, worlds = list(study.agents), list(study.worlds)
    own = agents.index(study.subject or agents[0])
    peers = [k for k in range(len(agents)) if k != own]
    best = lost.mean[:, peers].min(axis=1)
    ratios = lost.mean / best[:, None]
    held = np.array([world in study.held_out for world in worlds])
    print(f"{lost.seeds} seeds, {len(worlds)} worlds, {len(peers)} settings of peers\n")
    print(f"- {agents[own]}: {said(ratios[:, own])}")
    print(f"- held out: {said(ratios[held, own])} of {held.sum()}")
    usual = sorted(peers, key=lambda k: float(np.log(ratios[:, k]).mean()))
    for k in usual[:3]:
        print(f"- {agents[k]} everywhere: {said(ratios[:, k])}")
    print(
        "\n| world | episodes | default | best peer in hindsight | | ratio |\n" + "|---" * 6 + "|"
    )
    for i, world in enumerate(worlds):
        name = f"{world} (held out)" if held[i] else world
        peer = agents[peers[int(lost.mean[i, peers].argmin())]]
        ratio = f"{ratios[i, own]:.2f}"
        shown = f"**{ratio}**" if ratios[i, own] <= WITHIN[0] else ratio
        print(
            f"| {name} | {study.lengths[world]:,} | {lost.mean[i, own]:.4f} | {best[i]:.4f} "
            f"| {peer} | {shown} |"
        )


if __name__ == "__main__":
    main()
