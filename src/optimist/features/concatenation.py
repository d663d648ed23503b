"""Separate reward features and transition features as one map."""

import math

import numpy as np
from numpy.typing import ArrayLike

from optimist.checks import FloatArray
from optimist.features.base import FeatureMap
from optimist.features.distinct import Distinct


class Concatenation(FeatureMap):
    """The features (phi_r, phi_P), for rewards linear in phi_r and transitions linear in phi_P.

    The squared norms add up, so ``B = sqrt(B_r^2 + B_P^2)``, which is exact if both maps have
    constant norm. The two parts occur together, so the covariance is dense.

    Parameters
    ----------
    phi_r
        The reward features, which come first.
    phi_P
        The transition features, of the same actions.

    Examples
    --------
    >>> from optimist.features import OneHot, OneHotState, StateOnly
    >>> phi = Concatenation(StateOnly(OneHotState(2), n_actions=2), OneHot(2, 2))
    >>> phi(1, 0)
    array([0., 1., 0., 0., 1., 0.])
    >>> round(phi.bound, 3)
    1.414
    """

    def __init__(self, phi_r: FeatureMap, phi_P: FeatureMap) -> None:
        for name, phi in (("phi_r", phi_r), ("phi_P", phi_P)):
            if not isinstance(phi, FeatureMap):
                raise TypeError(
                    f"{name} must be a FeatureMap; got {phi!r}; wrap state features in StateOnly"
                )
            if isinstance(phi, Distinct):
                raise TypeError(f"{name} must have a fixed number of features; Distinct ones grow")
        if phi_r.n_actions != phi_P.n_actions:
            raise ValueError(
                f"phi_r has {phi_r.n_actions} actions and phi_P has {phi_P.n_actions}; "
                "both must describe the same actions"
            )
        super().__init__(
            dim=phi_r.dim + phi_P.dim,
            bound=math.hypot(phi_r.bound, phi_P.bound),
            blocks=1,
            n_actions=phi_r.n_actions,
        )
        self.phi_r = phi_r
        self.phi_P = phi_P

    def __call__(self, states: ArrayLike, actions: ArrayLike) -> FloatArray:
        return np.concatenate([self.phi_r(states, actions), self.phi_P(states, actions)], axis=-1)

    def all_actions(self, states: ArrayLike) -> FloatArray:
        parts = [self.phi_r.all_actions(states), self.phi_P.all_actions(states)]
        return np.concatenate(parts, axis=-1)
