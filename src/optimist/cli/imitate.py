"""``optimist imitate``: learn from an expert's features alone."""

import math
import sys
from dataclasses import field, fields, replace
from typing import Annotated, Any

import tyro

from optimist.cli import OK
from optimist.cli.parse import parse
from optimist.cli.studies import print_json
from optimist.cli.tables import a_console, new_table, percent
from optimist.cli.worlds import (
    answered,
    default_agent,
    file,
    named,
    needed_file,
    option,
    options,
    to_be_written,
)
from optimist.experiments.learners import Shown, shown_features
from optimist.imitation import Ball, Box, FeatureDataset, FraIL, FraILConfig, Simplex, WeightClass
from optimist.stopping import INTERRUPTED


def main(arguments: list[str]) -> int:
    world, rest = named(arguments)
    given = parse(_options(world, default_agent(FraILConfig, rest)), f"imitate {world}", rest)
    to_be_written(given.policy, given.output)
    with answered():
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
    table = new_table(f"FRA-IL in {world}, {il.episodes:,} episodes", "what", numbers=("it is",))
    for what, number in rows(found):
        table.add_row(what, number)
    console = a_console()
    console.print(table)
    console.print(
        "lost: by how much the policies fall short of the best, by exact values and the world's\n"
        "own rewards, which the learner never sees; matching error: the distance between the\n"
        "feature expectations of learner and expert, exactly or from one draw an episode"
    )
    return code


def imitator(given: Any) -> FraIL:
    """The learner of a command line, before its first episode."""
    expert = FeatureDataset.load(given.expert)
    phi_r = shown_features(given.world, given.features)
    if expert.dim != phi_r.dim:
        raise ValueError(
            f"{given.expert} has {expert.dim} features a row, and this world has {phi_r.dim} "
            f"{given.features}: are --world.* and --features as they were for the expert?"
        )
    config = given.agent
    if given.weights is not None:
        if config.weights != FraILConfig().weights:
            raise ValueError("give either --weights or --agent.weights.radius, not both")
        config = replace(config, weights=weights_named(given.weights))
    stride = max(1, given.episodes // 400)
    return FraIL(given.world, expert, phi_r, given.world.features, config, None, given.seed, stride)


def weights_named(text: str) -> WeightClass:
    """A class of weights by its name and numbers.

    Examples
    --------
    >>> weights_named("box:-1:1"), weights_named("simplex")
    (Box(low=-1.0, high=1.0), Simplex(total=1.0))
    """
    kinds: dict[str, Any] = {"ball": Ball, "box": Box, "simplex": Simplex}
    name, *numbers = text.split(":")
    if name not in kinds or len(numbers) > len(fields(kinds[name])):
        raise ValueError(f"weights = {text!r} is none of ball:RADIUS, box:LOW:HIGH, simplex:SUM")
    made: WeightClass = kinds[name](*map(float, numbers))
    return made


def _learn(il: FraIL, episodes: int) -> int:
    """Learn; if that is interrupted, go on with what was learnt. The exit code."""
    try:
        il.learn(episodes)
    except KeyboardInterrupt:
        if not il.episodes:
            raise
        print(f"interrupted after {il.episodes:,} episodes", file=sys.stderr)
        return INTERRUPTED
    return OK


def outcome(il: FraIL, mdp: Any) -> dict[str, Any]:
    """What came of an imitation, as data."""
    history, best = il.history, mdp.optimal()
    late = len(history.evaluated) // 4 or 1
    lost = (best.value - mdp.value(history.policies)) / (best.value or 1.0)
    mixture = history.feature_expectations[-late:].mean(axis=0)
    return {
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
    """The same as texts."""
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


def _options(world: str, chosen: FraILConfig) -> type[Any]:
    weights = tyro.conf.arg(
        metavar="CLASS",
        help="the class of reward weights: ball:RADIUS, box:LOW:HIGH or simplex:SUM",
        help_behavior_hint="(default: the ball of --agent.weights.radius)",
    )
    return options(
        f"Imitate an expert of {world} from its features alone, with FRA-IL.",
        world,
        needed_file("expert", "the expert's features: .parquet, .npz or .csv"),
        option("episodes", int, 2000, "how many episodes are played"),
        option("seed", int, 0, "seeds the run"),
        option(
            "features",
            Shown,
            "states",
            "what the data show of a pair: its state, both, or features of a linear world",
        ),
        (
            "weights",
            Annotated[str | None, weights],
            field(default=None),
        ),
        file("policy", "FILE", "the last policy"),
        file("output", "FILE", "the paper's output: one policy of all, drawn uniformly"),
        option("json", bool, False, "print the numbers as JSON"),
        agent=chosen,
    )
