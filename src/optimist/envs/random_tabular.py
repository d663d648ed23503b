"""RandomTabular: random MDPs without structure (Garnets)."""

from dataclasses import dataclass

import numpy as np

from optimist import checks
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
        successors = checks.count(self.successors, "successors")
        if successors > n_states:
            raise ValueError(f"successors = {successors} must be at most n_states = {n_states}")
        self.check_size(n_states, n_actions, successors=n_states)  # while they are drawn
        paying = max(1, round(checks.probability(self.paying, "paying") * n_states))
        rng = np.random.default_rng(checks.count(self.seed, "seed", least=0))
        pairs = n_states * n_actions
        after = rng.permuted(np.tile(np.arange(n_states), (pairs, 1)), axis=1)[:, :successors]
        cuts = np.sort(rng.random((pairs, successors - 1)), axis=1)
        P = np.zeros((pairs, n_states))
        np.put_along_axis(P, after, np.diff(cuts, axis=1, prepend=0.0, append=1.0), axis=1)
        r = np.zeros(n_states)
        r[rng.permutation(n_states)[:paying]] = rng.random(paying)
        return FiniteMDP(
            P.reshape(n_states, n_actions, n_states),
            np.repeat(r[:, None], n_actions, axis=1),
            start_in_first(n_states),
            self.gamma,
        )
