"""``optimist agents``: the agents and their parameters."""

import dataclasses
import inspect
from typing import Any

from rich.text import Text

from optimist.cli import OK
from optimist.cli.flags import Agents
from optimist.cli.studies import print_json
from optimist.cli.tables import a_console, new_table
from optimist.experiments.learners import LEARNERS
from optimist.experiments.parameters import to_plain
from optimist.experiments.specification import read_agent


def main(given: Agents) -> int:
    found = [described(name) for name in LEARNERS]
    if given.json:
        print_json(found)
        return OK
    table = new_table("Agents", "agent", "what it does")
    table.columns[1].no_wrap = False
    for agent in found:
        shown = ", ".join(f"{k} {_short(v)}" for k, v in agent["parameters"].items())
        table.add_row(Text(agent["agent"], "bold"), agent["summary"])
        table.add_row("", Text(shown, "dim"))
    a_console().print(table)
    return OK


def described(name: str) -> dict[str, Any]:
    """An agent as data: its name, what it does, its parameters."""
    config = read_agent({"agent": name})
    summary = (inspect.getdoc(LEARNERS[name]) or "").partition("\n")[0]
    assert dataclasses.is_dataclass(config)
    return {"agent": name, "summary": summary, "parameters": to_plain(config)}


def _short(value: Any) -> str:
    if isinstance(value, dict):
        inner = ", ".join(f"{k} {_short(v)}" for k, v in value.items() if k != "kind")
        return f"{value['kind']}({inner})"
    return f"{value:g}" if isinstance(value, float) else str(value)
