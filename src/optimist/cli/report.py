"""``optimist report``: write a page and figures of a study."""

from optimist.cli import OK, SOME_FAILED
from optimist.cli.flags import Report
from optimist.cli.studies import print_json
from optimist.cli.worlds import check_writable
from optimist.core import storage
from optimist.errors import StudyError
from optimist.experiments import open_results
from optimist.text import printable


def main(given: Report) -> int:
    check_writable(given.out)
    results = open_results(given.folder, given.imports)
    if not results.finished:
        raise StudyError(f"no run of {given.folder} has finished: `optimist resume {given.folder}`")
    formats = [name for name in ("pdf", "png") if getattr(given, name)]
    written = [results.report(given.out)]
    if formats:
        written += results.figures(
            storage.refuse_links(given.folder / "figures", folder=True), formats
        )
    if given.json:
        print_json({"written": [str(path) for path in written]})
    else:
        print("\n".join(printable(path) for path in written))
    return SOME_FAILED if results.damaged else OK
