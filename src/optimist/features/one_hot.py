"""One-hot features: the tabular case, with a diagonal covariance matrix."""

import numpy as np
from numpy.typing import ArrayLike

from optimist.checks import FloatArray, IntArray, count, indices
from optimist.features.base import FeatureMap, StateFeatures, batch_shape
from optimist.features.indicators import indicators


class OneHotState(StateFeatures):
    """One feature per state, psi(x) = e_x, for discrete observations.

    Every psi(x) has norm one, so the bound 1 is exact.

    Examples
    --------
    >>> psi = OneHotState(3)
    >>> psi(1)
    array([0., 1., 0.])
    >>> psi([0, 2]).shape, psi.bound, psi.structure
    ((2, 3), 1.0, 'diagonal')
    """

    def __init__(self, n_states: int) -> None:
        self.n_states = count(n_states, "n_states")
        super().__init__(dim=self.n_states, bound=1.0, blocks=self.n_states)

    def __call__(self, observations: ArrayLike) -> FloatArray:
        states = indices(observations, "state", self.n_states)
        return indicators(states[..., None], self.dim, 1.0)

    def in_blocks(self, observations: ArrayLike) -> tuple[FloatArray, IntArray]:
        states = indices(observations, "state", self.n_states)
        return np.ones((*states.shape, 1)), states.copy()


class OneHot(FeatureMap):
    """One feature per state-action pair, phi(x, a) = e_{x A + a}.

    Every phi(x, a) has norm one, so the bound B = 1 is exact.

    Examples
    --------
    >>> phi = OneHot(n_states=2, n_actions=2)
    >>> phi(1, 0)
    array([0., 0., 1., 0.])
    >>> phi.all_actions(0)
    array([[1., 0., 0., 0.],
           [0., 1., 0., 0.]])
    """

    shared = True

    def __init__(self, n_states: int, n_actions: int) -> None:
        self.n_states = count(n_states, "n_states")
        dim = self.n_states * count(n_actions, "n_actions")
        super().__init__(dim=dim, bound=1.0, blocks=dim, n_actions=n_actions)

    def __call__(self, states: ArrayLike, actions: ArrayLike) -> FloatArray:
        x = indices(states, "state", self.n_states)
        a = indices(actions, "action", self.n_actions)
        batch_shape(x.shape, a.shape)
        pairs = np.asarray(x * self.n_actions + a)
        return indicators(pairs[..., None], self.dim, 1.0)

    def all_actions(self, states: ArrayLike) -> FloatArray:
        x = indices(states, "state", self.n_states)
        return self(x[..., None], np.arange(self.n_actions))

    def in_blocks(self, states: ArrayLike) -> tuple[FloatArray, IntArray]:
        x = indices(states, "state", self.n_states)
        pairs = x[..., None] * self.n_actions + np.arange(self.n_actions)
        return np.ones((*x.shape, 1, 1)), pairs
