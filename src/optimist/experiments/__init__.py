"""Studies: their definition, their execution anywhere, and their results."""

from optimist.errors import DiskError, ExecutorError, StudyError
from optimist.experiments.results import Results, open_results
from optimist.experiments.specification import Specification
from optimist.experiments.study import Run, Study, shipped_studies
from optimist.experiments.sweep import run

__all__ = [
    "DiskError",
    "ExecutorError",
    "Results",
    "Run",
    "Specification",
    "Study",
    "StudyError",
    "open_results",
    "run",
    "shipped_studies",
]
