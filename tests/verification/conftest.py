"""Small runs of every kind, recorded once."""

import numpy as np
import pytest

from optimist.agents import RmaxRaviUcb
from optimist.envs import LowerK, RiverSwim
from optimist.features import OneHot, Table
from optimist.mdp import FiniteMDP
from optimist.theory import parameters
from optimist.verification import RecordedRun, record
from optimist.verification.findings import Setting
from optimist.verification.of_imitation import imitate
from optimist.verification.verify import long_run, runs

DELTA = 0.01


@pytest.fixture(scope="session")
def chain():
    """A run in RiverSwim with each choice of parameters."""
    return dict(runs(RiverSwim(4, gamma=0.8), K=300, delta=DELTA, seed=0))


@pytest.fixture(scope="session")
def valid(chain):
    return chain[Setting.VALID]


@pytest.fixture(scope="session")
def practice(chain):
    return chain[Setting.PRACTICE]


@pytest.fixture(scope="session")
def theorem(chain):
    return chain[Setting.THEOREM]


@pytest.fixture(scope="session")
def long():
    """So long that the bound on its regret says something."""
    return long_run(300, DELTA, seed=0)


def one_state(features, K, gamma, eta, beta):
    """One state, and two actions that pay 1 and 0."""
    mdp = FiniteMDP(np.ones((1, 2, 1)), [[1.0, 0.0]], [1.0], gamma)
    alpha, omega = parameters.alpha(K), parameters.omega(K)
    config = RmaxRaviUcb.Config(beta, eta, alpha, omega, updates=1)
    return RecordedRun(record(mdp, features, config, K), delta=0.1)


@pytest.fixture(scope="session")
def bandit():
    """Whose policy moves about as fast as its eta lets it."""
    return one_state(OneHot(1, 2), K=500, gamma=0.3, eta=0.1, beta=1.5)


@pytest.fixture(scope="session")
def narrow():
    """Of one dimension, so that bonuses shrink fast."""
    return one_state(Table(np.ones((1, 2, 1))), K=2500, gamma=0.9, eta=0.01, beta=1.0)


@pytest.fixture(scope="session")
def timid():
    """Whose bonuses are so small that p+ is hardly more than its least."""
    world = RiverSwim(3, gamma=0.7)
    config = RmaxRaviUcb.Config(beta=1e-4, eta=1.0, alpha=4.0, omega=4.0, updates=1)
    return RecordedRun(record(world.mdp, world.features, config, K=50), DELTA)


@pytest.fixture(scope="session")
def imitation():
    world = LowerK(n_actions=3, epsilon=0.1, gamma=0.8)
    return imitate(world.mdp, world.features, K=300, delta=DELTA, seed=0)
