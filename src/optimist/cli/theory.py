"""``optimist theory``: what the paper proves about a world."""

from dataclasses import dataclass
from typing import Any

from optimist.cli import OK
from optimist.cli.parse import parse
from optimist.cli.studies import print_json
from optimist.cli.tables import a_console, new_table
from optimist.cli.worlds import answered, named, option, options
from optimist.theory import Explanation, explain
from optimist.theory.explanation import readable
from optimist.theory.literature import TABLE
from optimist.theory.rates import RATES


@dataclass(frozen=True)
class Rates:
    """The rates that the paper states, and what imitation costs elsewhere, as formulas.

    Example:
        optimist theory --rates
    """

    rates: bool = False
    """show them"""

    json: bool = False
    """print them as JSON"""


def main(arguments: list[str]) -> int:
    found = None
    if "--rates" in arguments and arguments[0].startswith("-"):
        given = parse(Rates, "theory", arguments)
    else:
        world, rest = named(arguments)
        given = parse(_options(world), f"theory {world}", rest)
        with answered():
            found = explain(given.world, given.K, given.delta)
    if given.json:
        data = {} if found is None else found.as_data()
        if given.rates:
            data |= {"rates": rates(found), "literature": literature()}
        print_json(data)
        return OK
    if found is not None:
        _show(found)
    if given.rates:
        _show_rates(found)
        _show_literature()
    return OK


def rates(found: Explanation | None) -> list[dict[str, Any]]:
    """The paper's rates as data, with their values in a world if there is one."""
    rows = []
    for rate in RATES:
        row: dict[str, Any] = {
            "where": rate.where,
            "quantity": rate.quantity,
            "formula": rate.formula,
        }
        if found is not None and found.epsilon > 0:
            sizes = (found.d, found.n_actions, found.gamma, found.W_max)
            row["value"] = rate.at(found.epsilon, found.K, *sizes)
        rows.append(row)
    return rows


def literature() -> list[dict[str, str]]:
    """The table of Appendix C as data."""
    return [
        {
            "algorithm": row.algorithm,
            "setting": row.setting,
            "source": row.source,
            "features_only": row.features_only,
            "expert": row.expert_formula,
            "mdp": row.mdp_formula,
        }
        for row in TABLE
    ]


def _show(found: Explanation) -> None:
    console = a_console()
    title = f"{found.world}, K = {found.K:,}, delta = {found.delta:g}\n{found.sizes}"
    table = new_table(title, "parameter", numbers=("theorem", "practice"))
    table.add_column("")
    for row in found.parameter_rows:
        table.add_row(*row)
    console.print(table)
    table = new_table("What the regret is at most", "term", numbers=("at most",))
    table.add_column("order", no_wrap=True)
    table.add_column("")
    for row in found.bound_rows:
        table.add_row(
            *row, style="bold" if row[0] in ("total", "mended", found.bound.dominant) else ""
        )
    console.print(table)
    console.print("\n".join(found.sentences))


def _show_rates(found: Explanation | None) -> None:
    title = "Rates, without constants and logarithms; T = H K"
    if found is not None:
        title += f", K = {found.K:,}, eps = {found.epsilon:.3g}"
    table = new_table(title, "where", "of", "rate", numbers=("value",) if found else ())
    table.columns[2].no_wrap = False
    for row in rates(found):
        value = [readable(row["value"])] if "value" in row else []
        table.add_row(row["where"], row["quantity"], row["formula"], *value)
    console = a_console()
    console.print(table)
    console.print(
        "the introduction's number of samples does not follow from the theorem; the others agree"
    )


def _show_literature() -> None:
    title = "What imitation costs elsewhere (Appendix C); F.O.: from features only"
    table = new_table(title, "algorithm", "F.O.", "expert", "MDP", "setting")
    for column in table.columns[2:]:
        column.no_wrap = False
    for row in literature():
        table.add_row(
            row["algorithm"], row["features_only"], row["expert"], row["mdp"], row["setting"]
        )
    a_console().print(table)


def _options(world: str) -> type[Any]:
    return options(
        f"Say what the paper's theorem promises in {world}.",
        world,
        option("K", int, 1000, "the number of episodes"),
        option("delta", float, 0.1, "the failure probability of each event"),
        option("rates", bool, False, "also the rates of the paper, and what imitation costs"),
        option("json", bool, False, "print it as JSON"),
    )
