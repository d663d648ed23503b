"""State features repeated once per action."""

import numpy as np
from numpy.typing import ArrayLike

from optimist.checks import FloatArray, IntArray, count, indices
from optimist.features.base import FeatureMap, StateFeatures, batch_shape


class PerAction(FeatureMap):
    """A copy of the state features for each action, phi(x, a) = e_a (x) psi(x).

    Coordinate ``a * psi.dim + j`` holds psi_j(x), and all coordinates of other actions are zero.
    So the norms are those of psi, B = psi.bound, and each action has blocks of its own.

    Examples
    --------
    >>> from optimist.features import Tiles
    >>> phi = PerAction(Tiles(([0.0], [1.0]), bins=2), n_actions=2)
    >>> phi([0.9], 1)
    array([0., 0., 0., 1.])
    >>> phi.all_actions([[0.1], [0.9]]).shape, phi.blocks
    ((2, 2, 4), 4)
    """

    shared = True

    def __init__(self, psi: StateFeatures, n_actions: int) -> None:
        if not isinstance(psi, StateFeatures):
            raise TypeError(f"psi must be StateFeatures, such as OneHotState or Tiles; got {psi!r}")
        copies = count(n_actions, "n_actions")
        super().__init__(copies * psi.dim, psi.bound, copies * psi.blocks, copies)
        self.psi = psi

    def __call__(self, states: ArrayLike, actions: ArrayLike) -> FloatArray:
        psi = self.psi(states)
        a = indices(actions, "action", self.n_actions)
        batch = batch_shape(psi.shape[:-1], a.shape)
        chosen = a[..., None] == np.arange(self.n_actions)
        features = np.where(chosen[..., None], psi[..., None, :], 0.0)
        return features.reshape(*batch, self.dim)

    def all_actions(self, states: ArrayLike) -> FloatArray:
        psi = self.psi(states)
        features = np.zeros((*psi.shape[:-1], self.n_actions, self.n_actions, self.psi.dim))
        each = np.arange(self.n_actions)
        features[..., each, each, :] = psi[..., None, :]
        return features.reshape(*psi.shape[:-1], self.n_actions, self.dim)

    def in_blocks(self, states: ArrayLike) -> tuple[FloatArray, IntArray]:
        rows, block = self.psi.in_blocks(states)
        return rows[..., None, :], np.arange(self.n_actions) * self.psi.blocks + block[..., None]
