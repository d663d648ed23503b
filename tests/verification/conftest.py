"""Small runs of every kind, recorded once."""

import pytest

from optimist.envs import LowerK, RiverSwim
from optimist.verification.findings import PRACTICE, VALID
from optimist.verification.of_imitation import imitate
from optimist.verification.verify import runs

DELTA = 0.01


@pytest.fixture(scope="session")
def chain():
    """A run in RiverSwim with each choice of parameters."""
    return dict(runs(RiverSwim(4, gamma=0.8), K=300, delta=DELTA, seed=0))


@pytest.fixture(scope="session")
def valid(chain):
    return chain[VALID]


@pytest.fixture(scope="session")
def practice(chain):
    return chain[PRACTICE]


@pytest.fixture(scope="session")
def imitation():
    world = LowerK(n_actions=3, epsilon=0.1, gamma=0.8)
    return imitate(world.mdp, world.features, K=300, delta=DELTA, seed=0)
