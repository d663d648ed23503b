"""MCE-IRL of the `imitation` library on the cells of `benchmarks.rivals`, by another Python."""

import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.rival_panels import Sizes
from benchmarks.rival_runs import WORLDS, Cell, Found, keep, read, world_of
from optimist.core.timed import TimedPolicy, table_in
from optimist.experiments.experts import expert_trajectories

PEER = "MCE-IRL"


def add_peer(python: str, sizes: Sizes, seeds: int, file: Path | None) -> None:
    """Make the peer's runs over tau_E that are not in the file, and show the mean gaps."""
    known = read(file)
    for world in WORLDS:
        sized = sizes.in_world(world)
        points = [
            [sized.cell("tau_E", x, world, PEER, "whole", seed) for seed in range(seeds)]
            for x in sized.taus
        ]
        left = [cell for point in points for cell in point if cell not in known]
        if left:
            for cell, result in zip(left, run_peer(python, left), strict=True):
                known[cell] = result
                keep(cell, result, file)
        shares = [np.mean([known[c].gap / known[c].scale for c in point]) for point in points]
        print(f"{PEER} in {world}: " + ", ".join(f"{share:.3f}" for share in shares))


def run_peer(python: str, cells: list[Cell]) -> list[Found]:
    """What the peer's policies lose; all cells are of one discount factor."""
    mdps = [world_of(cell).mdp for cell in cells]
    targets = [
        expert_trajectories(world_of(cell), cell.tau_E, cell.seed).state_occupancy(mdp.n_states)
        for cell, mdp in zip(cells, mdps, strict=True)
    ]
    with tempfile.TemporaryDirectory() as folder:
        file, found = Path(folder) / "mdps.npz", Path(folder) / "policies.npz"
        np.savez(
            file,
            P=[np.asarray(mdp.P) for mdp in mdps],
            nu0=[mdp.nu0 for mdp in mdps],
            targets=targets,
            gamma=mdps[0].gamma,
        )
        script = Path(__file__).parent / "peers" / "mce_irl.py"
        done = subprocess.run(
            [python, script, file, found], capture_output=True, text=True, check=True
        )
        policies = np.load(found)["pi"]
    seconds = json.loads(done.stdout.splitlines()[-1])["seconds"]
    results = []
    for mdp, pi in zip(mdps, policies, strict=True):
        best = mdp.optimal().value
        gap = best - mdp.value(table_in(mdp, TimedPolicy(pi)))
        results.append(Found(gap, best - mdp.value(mdp.uniform_policy), 0, 0, seconds))
    return results
