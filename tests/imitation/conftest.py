"""Worlds with experts, and reward features of several kinds."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from optimist import envs
from optimist.features import OneHot, OneHotState, StateOnly, Table
from optimist.imitation import FeatureDataset
from optimist.mdp import FiniteMDP


def random_mdp(n_states=6, n_actions=3, gamma=0.9, seed=0):
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(np.full(n_states, 0.5), size=(n_states, n_actions))
    r = rng.random((n_states, n_actions))
    return FiniteMDP(P, r, rng.dirichlet(np.ones(n_states)), gamma)


def states(mdp):
    return StateOnly(OneHotState(mdp.n_states), mdp.n_actions)


def dense(mdp, dim=3, seed=1):
    """Dense features of pairs, of both signs and with norms below their bound."""
    Phi = np.random.default_rng(seed).normal(size=(*mdp.r.shape, dim))
    return Table(Phi / np.linalg.norm(Phi, axis=-1).max())


PITS = envs.GridWorld("S..\n.#.\n.OG")

SETTINGS = {
    "states": lambda: (random_mdp(), states(random_mdp()), None),
    "pairs": lambda: (random_mdp(), OneHot(6, 3), None),
    "dense": lambda: (random_mdp(), dense(random_mdp()), None),
    "both dense": lambda: (random_mdp(), dense(random_mdp()), dense(random_mdp(), 20, 2)),
    "grid": lambda: (PITS.mdp, states(PITS.mdp), None),
}
"""An MDP, phi_r and phi_P by name."""


@pytest.fixture(params=SETTINGS)
def setting(request):
    """An MDP, phi_r, phi_P and the expert's exact features."""
    mdp, phi_r, phi_P = SETTINGS[request.param]()
    return mdp, phi_r, phi_P, FeatureDataset.from_policy(mdp, mdp.optimal().policy, phi_r)


@pytest.fixture
def grid():
    """A small grid, its optimal policy, and what that shows of states."""
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
    path = Path(__file__).with_name("transcription.py")
    spec = importlib.util.spec_from_file_location("imitation_transcription", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
