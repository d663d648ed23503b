"""Feature maps that the package does not ship."""

import numpy as np

from optimist.features import StateFeatures


class DenseStateFeatures(StateFeatures):
    """A random dense table of state features, [n_states, dim]."""

    def __init__(self, n_states: int, dim: int, seed: int = 8) -> None:
        self.table = np.random.default_rng(seed).normal(size=(n_states, dim)) / np.sqrt(dim)
        super().__init__(dim, bound=float(np.linalg.norm(self.table, axis=1).max()), blocks=1)

    def __call__(self, observations):
        return self.table[np.asarray(observations)]
