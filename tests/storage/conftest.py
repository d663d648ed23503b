"""Learners with covariances of every structure, and how two of them are compared."""

import signal
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from optimist import Configuration, RmaxRaviUcb, envs
from optimist.core import Sigmoid
from optimist.features import OneHot, PerAction, StateFeatures, Table
from optimist.mdp import FiniteMDP

CONFIG = Configuration(eta=0.5, beta=0.3, ascension=Sigmoid(4.0, 2.0), updates=2)


class RandomState(StateFeatures):
    """A random dense table of state features."""

    def __init__(self, n_states, dim):
        self.table = np.random.default_rng(8).normal(size=(n_states, dim)) / np.sqrt(dim)
        super().__init__(dim, bound=float(np.linalg.norm(self.table, axis=1).max()), blocks=1)

    def __call__(self, observations):
        return self.table[np.asarray(observations)]


def random_mdp(n_states=6, n_actions=3, gamma=0.9, seed=0):
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(np.full(n_states, 0.5), size=(n_states, n_actions))
    r = rng.random((n_states, n_actions))
    return FiniteMDP(P, r, rng.dirichlet(np.ones(n_states)), gamma)


def one_hot():
    return random_mdp(), OneHot(6, 3)


def dense():
    mdp = envs.RandomLinear(5, 12, 3, gamma=0.9).mdp
    return mdp, Table(mdp.Phi)


def blocks():
    """The rewards are not linear in these features."""
    return random_mdp(), PerAction(RandomState(6, dim=4), n_actions=3)


SETTINGS = {"one-hot": one_hot, "dense": dense, "blocks": blocks}


@pytest.fixture(params=SETTINGS)
def setting(request):
    """An MDP and its features."""
    return SETTINGS[request.param]()


@pytest.fixture(scope="session")
def settings():
    return SETTINGS


@pytest.fixture
def mdp():
    return random_mdp()


@pytest.fixture
def make():
    """A learner in a setting, and where wanted one that has played some episodes."""

    def build(setting, config=CONFIG, episodes=0, cls=RmaxRaviUcb, **options):
        agent = cls(*setting, config, **options)
        if episodes:
            agent.learn(episodes)
        return agent

    return build


COLUMNS = ("steps", "reward", "epoch", "optimistic_value", "sup_q", "bonus", "ascension")
PARTS = ("chosen", "evaluated", "policies", "rewards")


def assert_same(state_of, one, other):
    """Two learners are the same, and so is all that they have seen."""
    first, second = state_of(one), state_of(other)
    assert first.keys() == second.keys()
    for name in first:
        assert first[name] == second[name], name
    assert one.config == other.config
    assert one.stride == other.stride
    assert one.episodes == other.episodes
    if one.episodes:
        for name in (*COLUMNS, *PARTS):
            a, b = getattr(one.history, name), getattr(other.history, name)
            assert a.dtype == b.dtype, name
            assert a.shape == b.shape, name
            assert a.tobytes() == b.tobytes(), name


@pytest.fixture
def same(state_of):
    check = partial(assert_same, state_of)
    return SimpleNamespace(state=state_of, check=check, columns=COLUMNS)


@pytest.fixture
def interruptible():
    """Python's own answer to an interruption, whatever runs the tests has put in its place."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
