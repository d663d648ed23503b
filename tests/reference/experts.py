"""Experts, and the features that they are matched in."""

import numpy as np

from optimist.features import FeatureMap, OneHotState, StateOnly, Table
from optimist.imitation import FeatureDataset
from optimist.mdp import FiniteMDP


def states(mdp: FiniteMDP) -> StateOnly:
    """One feature for every state."""
    return StateOnly(OneHotState(mdp.n_states), mdp.n_actions)


def dense(mdp: FiniteMDP, dim: int = 3, seed: int = 1) -> Table:
    """Dense features of pairs, of both signs and with norms below their bound."""
    Phi = np.random.default_rng(seed).normal(size=(*mdp.r.shape, dim))
    return Table(Phi / np.linalg.norm(Phi, axis=-1).max())


def optimal_expert(mdp: FiniteMDP, phi: FeatureMap | None = None) -> FeatureDataset:
    """The exact features of an optimal policy."""
    return FeatureDataset.from_policy(mdp, mdp.optimal().policy, phi or states(mdp))


NEEDED = {"OgaIL": {"table": True}}
"""What an imitator has to be told in a world that is no mixture of known kernels."""


def imitator(kind, *given, **parameters):
    """An imitator that can learn in any finite world."""
    return kind(*given, **NEEDED.get(kind.__name__, {}), **parameters)
