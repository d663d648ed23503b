"""Check the paper's analysis on recorded runs in worlds that are known exactly."""

from optimist.verification.findings import Finding, Play, Summary, Verification
from optimist.verification.run import RecordedRun
from optimist.verification.statement import (
    Claim,
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
    "Claim",
    "Finding",
    "Needs",
    "Play",
    "RecordedRun",
    "Statement",
    "Statements",
    "Summary",
    "Trace",
    "Verification",
    "at_most",
    "equal",
    "join",
    "record",
    "verify",
]
