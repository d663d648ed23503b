"""``optimist sweep``: run a study."""

from pathlib import Path

from optimist.cli.flags import Sweep
from optimist.cli.studies import finish
from optimist.experiments import Study


def main(given: Sweep) -> int:
    study = Study.read(given.study)
    out = given.out or Path("runs") / Path(given.study).stem
    return finish(study, out, given.workers, given.json)
