"""``optimist expert``: record the features of an expert in a world."""

import math
from dataclasses import field
from pathlib import Path
from typing import Annotated, Any

import tyro

from optimist.cli import OK
from optimist.cli.parse import parse
from optimist.cli.studies import print_json
from optimist.cli.worlds import check_writable, named, needed_file, option, options, user_errors
from optimist.core import SoftmaxPolicy, TablePolicy, load_policy, storage
from optimist.envs import World
from optimist.experiments.learners import Shown, expert_data, shown_features


def main(arguments: list[str]) -> int:
    world, rest = named(arguments)
    given = parse(_options(world), f"expert {world}", rest)
    phi_r = shown_features(given.world, given.features)
    check_writable(given.out)
    with user_errors():
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
    """A saved policy, with the features of a linear world if the file does not describe its own."""
    described = storage.read(path)[0].get("features", True)  # a table needs no features
    return load_policy(path, world.features if described is None else None)


def _options(world: str) -> type[Any]:
    path = tyro.conf.arg(
        metavar="FILE", help="the expert's policy", help_behavior_hint="(default: an optimal one)"
    )
    return options(
        f"Record features of an expert in {world}, without actions or rewards.",
        world,
        needed_file("out", "output file: .parquet, .npz or .csv"),
        ("policy", Annotated[Path | None, path], field(default=None)),
        option("samples", float, 1000, "number of samples; inf for their exact mean (not in .csv)"),
        option(
            "features",
            Shown,
            "states",
            "features of a pair: its state, both, or those in which the world is linear",
        ),
        option("seed", int, 0, "seed of the samples"),
        option("json", bool, False, "print a summary as JSON"),
    )
