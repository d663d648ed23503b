"""RandomTabular: random MDPs without structure (Garnets)."""

from dataclasses import dataclass

import numpy as np

from optimist import checks
from optimist.checks import FloatArray
from optimist.envs.world import World, start_in_first
from optimist.mdp import FiniteMDP


@dataclass(frozen=True)
class RandomTabular(World):
    """A random table of transitions: a Garnet (Bhatnagar, Sutton, Ghavamzadeh and Lee, 2009).

    Each pair leads to ``successors`` states, drawn without replacement. Their probabilities are the
    lengths into which uniform cuts divide [0, 1]. A share ``paying`` of the states, at least one,
    pays a reward that is uniform on [0, 1] for every action; the others pay nothing. Episodes start
    in the first state. The MDP is linear in one-hot features only, so every pair has to be tried.

    Attributes
    ----------
    n_states
        Number of states.
    n_actions
        Number of actions.
    successors
        Number of states that each pair may lead to.
    paying
        Share of the states that pay.
    seed
        Seed of the transitions and rewards.
    gamma
        The discount factor.

    Examples
    --------
    >>> world = RandomTabular(50, 4, successors=3, seed=1)
    >>> (world.mdp.P > 0).sum(axis=2).max(), (world.mdp.r[:, 0] > 0).sum()
    (np.int64(3), np.int64(5))
    """

    n_states: int = 50
    n_actions: int = 4
    successors: int = 3
    paying: float = 0.1
    seed: int = 0
    gamma: float = 0.95

    def build(self) -> FiniteMDP:
        n_states = checks.count(self.n_states, "n_states")
        n_actions = checks.count(self.n_actions, "n_actions")
        self.check_size(n_states, n_actions, successors=n_states)  # while they are drawn
        rng = np.random.default_rng(checks.count(self.seed, "seed", least=0))
        P = draw_kernel(rng, n_states, n_actions, self.successors)
        r = np.repeat(draw_rewards(rng, n_states, self.paying)[:, None], n_actions, axis=1)
        return FiniteMDP(P, r, start_in_first(n_states), self.gamma)


def draw_kernel(
    rng: np.random.Generator, n_states: int, n_actions: int, successors: int
) -> FloatArray:
    """A random kernel [X, A, X] in which each pair leads to ``successors`` states."""
    if checks.count(successors, "successors") > n_states:
        raise ValueError(f"successors must be at most n_states = {n_states}; got {successors}")
    pairs = n_states * n_actions
    after = rng.permuted(np.tile(np.arange(n_states), (pairs, 1)), axis=1)[:, :successors]
    cuts = np.sort(rng.random((pairs, successors - 1)), axis=1)
    P = np.zeros((pairs, n_states))
    np.put_along_axis(P, after, np.diff(cuts, axis=1, prepend=0.0, append=1.0), axis=1)
    return P.reshape(n_states, n_actions, n_states)


def draw_rewards(rng: np.random.Generator, n_states: int, paying: float) -> FloatArray:
    """The reward of each state [X]: uniform in a share of the states, at least one, else 0."""
    number = max(1, round(checks.probability(paying, "paying") * n_states))
    r = np.zeros(n_states)
    r[rng.permutation(n_states)[:number]] = rng.random(number)
    return r
