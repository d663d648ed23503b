"""``optimist theory``: the paper's bounds, evaluated for one world."""

import math
from dataclasses import asdict, replace
from typing import Any

from optimist.agents import RmaxRaviUcb
from optimist.cli import OK
from optimist.cli.flags import Theory
from optimist.cli.mistakes import user_errors
from optimist.cli.studies import print_json
from optimist.cli.tables import a_console, new_table
from optimist.display.numbers import readable
from optimist.errors import StudyError
from optimist.theory import Explanation, explain
from optimist.theory.explanation import SHARE
from optimist.theory.literature import TABLE, Axis, Row, measured
from optimist.theory.rates import RATES

TERMS = {
    "heaven": ("d^3 H^3", "uncertain pairs to heaven"),
    "heaven_chance": ("d^2 H^4", "what chance adds to that"),
    "leak": ("H^2", "certain pairs to heaven"),
    "epochs": ("d H^2", "values jump at epochs"),
    "policy": ("sqrt(d H^{9/2} K log A)", "policy: steps and resets"),
    "bonuses": ("sqrt(d^3 H^3 K)", "bonuses that were added"),
    "bonuses_chance": ("d H^2", "what chance adds to that"),
}
"""The order and the meaning of each term of the regret bound."""


def main(given: Theory) -> int:
    if given.world_name is None and not given.rates:
        raise StudyError("name a world, as in `optimist theory RiverSwim`, or give --rates")
    found = None
    if given.world_name is not None:
        with user_errors():
            found = explain(given.world, given.K, given.delta)
        found = replace(found, world=given.world_name)
    if given.json:
        data = {} if found is None else as_data(found)
        if given.rates:
            data |= {"rates": rates(found), "literature": literature()}
            data |= {"measured": [asdict(power) for power in measured()]}
        print_json(data)
        return OK
    if found is not None:
        _show(found)
    if given.rates:
        _show_rates(found)
        _show_literature()
    return OK


def as_data(found: Explanation) -> dict[str, Any]:
    """The explanation, with the practical parameters before its notes."""
    data = found.as_data()
    notes = data.pop("notes")
    return {**data, "practice": practice(), "notes": notes}


def practice() -> dict[str, Any]:
    """The practical parameters; K is that of the sigmoid, whose omega is log K."""
    used = RmaxRaviUcb.Config()
    plain = {name: getattr(used, name) for name in ("beta", "eta", "updates", "ridge")}
    return {**plain, "K": round(math.exp(used.omega))}


def rates(found: Explanation | None) -> list[dict[str, Any]]:
    """The paper's rates as data, with their values if a world is given."""
    rows = [{n: getattr(rate, n) for n in ("where", "quantity", "formula")} for rate in RATES]
    if found is not None and found.epsilon > 0:
        sizes = (found.d, found.n_actions, found.gamma, found.W_max)
        for row, rate in zip(rows, RATES, strict=True):
            row["value"] = rate.at(found.epsilon, found.K, *sizes)
    return rows


def literature() -> list[dict[str, str]]:
    """The table of Appendix C as data."""
    names = ("algorithm", "learner", "setting", "source", "features_only")
    return [
        {**{n: getattr(r, n) for n in names}, "expert": r.expert_formula, "mdp": r.mdp_formula}
        for r in TABLE
    ]


def sizes_line(found: Explanation) -> str:
    """The sizes of the world in one line."""
    return (
        f"d = {found.d:,}, A = {found.n_actions}, H = {readable(found.H)}, B = {found.B:.3g}, "
        f"W_max = {found.W_max:.3g}, R_max = {found.R_max:.3g}"
    )


def parameter_rows(found: Explanation) -> list[tuple[str, str, str, str]]:
    """Name, theoretical value, practical value and meaning of each parameter."""
    used = RmaxRaviUcb.Config()
    compared = [
        ("beta", found.beta, used.beta, "bonuses are beta ||phi||"),
        ("eta", found.eta, used.eta, "learning rate of the policy"),
        ("omega", found.omega, used.omega, "threshold of ascension"),
        ("alpha", found.alpha, used.alpha, "slope of ascension"),
        ("updates", 1, used.updates, "after each episode"),
        ("ridge", 1, used.ridge or 1.0, "of the covariance"),
    ]
    bounds = [
        ("L_max", found.L_max, "no episode is longer"),
        ("T", found.T, "no more steps in all"),
        ("Q_max", found.Q_max, "no value is larger"),
        ("E(K)", found.epochs, "no more epochs"),
    ]
    return [
        *((name, readable(a), readable(b), text) for name, a, b, text in compared),
        *((name, readable(value), "", text) for name, value, text in bounds),
    ]


