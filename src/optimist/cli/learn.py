"""``optimist learn``: learn one world with one agent."""

import sys
from dataclasses import field
from typing import Any

from optimist.cli import OK, SOME_FAILED, gym
from optimist.cli.flags import Workers, WorkersFlags
from optimist.cli.parse import parse
from optimist.cli.studies import carry_out, outcome, print_json
from optimist.cli.tables import show_failures, show_results
from optimist.cli.worlds import (
    check_writable,
    choice,
    file,
    named,
    option,
    options,
    user_errors,
    with_parts,
)
from optimist.core import storage
from optimist.experiments import Study
from optimist.experiments.learners import CONFIGS, LEARNERS
from optimist.stopping import INTERRUPTED

AGENT = "Optimist"


def main(arguments: list[str]) -> int:
    world, rest = gym.named(arguments) if gym.is_one(arguments[0]) else named(arguments)
    agent, rest = choice("agent", rest, LEARNERS.names, AGENT)
    given = parse(_options(world, agent), f"learn {world} --agent {agent}", rest)
    check_writable(given.policy)
    with user_errors():
        study = Study(
            worlds={world: gym.world(world, given) if gym.is_one(world) else given.world},
            agents={agent: given.agent},
            episodes=given.episodes,
            seeds=given.seeds,
            seed=given.seed,
            title=f"{agent} in {world}",
        )
    try:
        results = carry_out(study, given.out, given.workers)
    except KeyboardInterrupt:
        kept = f"`optimist resume {given.out}` continues"
        lost = "nothing is kept without --out FOLDER"
        print(f"\ninterrupted: {kept if given.out else lost}", file=sys.stderr)
        return INTERRUPTED
    if given.policy is not None and results.finished:
        learnt = results.folder.of(results.finished[0]).file("policy.safetensors")
        storage.write_bytes(given.policy, learnt.read_bytes())
    if given.json:
        print_json(outcome(results))
    else:
        show_results(results)
    show_failures(results, kept=given.out is not None)
    return SOME_FAILED if results.failures else OK


def _options(world: str, agent: str) -> type[Any]:
    flags = (
        option("episodes", int, 2000, "number of episodes"),
        option("seeds", int, 5, "number of seeds"),
        option("seed", int, 0, "base seed; the seed of each run is derived from it"),
        file("out", "FOLDER", "output directory, a study with one world and one agent"),
        file("policy", "FILE", "the last policy of the first seed"),
        option("json", bool, False, "print the table as JSON"),
        ("workers", WorkersFlags, field(default_factory=Workers)),
    )
    doc = f"Learn {world} with {agent}."
    if gym.is_one(world):
        return with_parts(doc, *flags, *gym.flags(), agent=CONFIGS[agent]())
    return options(doc, world, *flags, agent=CONFIGS[agent]())
