"""Worlds with features of every structure, by name."""

import numpy as np

from optimist import envs
from optimist.features import FeatureMap, OneHot, PerAction, StateFeatures, Table
from optimist.mdp import FiniteMDP
from reference.features import DenseStateFeatures
from reference.mdps import random_mdp

Setting = tuple[FiniteMDP, FeatureMap]


class Aggregation(StateFeatures):
    """Groups of states that share a feature, though not its size and sign."""

    def __init__(self, groups, sizes):
        self.table = np.eye(max(groups) + 1)[groups] * np.array(sizes)[:, None]
        dim = self.table.shape[1]
        super().__init__(dim, bound=float(np.abs(sizes).max()), blocks=dim)

    def __call__(self, observations):
        return self.table[np.asarray(observations)]


def one_hot(mdp: FiniteMDP) -> Setting:
    return mdp, OneHot(mdp.n_states, mdp.n_actions)


def aggregated() -> Setting:
    groups, sizes = [0, 0, 1, 2, 2, 2], [1.0, 0.5, -1.0, 0.0, 2.0, 1.5]
    return random_mdp(), PerAction(Aggregation(groups, sizes), n_actions=3)


def table(dim: int, scale: float) -> Setting:
    """A random MDP, and features that are not those of its kernel and rewards."""
    return random_mdp(), Table(np.random.default_rng(3).normal(size=(6, 3, dim)) / scale)


def own(world: envs.World) -> Setting:
    return world.mdp, world.features


SETTINGS = {
    "river": lambda: one_hot(envs.RiverSwim(5, gamma=0.95).mdp),
    "grid": lambda: one_hot(envs.GridWorld("S..\n.#.\n.OG", gamma=0.9).mdp),
    "deep sea": lambda: one_hot(envs.DeepSea(4, slip=0.1, gamma=0.9).mdp),
    "random": lambda: one_hot(random_mdp()),
    "random linear": lambda: own(envs.RandomLinear(4, 12, 3, gamma=0.9)),
    "lower K": lambda: own(envs.LowerK(3, special=1, gamma=0.9)),
    "blocks": lambda: (random_mdp(), PerAction(DenseStateFeatures(6, dim=3), n_actions=3)),
    "aggregated": aggregated,
    "wide table": lambda: table(25, 5.0),  # more features than pairs
}
