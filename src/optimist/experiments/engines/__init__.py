"""Engines: mapping a function over many items, in this process, in several, or on a cluster."""

from optimist.experiments.engines.opening import ENGINES, Engine, open_engine
from optimist.experiments.engines.outcomes import Failure

__all__ = ["ENGINES", "Engine", "Failure", "open_engine"]
