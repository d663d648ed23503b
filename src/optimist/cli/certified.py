"""``optimist learn WORLD --until 5%``: learn until a policy is certified to be good."""

import sys
import time
from typing import Any

from optimist.agents.certified_agent import CertifiedAgent
from optimist.cli import OK, SOME_FAILED
from optimist.cli.mistakes import user_errors
from optimist.cli.studies import print_json
from optimist.cli.tables import a_console, new_table
from optimist.errors import StudyError
from optimist.experiments import Study
from optimist.stopping import INTERRUPTED


def read_share(text: str) -> float:
    """A share in (0, 1), as a number or in percent.

    Examples
    --------
    >>> read_share("5%"), read_share("0.2")
    (0.05, 0.2)
    """
    try:
        share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        share = -1.0
    if not 0 < share < 1:
        raise StudyError(f"--until must be a share of the optimum, such as 5% or 0.05; got {text}")
    return share


def learn_until(study: Study, given: Any) -> int:
    """Learn with each seed until its policy is certified, and show the results; the exit code."""
    until = read_share(given.until)
    for flag, value in (("out", given.out), ("live", given.live.live), ("record", given.record)):
        if value not in (None, False):
            raise StudyError(f"--{flag} must not be given with --until")
    limits = {"episodes": given.episodes, "steps": given.steps}
    rows: list[dict[str, Any]] = []
    code = OK
    for run in study.runs:
        began = time.monotonic()
        with user_errors():
            agent = run.spec.learner()
            if not isinstance(agent, CertifiedAgent):
                raise ValueError(f"--until needs an agent with certificates; got {run.agent}")
            try:
                agent.learn(until=until, delta=given.delta, **limits)
            except KeyboardInterrupt:
                print("\ninterrupted; the certificates so far", file=sys.stderr)
                code = INTERRUPTED
            found = agent.certificate(given.delta)
        if given.policy is not None and not rows:
            found.policy.save(given.policy)
        numbers = {name: getattr(found, name) for name in ("lower", "upper", "share", "delta")}
        played = {"episodes": found.episodes, "steps": found.steps}
        took = {"seconds": time.monotonic() - began}
        rows.append({"seed": run.spec.seed, **played, **numbers, **took})
        if code == INTERRUPTED:
            break
    if given.json:
        print_json({"until": until, "runs": rows})
    else:
        _show(study.title, until, given.delta, rows)
    missed = any(row["share"] > until for row in rows)
    return code or (SOME_FAILED if missed else OK)


def _show(title: str, until: float, delta: float, rows: list[dict[str, Any]]) -> None:
    names = ("episodes", "steps", "V^pi >=", "V* <=", "within", "seconds")
    table = new_table(f"{title}, until certified within {until:.3g}", "seed", numbers=names)
    for row in rows:
        counts = (f"{row[name]:,}" for name in ("episodes", "steps"))
        values = (f"{row[name]:.6g}" for name in ("lower", "upper"))
        rest = f"{row['share']:.2%}", f"{row['seconds']:.1f}"
        table.add_row(str(row["seed"]), *counts, *values, *rest)
    console = a_console()
    console.print(table)
    console.print(f"each holds with probability {1 - delta:g}, by what was seen alone")
