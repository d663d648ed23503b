"""Random sizes within the assumptions of the theorem, as arrays."""

from types import SimpleNamespace

import numpy as np
import pytest


@pytest.fixture(scope="session")
def sizes():
    """500 draws of K >= 8, d >= 2, gamma, delta, and B, W_max, R_max >= 1."""
    rng, n = np.random.default_rng(0), 500
    B, W_max, R_max = 10 ** rng.uniform(0, 1.5, size=(3, n))
    return SimpleNamespace(
        K=rng.integers(8, 10**6, n),
        d=rng.integers(2, 200, n),
        n_actions=rng.integers(2, 20, n),
        gamma=1 - 10 ** rng.uniform(-3, -0.1, n),
        delta=10 ** rng.uniform(-4, -0.2, n),
        B=B,
        W_max=W_max,
        R_max=R_max,
    )
