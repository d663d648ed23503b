"""Worlds with experts, reward features of several kinds, and checks that the files share."""

import re

import numpy as np
import pytest
from reference import algorithm_2
from reference.mdps import random_mdp

from optimist import envs
from optimist.features import OneHot, OneHotState, StateOnly, Table
from optimist.imitation import FeatureDataset


def states(mdp):
    return StateOnly(OneHotState(mdp.n_states), mdp.n_actions)


def dense(mdp, dim=3, seed=1):
    """Dense features of pairs, of both signs and with norms below their bound."""
    Phi = np.random.default_rng(seed).normal(size=(*mdp.r.shape, dim))
    return Table(Phi / np.linalg.norm(Phi, axis=-1).max())


PITS = envs.GridWorld("S..\n.#.\n.OG")

SETTINGS = {
    "states": (random_mdp(), states(random_mdp()), None),
    "pairs": (random_mdp(), OneHot(6, 3), None),
    "dense": (random_mdp(), dense(random_mdp()), None),
    "both dense": (random_mdp(), dense(random_mdp()), dense(random_mdp(), 20, 2)),
    "grid": (PITS.mdp, states(PITS.mdp), None),
}
"""An MDP, phi_r and phi_P by name."""


@pytest.fixture(scope="session")
def settings():
    """An MDP, phi_r, phi_P and the expert's exact features, by name."""
    return {
        name: (mdp, phi_r, phi_P, FeatureDataset.from_policy(mdp, mdp.optimal().policy, phi_r))
        for name, (mdp, phi_r, phi_P) in SETTINGS.items()
    }


@pytest.fixture(scope="session")
def grid():
    """A small grid, its optimal policy, and the exact features of its states."""
    world = envs.GridWorld("S..\n.#.\n..G")
    best = world.mdp.optimal().policy
    return world, best, FeatureDataset.from_policy(world, best, states(world.mdp))


@pytest.fixture(scope="session")
def make_random():
    return random_mdp


@pytest.fixture(scope="session")
def make_dense():
    return dense


@pytest.fixture(scope="session")
def plain():
    """The module of the transcription."""
    return algorithm_2


@pytest.fixture(scope="session")
def refuses():
    """Check that a function refuses every input of a table, with an error that matches."""

    def check(function, table):
        for given, kind, message in table:
            raised = None
            try:
                function(given)
            except kind as error:
                raised = error
            assert raised is not None, f"{given!r} was not refused: {message}"
            assert re.search(message, str(raised)), f"{given!r}: {raised}"

    return check
