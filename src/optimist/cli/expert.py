"""``optimist expert``: record the features or the trajectories of an expert in a world."""

import math
from pathlib import Path
from typing import Any

from optimist.cli import OK
from optimist.cli.mistakes import check_writable, user_errors
from optimist.cli.studies import print_json
from optimist.core import SoftmaxPolicy, TablePolicy, load_policy, storage
from optimist.envs import World
from optimist.experiments.experts import expert_data, expert_trajectories, shown_features

SAMPLES = 1000
"""How many samples are drawn by default."""


def main(given: Any) -> int:
    check_writable(given.out)
    with user_errors():
        _check_flags(given)
        policy = None if given.policy is None else _policy(given.policy, given.world)
        if given.trajectories is None:
            shown, found = _record_features(given, policy)
        else:
            shown, found = _record_trajectories(given, policy)
    if given.json:
        print_json({"out": str(given.out), **found})
        return OK
    whose = "an optimal policy" if given.policy is None else f"the policy in {given.policy}"
    print(f"{given.out}: {shown} of {whose} in {given.world_name}")
    return OK


def _check_flags(given: Any) -> None:
    """Refuse flags of samples with those of trajectories."""
    if given.trajectories is not None and given.samples is not None:
        raise ValueError("--samples and --trajectories must not be given together")
    if given.trajectories is None and (given.length is not None or given.states_only):
        raise ValueError("--length and --states-only need --trajectories")


def _record_features(given: Any, policy: Any) -> tuple[str, dict[str, Any]]:
    """Record and save features; what they are in words, and as data."""
    samples = SAMPLES if given.samples is None else given.samples
    phi_r = shown_features(given.world, given.features)
    data = expert_data(given.world, phi_r, samples, given.seed, policy)
    data.save(given.out)
    exact = math.isinf(data.size)
    shown = "the exact mean" if exact else f"{data.size:,} samples"
    found = {"samples": None if exact else data.size, "dimension": data.dim}
    return f"{shown} of {data.dim} features ({given.features})", found


def _record_trajectories(given: Any, policy: Any) -> tuple[str, dict[str, Any]]:
    """Record and save trajectories; what they are in words, and as data."""
    data = expert_trajectories(
        *(given.world, given.trajectories, given.seed, policy, given.length, not given.states_only)
    )
    data.save(given.out)
    found = {"trajectories": len(data), "length": int(data.lengths[0])}
    return data.contents, {**found, "actions": data.actions is not None}


def _policy(path: Path, world: World) -> SoftmaxPolicy | TablePolicy:
    """A saved policy, with the features of a linear world if the file does not describe its own."""
    described = storage.read(path)[0].get("features", True)  # a table needs no features
    return load_policy(path, world.features if described is None else None)
