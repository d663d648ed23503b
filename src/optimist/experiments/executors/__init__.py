"""Executors map a function over items: in this process, in worker processes, or on a cluster."""

from optimist.experiments.executors.opening import EXECUTORS, Executor, open_executor
from optimist.experiments.executors.outcomes import Failure

__all__ = ["EXECUTORS", "Executor", "Failure", "open_executor"]
