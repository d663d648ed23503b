"""``optimist resume``: continue a study that was stopped."""

from optimist.cli.flags import Resume
from optimist.cli.parts import import_modules
from optimist.cli.studies import finish
from optimist.experiments.study_folder import StudyFolder


def main(given: Resume) -> int:
    import_modules(given.imports)
    study = StudyFolder(given.folder).read(load=True)
    return finish(study, given.folder, given.workers, given.json)[0]
