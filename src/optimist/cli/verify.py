"""``optimist verify``: check the paper's analysis on recorded runs."""

from rich.text import Text

from optimist.cli import OK, SOME_FAILED
from optimist.cli.flags import Verify
from optimist.cli.mistakes import user_errors
from optimist.cli.studies import print_json
from optimist.cli.tables import a_console, new_table, percent
from optimist.verification import Finding, Summary, Verification, verify
from optimist.verification.statement import ROUNDING

ROOM_FOR_FORMULAS = 150
"""From this terminal width on, the table has a column with the formulas."""


def main(given: Verify) -> int:
    with user_errors(), a_console().status("running the algorithm, and checking what it did"):
        report = verify(given.world, given.K, given.delta, given.seed)
    if given.json:
        print_json(report.to_plain())
    else:
        _show(report)
    return SOME_FAILED if report.violations else OK


def _show(report: Verification) -> None:
    console = a_console()
    wide = console.width >= ROOM_FOR_FORMULAS
    title = f"The paper, checked (K = {report.K:,}, delta = {report.delta:g}, seed {report.seed})"
    table = new_table(title, "statement")
    if wide:
        table.add_column("says", overflow="fold")
    for name in ("cases", "slack", "verdict", "in practice"):
        table.add_column(name, justify="right", no_wrap=True)
    about = ""
    for summary in report.by_statement():
        found = summary.findings[0]
        if found.about != about:
            about = found.about
            table.add_section()
            table.add_row(about, style="bold")
        says = (found.says,) if wide else ()
        violated = bool(summary.violations(report.delta))
        verdict = Text("VIOLATED", "bold red") if violated else verdict_of(summary)
        numbers = f"{summary.cases:,}", slack(summary.worst), verdict, in_practice(summary)
        table.add_row(f"  {found.key}", *says, *numbers)
    console.print(table)
    console.print("\n".join(_sentences(report)))


def verdict_of(summary: Summary) -> str:
    """The verdict on a statement that is not violated."""
    if not summary.due:
        return "-"
    if any(finding.failed for finding in summary.due):
        return "bad luck"
    return "vacuous" if summary.vacuous else "holds"


def _sentences(report: Verification) -> list[str]:
    summaries = report.by_statement()
    cases = sum(summary.cases for summary in summaries)
    lines = [
        f"{len(summaries)} statements in {cases:,} cases, against the exact solution of each world",
        "slack: what the larger side has to spare in the worst case, as a share of it;",
        "=: how far two sides differ that should be equal",
        "vacuous: it holds, but the bound is so large at this K that no learner could break it",
        "in practice: with practical parameters, whose bonuses the theorem does not cover",
    ]
    partly = [
        f"{s.findings[0].key} ({len(s.telling)} of {len(s.due)})"
        for s in summaries
        if 0 < len(s.telling) < len(s.due)
    ]
    if partly:
        lines.append(f"vacuous in some runs; could fail in: {', '.join(partly)}")
    for setting in dict.fromkeys(play.setting for play in report.runs if play.idle):
        idle = [play.idle for play in report.runs if play.setting == setting]
        lines.append(
            f"{setting}: p+ = 1 everywhere and play is uniform, in {sum(idle)} of {len(idle)} runs"
        )
    lines += report.notes
    for f in report.violations:
        failed = f"{f.broken:,} of {f.cases:,} cases"
        lines.append(
            f"VIOLATED: {f.key} in {f.world or 'itself'} ({f.setting}): {failed}: {f.says}"
        )
    return lines


def slack(worst: Finding | None) -> str:
    """The least relative slack; for an equality, the largest relative difference."""
    if worst is None:
        return "-"
    if worst.equality:
        return f"= {-worst.share:.0e}" if worst.share else "= exact"
    return "0" if abs(worst.share) <= ROUNDING else f"{worst.share:.2g}"


def in_practice(summary: Summary) -> str:
    """Whether the statement holds with the practical parameters."""
    share = summary.broken_in_practice
    if share is None:
        return "-"
    if not share:
        return "holds"
    return f"fails {percent(share)}" if share >= 0.0005 else "fails < 0.1%"
