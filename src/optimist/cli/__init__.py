"""The command line ``optimist COMMAND``. Each command is a module, imported when it is called."""

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
    "demo": "run a small study and write its report: start here",
    "learn": "learn one world with one agent",
    "expert": "record the features of an expert in a world",
    "imitate": "imitate an expert from its features, without actions or rewards",
    "sweep": "run a study: worlds x agents x parameters x seeds",
    "resume": "resume a study that was stopped",
    "report": "write the report of a study as one page, and figures for a paper",
    "compare": "compare the agents of one or several studies",
    "envs": "list the worlds and their exact optimal values",
    "agents": "list the agents and their parameters",
    "theory": "show the paper's guarantees for a world, with every constant",
    "verify": "check every statement of the paper's analysis on runs in known worlds",
}

OK, SOME_FAILED, BAD_INPUT, DISK = 0, 1, 2, 3
EXIT_CODES = """\
exit codes:
  0    success
  1    some runs failed or are damaged, finished runs are kept; or a statement is violated
  2    a mistake in the command, the study or a file
  3    the disk is full, or a folder cannot be written; finished runs are kept
  130  interrupted; `optimist resume FOLDER` continues"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the exit code."""
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
    return _run(name, rest)


OF_A_WORLD = {
    "learn": """\
usage: optimist learn WORLD [--agent AGENT] [...]

Learn a world with an agent, with several seeds. The parameters of both are flags:
`optimist learn WORLD --agent AGENT --help` lists them; `optimist agents` lists the agents.
The world can also be a Gymnasium environment, as gym:ID.

Example:
    optimist learn RiverSwim --world.n 20 --agent RaviUcb --agent.beta 2 --episodes 3000
    optimist learn gym:MountainCar-v0 --features tiles:20 --repeat 4 --episodes 300""",
    "expert": """\
usage: optimist expert WORLD --out FILE [...]

Record features of an expert in a world, drawn from its discounted occupancy, without actions or
rewards. The expert is an optimal policy, or a saved one. The parameters of the world are flags:
`optimist expert WORLD --help` lists them.

Example:
    optimist expert FourRooms --samples 1000 --out expert.parquet""",
    "imitate": """\
usage: optimist imitate WORLD --expert FILE [--player PLAYER] [...]

Imitate an expert from its features alone, with FRA-IL. Its policy player is Optimist, or
RmaxRaviUcb as in the paper. The parameters of the world and of the player are flags: `optimist
imitate WORLD --player PLAYER --help` lists them.

Example:
    optimist imitate FourRooms --expert expert.parquet --policy policy.safetensors""",
    "theory": """\
usage: optimist theory WORLD [--K K] [--delta DELTA] [--rates] [--json]
       optimist theory --rates [--json]

Show what the paper's theorem guarantees in a world: its parameters, its regret bound term by term,
and the number of episodes from which the bound is not trivial. The parameters of the world are
flags: `optimist theory WORLD --help` lists them. --rates shows all rates in the paper and those of
imitation in the literature, as formulas if no world is given.

Example:
    optimist theory RiverSwim --world.n 20 --K 10000""",
    "verify": """\
usage: optimist verify [WORLD] [--K K] [--delta DELTA] [--seed SEED] [--json]

Run the algorithm in worlds that are known exactly, and check every inequality of the paper's
analysis: with the theorem's parameters, with the smallest valid bonuses, with changing rewards, and
with the practical parameters, where statements that need valid bonuses are reported but do not
fail. Without a world, check five small ones, and two more for long enough that bounds which are
vacuous elsewhere could fail. The parameters of the world are flags: `optimist verify WORLD --help`
lists them.

Example:
    optimist verify RiverSwim --world.n 8 --K 500""",
}
"""Help of the commands whose flags depend on a world; they parse their arguments themselves."""


def usage() -> str:
    """The text of ``optimist --help``."""
    width = max(map(len, COMMANDS)) + 2
    commands = "\n".join(f"  {name:{width}}{text}" for name, text in COMMANDS.items())
    return (
        "usage: optimist COMMAND [...]\n\n"
        "Provably efficient exploration in discounted MDPs with linear features.\n\n"
        f"commands:\n{commands}\n\n"
        "`optimist COMMAND --help` shows the flags and an example.\n\n"
        f"{EXIT_CODES}"
    )


def _run(name: str, rest: list[str]) -> int:
    from optimist.cli.flags import FLAGS
    from optimist.cli.parse import parse

    given = parse(FLAGS[name], name, rest) if name in FLAGS else rest
    # User errors end with a sentence. Any other exception is a bug and shows its traceback.
    try:
        command = import_module(f"optimist.cli.{name}")
        with interruptible(), catch_warnings():
            _show_warnings()
            code: int = command.main(given)
    except KeyboardInterrupt:
        _complain("interrupted; what is finished is kept")
        return INTERRUPTED
    except BrokenPipeError:  # the reader of the output has closed it, as `head` does
        sys.stderr.close()
        return OK
    except Exception as error:
        from optimist.cli.mistakes import code_of

        known = code_of(error)
        if known is None:
            raise
        return _complain(str(error) or "out of memory", known)  # only MemoryError has no text
    return code


def _complain(sentence: str, code: int = BAD_INPUT) -> int:
    print(f"optimist: {printable(sentence)}", file=sys.stderr)
    return code


def _show_warnings() -> None:
    """Print damage as a sentence. Failures are hidden: the commands list them."""
    usual = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *a: Any, **b: Any) -> None:
        if issubclass(category, DamageWarning):
            _complain(str(message))
        else:
            usual(message, category, *a, **b)

    warnings.showwarning = show
    simplefilter("always", DamageWarning)
    simplefilter("ignore", FailureWarning)
