"""``optimist resume``: go on with a study that was stopped."""

from optimist.cli.flags import Resume
from optimist.cli.studies import finish
from optimist.experiments import open_results


def main(given: Resume) -> int:
    return finish(open_results(given.folder).study, given.folder, given.workers, given.json)
