"""``optimist sweep``: run a study."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from optimist.cli.flags import Sweep
from optimist.cli.live import shown
from optimist.cli.mistakes import user_errors
from optimist.cli.parts import import_modules
from optimist.cli.studies import finish
from optimist.experiments import Study


def main(given: Sweep) -> int:
    import_modules(given.imports)
    study = Study.read(given.study)
    changes: dict[str, Any] = {}
    if given.seeds is not None:
        changes["seeds"] = given.seeds
    if given.episodes is not None or given.steps is not None:
        changes |= {"episodes": given.episodes, "steps": given.steps, "stride": None}
    with user_errors():
        study = replace(study, **changes) if changes else study
    out = given.out or Path("runs") / Path(given.study).stem
    with shown(study, out, given.live):
        return finish(study, out, given.workers, given.json)[0]
