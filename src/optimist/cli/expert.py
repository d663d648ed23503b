"""``optimist expert``: record the features of an expert in a world."""

import math
from pathlib import Path
from typing import Any

from optimist.cli import OK
from optimist.cli.mistakes import check_writable, user_errors
from optimist.cli.studies import print_json
from optimist.core import SoftmaxPolicy, TablePolicy, load_policy, storage
from optimist.envs import World
from optimist.experiments.learners import expert_data, shown_features


def main(given: Any) -> int:
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
    print(
        f"{given.out}: {shown} of {data.dim} features ({given.features}) of {whose} in "
        f"{given.world_name}"
    )
    return OK


def _policy(path: Path, world: World) -> SoftmaxPolicy | TablePolicy:
    """A saved policy, with the features of a linear world if the file does not describe its own."""
    described = storage.read(path)[0].get("features", True)  # a table needs no features
    return load_policy(path, world.features if described is None else None)
