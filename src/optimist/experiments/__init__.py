"""Studies: what to run, running it anywhere, and what came of it."""

from optimist.experiments.results import Results, open_results
from optimist.experiments.specification import Specification
from optimist.experiments.study import Run, Study, StudyError, shipped_studies
from optimist.experiments.study_folder import DiskError
from optimist.experiments.sweep import EngineError, run

__all__ = [
    "DiskError",
    "EngineError",
    "Results",
    "Run",
    "Specification",
    "Study",
    "StudyError",
    "open_results",
    "run",
    "shipped_studies",
]
