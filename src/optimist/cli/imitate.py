"""``optimist imitate``: imitate an expert, by FRA-IL or by another imitator."""

import math
import sys
from typing import Any

from optimist.cli import OK, rivals
from optimist.cli.flags import FRA_IL
from optimist.cli.mistakes import check_writable, user_errors
from optimist.cli.studies import print_json
from optimist.cli.tables import a_console, new_table, percent, show_agents
from optimist.experiments.experts import shown_features
from optimist.features import FeatureMap
from optimist.imitation import FeatureDataset, FraIL, TrajectoryDataset
from optimist.imitation.trajectory_files import holds_trajectories
from optimist.parameters import to_plain
from optimist.stopping import INTERRUPTED


def main(given: Any) -> int:
    check_writable(given.policy, given.output)
    if given.learner != FRA_IL:
        return rivals.main(given)
    with user_errors():
        il = imitator(given)
        code = _learn(il, given.episodes)
        if given.policy is not None:
            il.policy.save(given.policy)
        if given.output is not None:
            il.output.save(given.output)
    found = outcome(il, given.world.mdp)
    if given.json:
        print_json(found)
        return code
    title = f"FRA-IL in {given.world_name}, {il.episodes:,} episodes"
    table = new_table(title, "what", numbers=("it is",))
    for what, number in rows(found):
        table.add_row(what, number)
    console = a_console()
    console.print(table)
    console.print(
        "lost: suboptimality of the policies in percent of the optimal value, by the\n"
        "world's own rewards, which the learner never sees; matching error: the distance\n"
        "between the feature expectations of learner and expert, exact, or estimated\n"
        "from one draw per episode"
    )
    show_agents(found["agents"])
    return code


def imitator(given: Any) -> FraIL:
    """The imitator of a command line, before its first episode."""
    phi_r = shown_features(given.world, given.features)
    expert = expert_features(given, phi_r)
    if expert.dim != phi_r.dim:
        raise ValueError(
            f"{given.expert} must have {phi_r.dim} features a row, the {given.features} of this "
            f"world; got {expert.dim}. Give --world.* and --features as for the expert"
        )
    how: Any = {"seed": given.seed, "stride": max(1, given.episodes // 400)}
    return FraIL(given.world, expert, phi_r, given.world.features, config=given.config, **how)


def expert_features(given: Any, phi_r: FeatureMap) -> FeatureDataset:
    """The features of the expert in a file, which may hold trajectories."""
    if given.states is None and not holds_trajectories(given.expert):
        return FeatureDataset.load(given.expert)
    columns = None if given.states is None else given.states.split(",")
    data = TrajectoryDataset.load(given.expert, columns)
    try:
        if data.actions is None and given.features != "states":
            raise ValueError(f"--features {given.features} needs actions; states does not")
        return data.in_world(given.world).features(phi_r)
    except ValueError as error:
        raise ValueError(
            f"{given.expert} holds {data.contents}, which FRA-IL cannot use here: {error}"
        ) from None


def _learn(il: FraIL, episodes: int) -> int:
    """Learn until the end or an interruption; the exit code."""
    try:
        il.learn(episodes)
    except KeyboardInterrupt:
        if not il.episodes:
            raise
        print(f"interrupted after {il.episodes:,} episodes", file=sys.stderr)
        return INTERRUPTED
    return OK


def outcome(il: FraIL, mdp: Any) -> dict[str, Any]:
    """The results as data."""
    history, best = il.history, mdp.optimal()
    late = len(history.evaluated) // 4 or 1
    lost = (best.value - mdp.value(history.policies)) / (best.value or 1.0)
    mixture = history.feature_expectations[-late:].mean(axis=0)
    return {
        "agents": {"FraIL": {"agent": "FraIL", **to_plain(il.config)}},
        "episodes": il.episodes,
        "steps": il.steps,
        "samples": None if math.isinf(il.expert.size) else il.expert.size,
        "dimension": il.expert.dim,
        "W_max": il.W_max,
        "R_max": il.R_max,
        "shift": il.shift,
        "eta_r": il.eta_r,
        "lost_first": float(lost[:late].mean()),
        "lost_last": float(lost[-late:].mean()),
        "matching_error": float(((mixture - il.expert.mean) ** 2).sum() ** 0.5),
        "reward_weights": il.reward_weights.tolist(),
        "estimated_matching_error": history.estimated_matching_error(max(1, il.episodes // 4)),
    }


def rows(found: dict[str, Any]) -> list[tuple[str, str]]:
    """The rows of the table of results."""
    samples = "its exact mean" if found["samples"] is None else f"{found['samples']:,} samples"
    return [
        ("the expert's features", f"{found['dimension']:,}, {samples}"),
        ("W_max, R_max, shift", "{W_max:.4g}, {R_max:.4g}, {shift:.4g}".format(**found)),
        ("step of the reward player", f"{found['eta_r']:.4g}"),
        ("lost in the first quarter", percent(found["lost_first"])),
        ("lost in the last quarter", percent(found["lost_last"])),
        ("matching error of the last quarter", f"{found['matching_error']:.4f}"),
        ("the same, estimated", f"{found['estimated_matching_error']:.4f}"),
    ]
