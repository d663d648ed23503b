"""Worlds with experts, and reward features of several kinds."""

import sys
from pathlib import Path

import pytest
from reference.experts import dense, optimal_expert, states
from reference.mdps import random_mdp

from optimist import envs
from optimist.features import OneHot

sys.path.append(str(Path(__file__).parent))  # for `from transcriptions.oal import Oal`

RANDOM, PITS = random_mdp(), envs.GridWorld("S..\n.#.\n.OG").mdp
SETTINGS = {
    "states": (RANDOM, states(RANDOM), None),
    "pairs": (RANDOM, OneHot(6, 3), None),
    "dense": (RANDOM, dense(RANDOM), None),
    "both dense": (RANDOM, dense(RANDOM), dense(RANDOM, 20, 2)),
    "grid": (PITS, states(PITS), None),
}
"""An MDP, phi_r and phi_P by name."""


@pytest.fixture(scope="session")
def settings():
    """An MDP, phi_r, phi_P and the expert's exact features, by name."""
    return {
        name: (mdp, phi_r, phi_P, optimal_expert(mdp, phi_r))
        for name, (mdp, phi_r, phi_P) in SETTINGS.items()
    }


@pytest.fixture(scope="session")
def grid():
    """A small grid, its optimal policy, and the exact features of its states."""
    world = envs.GridWorld("S..\n.#.\n..G")
    return world, world.mdp.optimal().policy, optimal_expert(world.mdp)
