"""``optimist expert``: record what an expert shows of a world."""

import math
from dataclasses import field
from pathlib import Path
from typing import Annotated, Any

import tyro

from optimist.cli import OK
from optimist.cli.parse import parse
from optimist.cli.studies import print_json
from optimist.cli.worlds import answered, named, needed_file, option, options, to_be_written
from optimist.core import SoftmaxPolicy, TablePolicy, load_policy, storage
from optimist.envs import World
from optimist.experiments.learners import Shown, expert_data, shown_features


def main(arguments: list[str]) -> int:
    world, rest = named(arguments)
    given = parse(_options(world), f"expert {world}", rest)
    phi_r = shown_features(given.world, given.features)
    to_be_written(given.out)
    with answered():
        policy = None if given.policy is None else _policy(given.policy, given.world)
        data = expert_data(given.world, phi_r, given.samples, given.seed, policy)
        data.save(given.out)
    if given.json:
        size = None if math.isinf(data.size) else data.size
        print_json({"out": str(given.out), "samples": size, "dimension": data.dim})
        return OK
    whose = "an optimal policy" if given.policy is None else f"the policy in {given.policy}"
    shown = "the exact mean" if math.isinf(data.size) else f"{data.size:,} samples"
    print(f"{given.out}: {shown} of {data.dim} features ({given.features}) of {whose} in {world}")
    return OK


def _policy(path: Path, world: World) -> SoftmaxPolicy | TablePolicy:
    """A policy of this world; one that was learnt with features has those in which it is linear."""
    described = storage.read(path)[0].get("features", True)  # a table has none and needs none
    return load_policy(path, world.features if described is None else None)


def _options(world: str) -> type[Any]:
    path = tyro.conf.arg(
        metavar="FILE", help="the expert's policy", help_behavior_hint="(default: an optimal one)"
    )
    return options(
        f"Record the features that an expert shows in {world}: no actions, no rewards.",
        world,
        needed_file("out", "the data: .parquet, .npz or .csv"),
        ("policy", Annotated[Path | None, path], field(default=None)),
        option("samples", float, 1000, "how many, or inf for their exact mean (not in .csv)"),
        option(
            "features",
            Shown,
            "states",
            "what is shown of a pair: its state, both, or features in which the world is linear",
        ),
        option("seed", int, 0, "another number gives other samples"),
        option("json", bool, False, "print what was written as JSON"),
    )
