"""``optimist imitate``: learn from an expert's features alone."""

import math
from typing import Any, Literal

from optimist.cli import OK
from optimist.cli.parse import parse
from optimist.cli.studies import print_json
from optimist.cli.tables import a_console, new_table, percent
from optimist.cli.worlds import answered, file, named, needed_file, option, options
from optimist.experiments.learners import shown_features
from optimist.imitation import FeatureDataset, FraIL, FraILConfig


def main(arguments: list[str]) -> int:
    world, rest = named(arguments)
    given = parse(_options(world), f"imitate {world}", rest)
    with answered():
        expert = FeatureDataset.load(given.expert)
        phi_r = shown_features(given.world, given.features)
        stride = max(1, given.episodes // 400)
        il = FraIL(given.world, expert, phi_r, config=given.agent, seed=given.seed, stride=stride)
        il.learn(given.episodes)
    if given.policy is not None:
        il.policy.save(given.policy)
    found = outcome(il, given.world.mdp)
    if given.json:
        print_json(found)
        return OK
    table = new_table(f"FRA-IL in {world}, {il.episodes:,} episodes", "what", numbers=("it is",))
    for what, number in rows(found):
        table.add_row(what, number)
    console = a_console()
    console.print(table)
    console.print(
        "lost: by how much the policies fall short of the best, by exact values and the world's\n"
        "own rewards, which the learner never sees; matching error: the distance between the\n"
        "feature expectations of learner and expert, exactly or from one draw an episode",
        highlight=False,
    )
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


def _options(world: str) -> type[Any]:
    return options(
        f"Imitate an expert of {world} from its features alone, with FRA-IL.",
        world,
        needed_file("expert", "the expert's features: .parquet, .npz or .csv"),
        option("episodes", int, 2000, "how many episodes are played"),
        option("seed", int, 0, "seeds the run"),
        option(
            "features",
            Literal["states", "pairs", "linear"],
            "states",
            "what the data show of a pair: its state, both, or features of a linear world",
        ),
        file("policy", "FILE", "the last policy"),
        option("json", bool, False, "print the numbers as JSON"),
        agent=FraILConfig(),
    )
