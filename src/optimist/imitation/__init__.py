"""Imitation: datasets of an expert, and learners that use them."""

from optimist.imitation.cloning import BehaviouralCloning
from optimist.imitation.configuration import FraILConfig
from optimist.imitation.dataset import FeatureDataset
from optimist.imitation.forward_ail import ForwardAIL
from optimist.imitation.fra_il import FraIL
from optimist.imitation.history import ImitationHistory, ImitationRegret
from optimist.imitation.ilarl import Ilarl, IlarlConfig
from optimist.imitation.imitator import Imitator
from optimist.imitation.imitator_history import ImitatorHistory
from optimist.imitation.linear_cloning import LinearCloning
from optimist.imitation.matching_certificate import MatchingCertificate, certify_matching
from optimist.imitation.mb_tail import MbTail
from optimist.imitation.mimic_md import MimicMD
from optimist.imitation.mobile import Mobile
from optimist.imitation.oal import Oal, OalHistory
from optimist.imitation.oga_il import OgaIL, OgaILConfig
from optimist.imitation.trajectories import TrajectoryDataset
from optimist.imitation.trajectory_arrays import WeightedPairs
from optimist.imitation.weights import Ball, Box, Simplex, WeightClass

IMITATORS: dict[str, type[Imitator]] = {
    kind.__name__: kind
    for kind in (
        *(BehaviouralCloning, LinearCloning, MimicMD, Oal, MbTail),
        *(ForwardAIL, Mobile, OgaIL, Ilarl, FraIL),
    )
}
"""All imitators by name, in the order of the table in Appendix C."""

__all__ = [
    "IMITATORS",
    "Ball",
    "BehaviouralCloning",
    "Box",
    "FeatureDataset",
    "ForwardAIL",
    "FraIL",
    "FraILConfig",
    "Ilarl",
    "IlarlConfig",
    "ImitationHistory",
    "ImitationRegret",
    "Imitator",
    "ImitatorHistory",
    "LinearCloning",
    "MatchingCertificate",
    "MbTail",
    "MimicMD",
    "Mobile",
    "Oal",
    "OalHistory",
    "OgaIL",
    "OgaILConfig",
    "Simplex",
    "TrajectoryDataset",
    "WeightClass",
    "WeightedPairs",
    "certify_matching",
]
