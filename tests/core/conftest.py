"""Worlds with features of every structure, and the plain algorithms they are played with."""

import numpy as np
import pytest
from reference import algorithm_1
from reference.features import DenseStateFeatures
from reference.mdps import random_mdp

from optimist import envs
from optimist.features import OneHot, PerAction, StateFeatures, Table

SMALL_GRID = "S..\n.#.\n.OG"


class Aggregation(StateFeatures):
    """Groups of states that share a feature, though not its size and sign."""

    def __init__(self, groups, sizes):
        self.table = np.eye(max(groups) + 1)[groups] * np.array(sizes)[:, None]
        dim = self.table.shape[1]
        super().__init__(dim, bound=float(np.abs(sizes).max()), blocks=dim)

    def __call__(self, observations):
        return self.table[np.asarray(observations)]


def one_hot(mdp):
    return mdp, OneHot(mdp.n_states, mdp.n_actions)


def own(world):
    return world.mdp, world.features


def aggregated():
    groups, sizes = [0, 0, 1, 2, 2, 2], [1.0, 0.5, -1.0, 0.0, 2.0, 1.5]
    return random_mdp(), PerAction(Aggregation(groups, sizes), n_actions=3)


SETTINGS = {
    "river": lambda: one_hot(envs.RiverSwim(5, gamma=0.95).mdp),
    "grid": lambda: one_hot(envs.GridWorld(SMALL_GRID, gamma=0.9).mdp),
    "deep sea": lambda: one_hot(envs.DeepSea(4, slip=0.1, gamma=0.9).mdp),
    "random": lambda: one_hot(random_mdp()),
    "random linear": lambda: own(envs.RandomLinear(4, 12, 3, gamma=0.9)),
    "lower K": lambda: own(envs.LowerK(3, special=1, gamma=0.9)),
    "blocks": lambda: (random_mdp(), PerAction(DenseStateFeatures(6, dim=3), n_actions=3)),
    "aggregated": aggregated,
    "wide table": lambda: (
        random_mdp(),
        Table(np.random.default_rng(3).normal(size=(6, 3, 25)) / 5),  # more features than pairs
    ),
}


@pytest.fixture(params=SETTINGS)
def setting(request):
    """An MDP and its features."""
    return SETTINGS[request.param]()


@pytest.fixture(scope="session")
def settings_by_name():
    return SETTINGS


@pytest.fixture(scope="session")
def make_random():
    return random_mdp


@pytest.fixture(scope="session")
def plain():
    """The module of the transcription."""
    return algorithm_1


@pytest.fixture(scope="session")
def transcribe(plain):
    """The transcription of an agent that has not played yet."""

    def make(agent, **options):
        c, mdp = agent.config, agent.mdp
        return plain.Transcription(
            mdp,
            agent.features.all_actions(np.arange(mdp.n_states)),
            eta=c.eta,
            beta=c.bonus.beta,
            alpha=c.ascension.alpha,
            omega=c.ascension.omega,
            R_max=c.r_max,
            ridge=c.ridge,
            updates=c.updates,
            observe_last=c.observe_last,
            **options,
        )

    return make


@pytest.fixture(scope="session")
def follow():
    """Play an agent and its transcription side by side, comparing them after every episode."""

    def compare(agent, other, episodes, tolerance=1e-9):
        def close(actual, expected, what):
            np.testing.assert_allclose(
                actual, expected, rtol=0, atol=tolerance, err_msg=f"{what}, episode {k}"
            )

        unit = max(1.0, agent.config.bonus.beta)  # of the bonuses
        for k in range(episodes):
            history = agent.learn(1)
            other.episode()
            it = agent.diagnostics
            assert history.steps[0] == other.steps
            assert history.epoch[0] == other.e
            close(history.reward[0], other.reward, "reward")
            close(history.optimistic_value[0], other.value, "<nu0, V_k>")
            close(history.bonus[0] / unit, other.bonus / unit, "mean bonus")
            close(history.ascension[0], other.ascension, "mean ascension")
            close(history.sup_q[0], other.sup_q, "sup |Q|")
            close(it.V, other.V[:-1], "V")
            close(it.pi, other.pi[:-1], "pi")
            close(it.CB / unit, other.CB[:-1] / unit, "CB")
            close(it.p, other.p[:-1], "p")
            if k % 20 == 19:
                states = np.arange(agent.mdp.n_states)
                close(agent.policy.probabilities(states), other.pi[:-1], "stored policy")
        return other

    return compare
