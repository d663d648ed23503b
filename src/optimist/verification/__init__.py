"""The paper's analysis, checked on runs in worlds that are known exactly."""

from optimist.verification.run import Run
from optimist.verification.statement import Comparison, Needs, Statement
from optimist.verification.trace import Trace, record
from optimist.verification.verify import Finding, Report, Summary, verify

__all__ = [
    "Comparison",
    "Finding",
    "Needs",
    "Report",
    "Run",
    "Statement",
    "Summary",
    "Trace",
    "record",
    "verify",
]
