"""RandomLinear: random linear MDPs with their true, dense features."""

from dataclasses import dataclass

import numpy as np

from optimist import checks
from optimist.envs.world import World
from optimist.mdp import LinearMDP


@dataclass(frozen=True)
class RandomLinear(World):
    """A random linear MDP with features on the simplex (`LinearMDP.random_simplex`).

    Its features are the true ones, of dimension d, for any number of states. It tests
    generalisation, not deep exploration: most states can be reached from any other in one step.

    Attributes
    ----------
    d
        Dimension of the features.
    n_states
        Number of states.
    n_actions
        Number of actions.
    seed
        Seed of the features, transitions and rewards.
    gamma
        The discount factor.
    """

    d: int = 20
    n_states: int = 200
    n_actions: int = 5
    seed: int = 0
    gamma: float = 0.9

    def build(self) -> LinearMDP:
        rng = np.random.default_rng(checks.count(self.seed, "seed", least=0))
        d = checks.count(self.d, "d")
        n_states = checks.count(self.n_states, "n_states")
        n_actions = checks.count(self.n_actions, "n_actions")
        self.check_size(n_states, n_actions, successors=n_states + d)  # and d features
        return LinearMDP.random_simplex(rng, d, n_states, n_actions, self.gamma)
