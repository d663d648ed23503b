"""The paper's analysis, checked on runs in worlds that are known exactly."""

from optimist.verification.findings import Finding, Play, Report, Summary
from optimist.verification.run import Run
from optimist.verification.statement import (
    Comparison,
    Needs,
    Statement,
    Statements,
    at_most,
    equal,
    join,
)
from optimist.verification.trace import Trace, record
from optimist.verification.verify import verify

__all__ = [
    "Comparison",
    "Finding",
    "Needs",
    "Play",
    "Report",
    "Run",
    "Statement",
    "Statements",
    "Summary",
    "Trace",
    "at_most",
    "equal",
    "join",
    "record",
    "verify",
]
