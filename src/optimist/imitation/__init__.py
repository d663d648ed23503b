"""Imitation: what an expert shows, and learners that use it."""

from optimist.imitation.cloning import BehaviouralCloning
from optimist.imitation.configuration import FraILConfig
from optimist.imitation.dataset import FeatureDataset
from optimist.imitation.fra_il import FraIL
from optimist.imitation.history import ImitationHistory, ImitationRegret
from optimist.imitation.trajectories import TrajectoryDataset
from optimist.imitation.trajectory_arrays import WeightedPairs
from optimist.imitation.weights import Ball, Box, Simplex, WeightClass

__all__ = [
    "Ball",
    "BehaviouralCloning",
    "Box",
    "FeatureDataset",
    "FraIL",
    "FraILConfig",
    "ImitationHistory",
    "ImitationRegret",
    "Simplex",
    "TrajectoryDataset",
    "WeightClass",
    "WeightedPairs",
]
