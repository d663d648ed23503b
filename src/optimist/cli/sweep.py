"""``optimist sweep``: run a study."""

from pathlib import Path

from optimist.cli.flags import Sweep
from optimist.cli.studies import finish
from optimist.experiments import Study
from optimist.registry import import_trusted


def main(given: Sweep) -> int:
    import_trusted(given.imports)
    study = Study.read(given.study)
    out = given.out or Path("runs") / Path(given.study).stem
    return finish(study, out, given.workers, given.json)
