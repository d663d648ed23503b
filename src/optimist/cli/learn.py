"""``optimist learn``: learn one world with one agent."""

from collections.abc import Sequence
from dataclasses import field, make_dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from optimist.agents import AGENTS
from optimist.cli import OK, SOME_FAILED
from optimist.cli.flags import Workers, WorkersFlags
from optimist.cli.parse import parse
from optimist.cli.studies import carry_out, outcome, print_json
from optimist.cli.tables import show_failures, show_results
from optimist.core import storage
from optimist.envs import WORLDS
from optimist.experiments import Study, StudyError
from optimist.experiments.parameters import did_you_mean
from optimist.experiments.specification import read_agent

AGENT = "RmaxRaviUcb"


def main(arguments: list[str]) -> int:
    world, agent, rest = split(arguments)
    given = parse(options(world, agent), f"learn {world} --agent {agent}", rest)
    try:
        study = Study(
            worlds={world: given.world},
            agents={agent: given.agent},
            episodes=given.episodes,
            seeds=given.seeds,
            seed=given.seed,
            title=f"{agent} in {world}",
        )
    except ValueError as error:
        raise StudyError(str(error)) from error
    results = carry_out(study, given.out, given.workers)
    if given.policy is not None and results.finished:
        learnt = results.folder.of(results.finished[0]).path / "policy.safetensors"
        storage.write_bytes(given.policy, learnt.read_bytes())
    if given.json:
        print_json(outcome(results))
    else:
        show_results(results)
    show_failures(results)
    return SOME_FAILED if results.failures else OK


def split(arguments: Sequence[str]) -> tuple[str, str, list[str]]:
    """The world, the agent, and the rest of a command line.

    Examples
    --------
    >>> split(["RiverSwim", "--episodes", "10", "--agent", "Rmax"])
    ('RiverSwim', 'Rmax', ['--episodes', '10'])
    """
    world, *rest = arguments
    if world not in WORLDS:
        hint = did_you_mean(world, WORLDS, "there are")
        raise StudyError(f"there is no world {world!r}: {hint}")
    agent = AGENT
    if "--agent" in rest:
        at = rest.index("--agent")
        agent = rest[at + 1] if at + 1 < len(rest) else ""
        rest = rest[:at] + rest[at + 2 :]
    if agent not in AGENTS:
        hint = did_you_mean(agent, AGENTS, "there are")
        raise StudyError(f"there is no agent {agent!r}: {hint}")
    return world, agent, rest


def options(world: str, agent: str) -> type[Any]:
    """What the command line of this world and this agent can say, as a dataclass."""
    default_world, default_agent = WORLDS[world](), read_agent({"agent": agent})

    def option(name: str, kind: Any, default: Any, *how: Any) -> tuple[str, Any, Any]:
        return name, Annotated[kind, *how], field(default=default)

    def told(text: str) -> Any:
        return tyro.conf.arg(help=text)

    def path(name: str, text: str) -> Any:
        return tyro.conf.arg(metavar=name, help=text, help_behavior_hint="(default: not written)")

    made = make_dataclass(
        "Learn",
        [
            option("episodes", int, 2000, told("how many episodes are played")),
            option("seeds", int, 5, told("how many seeds")),
            option("seed", int, 0, told("another number gives other seeds")),
            option("out", Path | None, None, path("FOLDER", "keep everything, as a study")),
            option("policy", Path | None, None, path("FILE", "the last policy of the first seed")),
            option("json", bool, False, told("print the table as JSON")),
            ("workers", WorkersFlags, field(default_factory=Workers)),
            ("world", WORLDS[world], field(default=default_world)),
            ("agent", type(default_agent), field(default=default_agent)),
        ],
        frozen=True,
    )
    made.__doc__ = f"Learn {world} with {agent}."
    return made
