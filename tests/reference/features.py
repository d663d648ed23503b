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


class CarFeatures(StateFeatures):
    """Three dense features of the position and the velocity of MountainCar."""

    def __init__(self) -> None:
        super().__init__(dim=3, bound=2.0, blocks=1)

    def __call__(self, observations):
        x = np.asarray(observations, dtype=np.float64)
        return np.stack([np.ones(x.shape[:-1]), x[..., 0], 10 * x[..., 1]], axis=-1)


class Angles(StateFeatures):
    """Two features that all states share, of a number or of a vector's first entry."""

    def __init__(self) -> None:
        super().__init__(dim=2, bound=1.0, blocks=1)

    def __call__(self, observations):
        x = np.asarray(observations)
        x = x[..., 0] if x.dtype.kind == "f" else x
        return np.stack([np.cos(x), np.sin(x)], axis=-1)
