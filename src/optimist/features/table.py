"""Features from an array over a finite state-action space."""

import numpy as np
from numpy.typing import ArrayLike

from optimist.checks import FloatArray, count, frozen, indices, real_array
from optimist.features.base import FeatureMap, batch_shape


class Table(FeatureMap):
    """Features phi(x, a) = array[x, a], such as those of a linear MDP known in full.

    The bound B is the largest norm in the table, so it is exact. The covariance counts as dense,
    whatever the table holds.

    Parameters
    ----------
    array
        The features [X, A, d]. They are copied into the read-only attribute `array`.

    Examples
    --------
    >>> phi = Table([[[3.0, 4.0], [1.0, 0.0]]])
    >>> phi(0, 1)
    array([1., 0.])
    >>> phi.n_states, phi.n_actions, phi.dim, phi.bound
    (1, 2, 2, 5.0)
    """

    def __init__(self, array: ArrayLike) -> None:
        self.array = frozen(real_array(array, "array", shape=(None, None, None)))
        n_states, n_actions, dim = self.array.shape
        self.n_states = count(n_states, "n_states")
        bound = float(np.linalg.norm(self.array, axis=-1).max(initial=0.0))
        super().__init__(dim=dim, bound=bound, blocks=1, n_actions=n_actions)

    def __call__(self, states: ArrayLike, actions: ArrayLike) -> FloatArray:
        x = indices(states, "state", self.n_states)
        a = indices(actions, "action", self.n_actions)
        batch_shape(x.shape, a.shape)
        # `take` copies even for a single pair, for which indexing returns a read-only view.
        return self.array.reshape(-1, self.dim).take(x * self.n_actions + a, axis=0)

    def all_actions(self, states: ArrayLike) -> FloatArray:
        return self.array.take(indices(states, "state", self.n_states), axis=0)
