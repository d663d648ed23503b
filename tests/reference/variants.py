"""Configurations of `VariantAgent` that tests of several packages share."""

import math

import numpy as np

from optimist import Optimist
from optimist.core import (
    Ascension,
    Contraction,
    FixedBonus,
    Never,
    Novelty,
    Sigmoid,
    SoftmaxPolicy,
    Threshold,
    Truncation,
    VarianceBonus,
    Variant,
)
from optimist.features import FeatureMap

PLAIN, SIGMOID = Sigmoid(4.0, 2.0), Sigmoid(4.1, 2.3)


def variant(
    eta: float = 0.5, beta: float = 0.3, ascension: Ascension = PLAIN, **other: object
) -> Variant:
    """A variant with a fixed bonus; bold enough to learn something in a few episodes."""
    return Variant(eta=eta, bonus=FixedBonus(beta), ascension=ascension, **other)


DEFAULT = variant()


def softmax_policy(
    Theta: np.ndarray,
    Lambda: np.ndarray,
    features: FeatureMap,
    config: Variant = DEFAULT,
    updates: int = 1,
) -> SoftmaxPolicy:
    """A policy of such parameters, with a heaven that is worth 10."""
    rest = {"eta": config.eta, "bonus": config.bonus, "ascension": config.ascension}
    return SoftmaxPolicy(Theta, Lambda, updates=updates, heaven=10.0, features=features, **rest)


VARIANTS = {
    "sigmoid": variant(0.1, 0.3, SIGMOID, updates=2),
    "step": variant(0.1, 0.3, Sigmoid(math.inf, 2.3)),
    "threshold": variant(1 / 3, 0.3, Threshold(0.3), ridge=0.3),
    "never": variant(0.1, 0.1, Never()),
    "truncation": variant(0.1, 1.0, Truncation()),
    "greedy": variant(math.inf, 1 / 3, SIGMOID, updates=3),
    "greedy truncation": variant(math.inf, 3.0, Truncation()),
    "adaptive": Optimist.Config().variant(),
    "novelty": variant(0.5, 0.1, Novelty(), ridge=0.3),
    "variance": Variant(eta=0.1, bonus=VarianceBonus(1 / 3), ascension=SIGMOID),
    "anytime": variant(0.1, 0.3, anytime=True),
    "contraction": variant(0.5, 0.1, Contraction(4.1, 2.3), updates=30, tolerance=1e-3),
    "options": variant(10.0, 1.0, r_max=3.0, ridge=None, observe_last=True),
}
"""A variant of every kind of ascension, bonus and update; most numbers are no binary fractions."""
