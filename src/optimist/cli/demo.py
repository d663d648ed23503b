"""``optimist demo``: a small study with its table and report."""

from optimist.cli.flags import Demo
from optimist.cli.studies import finish
from optimist.cli.tables import a_console
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
    code, results = finish(study, given.out, given.workers, as_json=False)
    if results is not None and results.finished:
        page = results.report()
        console.print(f"\nreport: {page.resolve().as_uri()}", soft_wrap=True)
        console.print(
            f"the study is a text file of {len(study.text.splitlines())} lines, "
            f"{given.out / 'study.toml'}: edit it and run `optimist sweep` on it"
        )
    return code
