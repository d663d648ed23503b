"""``optimist report``: write a page and figures of a study."""

from pathlib import Path

from optimist.cli import OK, SOME_FAILED
from optimist.cli.flags import Report
from optimist.cli.mistakes import check_writable
from optimist.cli.parts import import_modules
from optimist.cli.studies import print_json
from optimist.cli.tables import agent_tables, show_agents
from optimist.core import storage
from optimist.errors import StudyError
from optimist.experiments import open_results
from optimist.text import printable


def main(given: Report) -> int:
    import_modules(given.imports)
    results = open_results(given.folder)
    figures = storage.refuse_links(given.folder / "figures", folder=True)
    formats = [name for name in ("pdf", "png") if getattr(given, name)]
    check_writable(given.out or given.folder / "report.html", folder=figures if formats else None)
    if not results.finished:
        raise StudyError(f"no run of {given.folder} has finished: `optimist resume {given.folder}`")
    written: list[Path] = [results.report(given.out)]
    if formats:
        written += results.figures(figures, formats)
    if given.json:
        print_json({"written": [str(path) for path in written], "agents": agent_tables(results)})
    else:
        print("\n".join(printable(path) for path in written))
        show_agents(agent_tables(results))
    return SOME_FAILED if results.damaged else OK
