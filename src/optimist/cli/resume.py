"""``optimist resume``: continue a study that was stopped."""

from optimist.cli.flags import Resume
from optimist.cli.studies import finish
from optimist.experiments import open_results


def main(given: Resume) -> int:
    study = open_results(given.folder, given.imports).study
    return finish(study, given.folder, given.workers, given.json)
