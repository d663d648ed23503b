"""``optimist learn``: learn one world with one agent."""

import sys
from collections.abc import Sequence
from dataclasses import field
from typing import Any

from optimist.cli import OK, SOME_FAILED, gym
from optimist.cli.flags import Workers, WorkersFlags
from optimist.cli.parse import parse
from optimist.cli.studies import carry_out, outcome, print_json
from optimist.cli.tables import show_failures, show_results
from optimist.cli.worlds import (
    answered,
    default_agent,
    file,
    named,
    option,
    options,
    to_be_written,
    with_agent,
)
from optimist.core import storage
from optimist.errors import StudyError
from optimist.experiments import Study
from optimist.experiments.learners import CONFIGS, LEARNERS
from optimist.experiments.parameters import did_you_mean
from optimist.stopping import INTERRUPTED

AGENT = "RmaxRaviUcb"


def main(arguments: list[str]) -> int:
    world, agent, rest = split(arguments)
    chosen = default_agent(CONFIGS[agent], rest)
    given = parse(_options(world, agent, chosen), f"learn {world} --agent {agent}", rest)
    to_be_written(given.policy)
    with answered():
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
        kept = f"`optimist resume {given.out}` goes on"
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


def split(arguments: Sequence[str]) -> tuple[str, str, list[str]]:
    """The world, the agent, and the rest of a command line.

    Examples
    --------
    >>> split(["RiverSwim", "--episodes", "10", "--agent", "Rmax"])
    ('RiverSwim', 'Rmax', ['--episodes', '10'])
    """
    world, rest = gym.named(arguments) if gym.is_one(arguments[0]) else named(arguments)
    agent = AGENT
    if "--agent" in rest:
        at = rest.index("--agent")
        agent = rest[at + 1] if at + 1 < len(rest) else ""
        rest = rest[:at] + rest[at + 2 :]
    if agent not in LEARNERS:
        hint = did_you_mean(agent, LEARNERS, "there are")
        raise StudyError(f"there is no agent {agent!r}: {hint}")
    return world, agent, rest


def _options(world: str, agent: str, chosen: Any) -> type[Any]:
    flags = (
        option("episodes", int, 2000, "how many episodes are played"),
        option("seeds", int, 5, "how many seeds"),
        option("seed", int, 0, "another number gives other seeds"),
        file("out", "FOLDER", "keep everything, as a study"),
        file("policy", "FILE", "the last policy of the first seed"),
        option("json", bool, False, "print the table as JSON"),
        ("workers", WorkersFlags, field(default_factory=Workers)),
    )
    doc = f"Learn {world} with {agent}."
    if gym.is_one(world):
        return with_agent(doc, *flags, *gym.flags(), agent=chosen)
    return options(doc, world, *flags, agent=chosen)
