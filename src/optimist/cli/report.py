"""``optimist report``: one page, and figures for a paper."""

from optimist.cli import OK
from optimist.cli.flags import Report
from optimist.cli.studies import print_json
from optimist.errors import StudyError
from optimist.experiments import open_results


def main(given: Report) -> int:
    results = open_results(given.folder)
    if not results.finished:
        raise StudyError(f"no run of {given.folder} has finished: `optimist resume {given.folder}`")
    formats = [name for name in ("pdf", "png") if getattr(given, name)]
    written = [results.report(given.out)]
    if formats:
        written += results.figures(given.folder / "figures", formats)
    if given.json:
        print_json({"written": [str(path) for path in written]})
    else:
        print("\n".join(str(path) for path in written))
    return OK
