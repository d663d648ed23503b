"""The runs of `benchmarks.rivals`: a learner on an expert's data in a world, and what it loses."""

import csv
import time
from collections.abc import Iterable
from dataclasses import astuple, dataclass, fields, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed

import optimist as opt
from benchmarks.imitation import over_a_run
from optimist.core.timed import table_in
from optimist.experiments.experts import expert_trajectories, shown_features
from optimist.imitation import IMITATORS, TrajectoryDataset
from optimist.theory import imitation as theory

WORLDS = ("hard ResetCliff", "GridWorld", "LowerTauE")

ONE_VIEW = {"MimicMD": "paths", "Oal": "whole", "MbTail": "paths", "ForwardAIL": "by time",
            "Mobile": "whole"}  # fmt: skip
"""The view of the trajectories that a learner reads; the others can read "whole" and "last"."""

LINES = [
    (name, view)
    for name in IMITATORS
    for view in ([ONE_VIEW[name]] if name in ONE_VIEW else ["whole", "last"])
]

MIXTURES = ("Oal", "OgaIL", "Ilarl", "FraIL")
"""Their theorems are about pi_k with k uniform in 1, ..., K; those of the others about `output`."""

POLICIES = 200
"""How many policies of a mixture are evaluated."""


@dataclass(frozen=True)
class Cell:
    """What is run; K is 0 for learners that play no episodes."""

    world: str
    learner: str
    view: str
    tau_E: int
    K: int
    H: int
    seed: int


class Found(NamedTuple):
    """What came of it."""

    gap: float
    scale: float  # V_E - V_uniform
    episodes: int
    steps: int  # in the world, all roll-ins counted
    seconds: float  # of processor time to learn, once there are data, and before it is judged


COLUMNS = [*(field.name for field in fields(Cell)), *Found._fields]

# A run


def world_of(cell: Cell) -> opt.envs.World:
    """The world of a cell: the hardest one for its tau_E, where there is one."""
    gamma = 1 - 1 / cell.H
    if cell.world == "GridWorld":
        return opt.envs.GridWorld(gamma=gamma)
    if cell.world == "LowerTauE":
        epsilon = theory.hardest_epsilon_tau_E(cell.tau_E, gamma)
        member, special = cell.seed % 2, cell.seed // 2 % 2
        return opt.envs.LowerTauE(member, special=special, epsilon=epsilon, gamma=gamma)
    plain = opt.envs.ResetCliff(seed=cell.seed, gamma=gamma)
    return replace(plain, m=max(cell.tau_E, plain.n - 2))


def learner_of(
    cell: Cell, world: opt.envs.World, data: TrajectoryDataset, config: Any = None
) -> Any:
    """The learner of a cell, with its view of the data."""
    kind: Any = IMITATORS[cell.learner]
    stride = max(1, cell.K // POLICIES) if cell.learner in MIXTURES else 0
    given: dict[str, Any] = {"K": cell.K or None, "seed": cell.seed, "stride": stride}
    if config is not None:
        given["config"] = config
    elif cell.learner == "OgaIL":
        given["table"] = True  # P is no mixture of known kernels
    if kind.sees == "features":
        # Neither the generator of the learner nor that of the expert, [seed, 1].
        rng, phi = np.random.default_rng([cell.seed, 2]), shown_features(world, "states")
        view: Any = cell.view
        return kind(world, data.features(phi, view, rng), **given)
    if cell.learner not in ONE_VIEW:
        given["view"] = cell.view
    return kind(world, data, **given)


def run(
    cell: Cell,
    config: Any = None,
    world: opt.envs.World | None = None,
    length: int | None = None,
) -> tuple[Cell, Found]:
    """Imitate the best policy of a world from trajectories of some length, by default their own."""
    world = world_of(cell) if world is None else world
    mdp, best = world.mdp, world.mdp.optimal()
    trajectories = expert_trajectories(world, cell.tau_E, cell.seed, best.policy, length)
    begin = time.process_time()
    il = learner_of(cell, world, trajectories, config)
    history = il.learn(cell.K, show_progress=False) if cell.K else il.learn()
    seconds = time.process_time() - begin
    if cell.learner in MIXTURES:
        gap = over_a_run(history, best.value - mdp.value(history.policies))
    else:
        gap = best.value - mdp.value(table_in(mdp, il.output))
    scale = best.value - mdp.value(mdp.uniform_policy)
    return cell, Found(gap, scale, cell.K, int(history.steps.sum()), seconds)


# All runs


def read(file: Path | None) -> dict[Cell, Found]:
    """The runs that were finished; a row that was cut off is taken out of the file."""
    if file is None or not file.exists():
        return {}
    text = file.read_text()
    file.write_text(text[: text.rfind("\n") + 1])
    found = {}
    for told in csv.DictReader(file.read_text().splitlines()):
        tau_E, K, H, seed = (int(told[name]) for name in ("tau_E", "K", "H", "seed"))
        cell = Cell(told["world"], told["learner"], told["view"], tau_E, K, H, seed)
        gap, scale, seconds = (float(told[name]) for name in ("gap", "scale", "seconds"))
        found[cell] = Found(gap, scale, int(told["episodes"]), int(told["steps"]), seconds)
    return found


def run_all(cells: Iterable[Cell], file: Path | None, jobs: int) -> dict[Cell, Found]:
    """The results of these cells; new ones are added to the file as they come, seed by seed."""
    found = read(file)
    left = [cell for cell in dict.fromkeys(cells) if cell not in found]
    left.sort(key=lambda cell: cell.seed)
    side_by_side = Parallel(n_jobs=jobs, return_as="generator_unordered")
    for cell, result in side_by_side(delayed(run)(cell) for cell in left):
        found[cell] = result
        keep(cell, result, file)
    return found


def keep(cell: Cell, result: Found, file: Path | None) -> None:
    """Add a run to the file, if there is one."""
    if file is None:
        return
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(",".join(COLUMNS) + "\n")
    with file.open("a") as out:
        csv.writer(out, lineterminator="\n").writerow([*astuple(cell), *result])
