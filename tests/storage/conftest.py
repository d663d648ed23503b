"""Learners with covariances of every structure, rewards that change, and how two are compared."""

import signal
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from reference.features import DenseStateFeatures
from reference.mdps import random_mdp

from optimist import envs
from optimist.agents import VariantAgent
from optimist.core import Adversary, Drifting, FixedBonus, Sequence, Sigmoid, Switching, Variant
from optimist.features import OneHot, PerAction, Table

CONFIG = Variant(eta=0.5, bonus=FixedBonus(0.3), ascension=Sigmoid(4.0, 2.0), updates=2)


def dense():
    mdp = envs.RandomLinear(5, 12, 3, gamma=0.9).mdp
    return mdp, Table(mdp.Phi)


SETTINGS = {
    "one-hot": lambda: (random_mdp(), OneHot(6, 3)),
    "dense": dense,
    "blocks": lambda: (random_mdp(), PerAction(DenseStateFeatures(6, dim=4), n_actions=3)),
}
"""MDPs and features; the rewards of the last are not linear in them."""


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

    def build(setting, config=CONFIG, episodes=0, **options):
        agent = VariantAgent(*setting, config=config, **options)
        if episodes:
            agent.learn(episodes)
        return agent

    return build


CHOOSERS = {
    "switching": lambda mdp, c: Switching(c, every=7),
    "drifting": lambda mdp, c: Drifting(c[0], c[1], episodes=40),
    "sequence": lambda mdp, c: Sequence(np.random.default_rng(5).random((60, *mdp.r.shape))),
    "adversary": lambda mdp, c: Adversary(mdp, c),
    "patient adversary": lambda mdp, c: Adversary(mdp, c, every=7),
}


@pytest.fixture(params=CHOOSERS)
def chooser(request):
    """Rewards for 60 episodes or more; the candidates are three, each for one action."""

    def build(mdp):
        one_action = np.broadcast_to(np.eye(3)[:, None], (3, *mdp.r.shape))
        return CHOOSERS[request.param](mdp, one_action * (0.5 + 0.5 * mdp.r))

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
    return SimpleNamespace(state=state_of, check=partial(assert_same, state_of), columns=COLUMNS)


@pytest.fixture
def interruptible():
    """Python's own answer to an interruption, whatever runs the tests has put in its place."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
