"""Learners with covariances of every structure, and rewards that change."""

import numpy as np
import pytest
from reference import settings as reference
from reference.mdps import random_mdp
from reference.variants import variant

from optimist.agents import VariantAgent
from optimist.core import Adversary, Drifting, Sequence, Switching

CONFIG = variant(updates=2)
SETTINGS = {
    "one-hot": reference.SETTINGS["random"],
    "dense": reference.SETTINGS["random linear"],
    "blocks": reference.SETTINGS["blocks"],
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