def bound_rows(found: Explanation) -> list[tuple[str, str, str, str]]:
    """Name, value, order and meaning of each term, then of the totals."""
    bound = found.bound
    return [
        *((name, readable(value), *TERMS[name]) for name, value in bound.terms.items()),
        ("total", readable(bound.total), "", "as it is printed"),
        ("epoch_starts", readable(bound.epoch_starts), "d^3 H^4", "a gap in the proof"),
        ("mended", readable(bound.mended), "", "with that and 1 / gamma"),
        ("trivial", readable(bound.trivial), "K H R_max", "and at most this anyway"),
    ]


def sentences(found: Explanation) -> list[str]:
    """The conclusions and the notes, one sentence each."""
    bound = found.bound
    share = bound.terms[bound.dominant] / bound.total
    lines = [
        f"{bound.dominant} is {share:.0%} of the printed bound at K = {found.K:,}; "
        f"with probability {max(0.0, 1 - 4 * found.delta):g} the mended one holds."
    ]
    if found.excess > 1:
        lines.append(
            f"It says something from K = {readable(found.nontrivial_from)} episodes on; "
            f"at K = {found.K:,} it is {readable(found.excess)} times the trivial bound."
        )
    else:
        lines.append(f"It is {found.excess:.1%} of the trivial one.")
    if found.episodes_for_epsilon is not None and found.steps_for_epsilon is not None:
        lines.append(
            f"It guarantees an average regret of {SHARE:.0%} of V* = {found.optimum:.4g} from "
            f"K = {readable(found.episodes_for_epsilon)} episodes on, "
            f"{readable(found.steps_for_epsilon)} steps."
        )
    return [*lines, *found.notes]


def _show(found: Explanation) -> None:
    console = a_console()
    title = f"{found.world}, K = {found.K:,}, delta = {found.delta:g}\n{sizes_line(found)}"
    table = new_table(title, "parameter", numbers=("theorem", "practice"))
    table.add_column("")
    for row in parameter_rows(found):
        table.add_row(*row)
    console.print(table)
    table = new_table("What the regret is at most", "term", numbers=("at most",))
    table.add_column("order", no_wrap=True)
    table.add_column("")
    for row in bound_rows(found):
        table.add_row(
            *row, style="bold" if row[0] in ("total", "mended", found.bound.dominant) else ""
        )
    console.print(table)
    console.print("\n".join(sentences(found)))


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
    named = {"algorithm": "algorithm", "learner": "learner", "features_only": "F.O.",
             "expert": "expert", "mdp": "MDP", "setting": "setting"}  # fmt: skip
    table = new_table(title, *named.values())
    for column in table.columns:
        column.no_wrap = column.header in ("learner", "F.O.")
    table.columns[-1].overflow = "fold"  # its longest words do not fit into 80 columns
    for row in literature():
        table.add_row(*(row[name] for name in named))
    a_console().print(table)
    for axis in AXES:
        _show_measured(axis)
    a_console().print(
        "by default parameters, in the three worlds of docs/rivals.md, which says why theory and\n"
        "practice differ; - where no gap is left. Views: one pair of each of the expert's\n"
        "trajectories (last), or all of them"
    )


AXES: dict[Axis, str] = {
    "tau_E": "the expert's trajectories",
    "K": "episodes",
    "H": "the horizon; predicted: for few trajectories, for few episodes",
}


def _show_measured(axis: Axis) -> None:
    """The powers that the table implies, beside those that were measured."""
    rows: dict[str, Row] = {row.learner: row for row in TABLE}
    cells: dict[tuple[str, str], dict[str, str]] = {}
    for found in measured():
        if found.axis == axis:
            power = f"{found.found[0]:z.2f}" if found.found else "-"
            cells.setdefault((found.learner, found.view), {})[found.world] = power
    worlds = list(dict.fromkeys(world for line in cells.values() for world in line))
    table = new_table(
        f"The gap as a power of {axis}, {AXES[axis]}\n"
        "as the table implies, and as measured in three worlds",
        *("learner", "view"),
        numbers=("predicted", *worlds),
    )
    for (learner, view), line in cells.items():
        predicted = ", ".join(f"{p:.3g}" for p in rows[learner].powers(axis))
        table.add_row(learner, view, predicted, *(line[world] for world in worlds))
    a_console().print(table)
