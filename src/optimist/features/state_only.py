"""State features as state-action features that ignore the action."""

import numpy as np
from numpy.typing import ArrayLike

from optimist.checks import FloatArray, IntArray, indices
from optimist.features.base import FeatureMap, StateFeatures, batch_shape


class StateOnly(FeatureMap):
    """Features phi(x, a) = psi(x) that ignore the action.

    With `OneHotState` these are the reward features of imitation from states alone. The norms
    are those of psi, so B = psi.bound.

    Examples
    --------
    >>> from optimist.features import OneHotState
    >>> phi = StateOnly(OneHotState(3), n_actions=2)
    >>> phi(2, 0), phi.blocks
    (array([0., 0., 1.]), 3)
    >>> phi.all_actions(2)
    array([[0., 0., 1.],
           [0., 0., 1.]])
    """

    shared = True

    def __init__(self, psi: StateFeatures, n_actions: int) -> None:
        if not isinstance(psi, StateFeatures):
            raise TypeError(f"psi must be StateFeatures, such as OneHotState or Tiles; got {psi!r}")
        super().__init__(psi.dim, psi.bound, psi.blocks, n_actions)
        self.psi = psi

    def __call__(self, states: ArrayLike, actions: ArrayLike) -> FloatArray:
        psi = self.psi(states)
        a = indices(actions, "action", self.n_actions)
        batch = batch_shape(psi.shape[:-1], a.shape)
        return psi if batch == psi.shape[:-1] else np.broadcast_to(psi, (*batch, self.dim)).copy()

    def all_actions(self, states: ArrayLike) -> FloatArray:
        return np.repeat(self.psi(states)[..., None, :], self.n_actions, axis=-2)

    def in_blocks(self, states: ArrayLike) -> tuple[FloatArray, IntArray]:
        rows, block = self.psi.in_blocks(states)
        return rows[..., None, :], np.repeat(block[..., None], self.n_actions, axis=-1)
