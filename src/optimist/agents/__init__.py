"""Learners: what a user constructs. Each is a choice of ascension function and parameters."""

from optimist.agents.configuration import Configuration
from optimist.agents.history import History
from optimist.agents.optimistic_vi import OptimisticVI
from optimist.agents.ravi_ucb import RaviUcb
from optimist.agents.rmax import Rmax
from optimist.agents.rmax_ravi_ucb import RmaxRaviUcb

__all__ = ["Configuration", "History", "OptimisticVI", "RaviUcb", "Rmax", "RmaxRaviUcb"]
