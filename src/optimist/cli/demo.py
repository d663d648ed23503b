"""``optimist demo``: a small study with its table and report."""

from optimist.cli import OK, SOME_FAILED
from optimist.cli.flags import Demo
from optimist.cli.studies import carry_out
from optimist.cli.tables import a_console, show_failures, show_results
from optimist.experiments import Study
from optimist.experiments.study_folder import StudyFolder

STUDY = "quick"


def main(given: Demo) -> int:
    study = Study.read(STUDY)
    console = a_console()
    console.print(
        f"{len(study.worlds)} worlds x {len(study.agents)} agents x {len(study.numbers)} seeds: "
        "no agent knows its world; policies are evaluated exactly."
    )
    folder = StudyFolder(given.out)
    if all(folder.of(run).finished for run in study.runs):
        console.print(f"they have all finished before; delete {given.out} to see them run again")
    results = carry_out(study, given.out, given.workers)
    show_results(results)
    page = results.report()
    console.print(f"\nreport: {page.resolve().as_uri()}", soft_wrap=True)
    console.print(
        f"the study is a text file of {len(study.text.splitlines())} lines, "
        f"{given.out / 'study.toml'}: edit it and run `optimist sweep` on it"
    )
    show_failures(results)
    return SOME_FAILED if results.failures else OK
