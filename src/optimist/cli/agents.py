"""``optimist agents``: list the agents and their parameters."""

import inspect
from typing import Any

from rich.text import Text

from optimist.cli import OK
from optimist.cli.flags import Agents
from optimist.cli.studies import print_json
from optimist.cli.tables import a_console, agent_line, new_table
from optimist.experiments.learners import LEARNERS
from optimist.experiments.specification import read_agent
from optimist.parameters import to_plain


def main(given: Agents) -> int:
    found = [described(name) for name in LEARNERS.names]
    if given.json:
        print_json(found)
        return OK
    table = new_table("Agents", "agent", "what it does")
    table.columns[1].no_wrap = False
    for agent in found:
        name = agent["agent"]
        line = agent_line(name, {"agent": name, **agent["parameters"]}).removeprefix(f"{name}: ")
        table.add_row(Text(name, "bold"), agent["summary"])
        table.add_row("", Text(line, "dim"))
    a_console().print(table)
    return OK


def described(name: str) -> dict[str, Any]:
    """The name, a summary and the default parameters of an agent."""
    config = read_agent({"agent": name})
    summary = (inspect.getdoc(LEARNERS.find(name)) or "").partition("\n")[0]
    return {"agent": name, "summary": summary, "parameters": to_plain(config)}
