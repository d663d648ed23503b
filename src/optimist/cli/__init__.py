"""The command line: ``optimist COMMAND``. Each command is a module, imported when it is called."""

import difflib
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import Any
from warnings import catch_warnings, simplefilter

from optimist.errors import DamageWarning, FailureWarning
from optimist.ids import WORLD_MODULES
from optimist.stopping import INTERRUPTED, interruptible
from optimist.text import printable

COMMANDS = {
    "demo": "learn several worlds with several agents, and write a report: begin here",
    "learn": "learn one world with one agent",
    "expert": "record the features that an expert shows in a world",
    "imitate": "learn from an expert's features alone: no actions, no rewards",
    "sweep": "run a study: worlds x agents x parameters x seeds",
    "resume": "go on with a study that was stopped",
    "report": "write the report of a study as one page, and figures for a paper",
    "compare": "compare the agents of one or several studies",
    "envs": "list the worlds, solved exactly",
    "agents": "list the agents and their parameters",
    "theory": "what the paper proves about a world, with every constant",
    "verify": "check every statement of the paper's analysis on runs in known worlds",
}

OK, SOME_FAILED, BAD_INPUT, DISK = 0, 1, 2, 3
EXIT_CODES = """\
exit codes:
  0    all is well
  1    some runs failed or are damaged, what finished is kept; or a statement is violated
  2    a mistake in the command, the study or a file
  3    the disk is full, or a folder cannot be written; what finished is kept
  130  interrupted; `optimist resume FOLDER` goes on"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry out a command; the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    name, rest = (given[0], given[1:]) if given else ("--help", [])
    if name in ("-h", "--help", "help"):
        print(usage())
        return OK
    if name == "--version":
        import optimist

        print(f"optimist {optimist.__version__}")
        return OK
    if name not in COMMANDS:
        close = difflib.get_close_matches(name, COMMANDS, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(COMMANDS)}"
        return _complain(f"there is no command {name!r}: {hint}")
    if name in OF_A_WORLD and (rest[:1] in (["-h"], ["--help"]) or (not rest and name != "verify")):
        print(f"{OF_A_WORLD[name]}\n\nworlds: {', '.join(WORLD_MODULES)}")
        return OK
    return _carry_out(name, rest)


OF_A_WORLD = {
    "learn": """\
usage: optimist learn WORLD [--agent AGENT] [...]

Learn a world with an agent, over some seeds. The parameters of both are flags:
`optimist learn WORLD --agent AGENT --help` lists them, `optimist agents` the agents.
The world may also be any Gymnasium environment, as gym:ID.

Example:
    optimist learn RiverSwim --world.n 20 --agent RaviUcb --agent.beta 2 --episodes 3000
    optimist learn gym:MountainCar-v0 --features tiles:20 --repeat 4 --episodes 300""",
    "expert": """\
usage: optimist expert WORLD --out FILE [...]

Record the features that an expert shows in a world, drawn from its discounted occupancy: no
actions, no rewards. The expert is an optimal policy, or any that was saved. The parameters of the
world are flags: `optimist expert WORLD --help` lists them.

Example:
    optimist expert FourRooms --samples 1000 --out expert.parquet""",
    "imitate": """\
usage: optimist imitate WORLD --expert FILE [...]

Learn from an expert's features alone, with FRA-IL. The parameters of the world and of the imitator
are flags: `optimist imitate WORLD --help` lists them.

Example:
    optimist imitate FourRooms --expert expert.parquet --policy policy.safetensors""",
    "theory": """\
usage: optimist theory WORLD [--K K] [--delta DELTA] [--rates] [--json]
       optimist theory --rates [--json]

Say what the paper's theorem promises in a world: its parameters, its bound on the regret term by
term, and from how many episodes on it says something. The parameters of the world are flags:
`optimist theory WORLD --help` lists them. With --rates, all rates that the paper states and what
imitation costs elsewhere; without a world as formulas.

Example:
    optimist theory RiverSwim --world.n 20 --K 10000""",
    "verify": """\
usage: optimist verify [WORLD] [--K K] [--delta DELTA] [--seed SEED] [--json]

Run the algorithm in worlds that are known exactly, and check every inequality of the paper's
analysis: with the theorem's parameters, with the smallest bonuses that turn out valid, under
rewards that change, and with the practical parameters, where what needs valid bonuses is reported
and not failed. Without a world in five small ones, and in two more for so long that bounds which
are vacuous elsewhere could fail. The parameters of the world are flags: `optimist verify WORLD
--help` lists them.

Example:
    optimist verify RiverSwim --world.n 8 --K 500""",
}
"""The help of the commands about one world, whose flags depend on it: they read them themselves."""


def usage() -> str:
    """What ``optimist --help`` says."""
    width = max(map(len, COMMANDS)) + 2
    commands = "\n".join(f"  {name:{width}}{text}" for name, text in COMMANDS.items())
    return (
        "usage: optimist COMMAND [...]\n\n"
        "Provably efficient exploration in discounted MDPs with linear features.\n\n"
        f"commands:\n{commands}\n\n"
        "`optimist COMMAND --help` says more, with an example.\n\n"
        f"{EXIT_CODES}"
    )


def _carry_out(name: str, rest: list[str]) -> int:
    from optimist.cli.flags import FLAGS
    from optimist.cli.parse import parse

    given = parse(FLAGS[name], name, rest) if name in FLAGS else rest
    # What a user can get wrong is answered in a sentence; anything else is a bug: its traceback.
    try:
        command = import_module(f"optimist.cli.{name}")
        with interruptible(), catch_warnings():
            _show_warnings()
            code: int = command.main(given)
    except KeyboardInterrupt:
        _complain("interrupted; what is finished is kept")
        return INTERRUPTED
    except BrokenPipeError:  # the reader of our output has left, as `head` does
        sys.stderr.close()
        return OK
    except Exception as error:
        from optimist.cli.mistakes import code_of

        known = code_of(error)
        if known is None:
            raise
        return _complain(str(error) or "out of memory", known)  # which is all that has no words
    return code


def _complain(sentence: str, code: int = BAD_INPUT) -> int:
    print(f"optimist: {printable(sentence)}", file=sys.stderr)
    return code


def _show_warnings() -> None:
    """Say in a sentence what is damaged; what failed, the commands list themselves."""
    usual = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *a: Any, **b: Any) -> None:
        if issubclass(category, DamageWarning):
            _complain(str(message))
        else:
            usual(message, category, *a, **b)

    warnings.showwarning = show
    simplefilter("always", DamageWarning)
    simplefilter("ignore", FailureWarning)
