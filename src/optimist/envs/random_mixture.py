"""RandomMixture: random linear mixture MDPs with their known kernels."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from optimist import checks
from optimist.checks import FloatArray
from optimist.envs.random_tabular import draw_kernel, draw_rewards
from optimist.envs.world import World, start_in_first
from optimist.mdp import FiniteMDP


@dataclass(frozen=True)
class RandomMixture(World):
    """A linear mixture MDP, P = sum_i theta_i P_i with known kernels P_1, ..., P_d.

    Each P_i is the kernel of a `RandomTabular`: a pair leads to ``successors`` states. The weights
    theta are uniform on the simplex, and a share ``paying`` of the states pays. A learner that is
    told the kernels has d numbers to learn, for any number of states; without them every pair has
    to be tried.

    Attributes
    ----------
    d
        Number of kernels.
    n_states
        Number of states.
    n_actions
        Number of actions.
    successors
        Number of states that each pair may lead to under one kernel.
    paying
        Share of the states that pay.
    seed
        Seed of the kernels, the weights and the rewards.
    gamma
        The discount factor.

    Examples
    --------
    >>> world = RandomMixture(d=3, n_states=10, n_actions=2)
    >>> world.kernels.shape, world.theta.shape
    ((3, 10, 2, 10), (3,))
    >>> bool(np.allclose(np.tensordot(world.theta, world.kernels, 1), world.mdp.P))
    True
    """

    d: int = 4
    n_states: int = 50
    n_actions: int = 4
    successors: int = 3
    paying: float = 0.1
    seed: int = 0
    gamma: float = 0.95

    def build(self) -> FiniteMDP:
        theta, kernels, r = self._drawn
        P = np.tensordot(theta, kernels, axes=1)
        nu0 = start_in_first(self.n_states)
        return FiniteMDP(P, np.repeat(r[:, None], self.n_actions, axis=1), nu0, self.gamma)

    @property
    def theta(self) -> FloatArray:
        """The weights of the kernels, [d]."""
        return self._drawn[0]

    @property
    def kernels(self) -> FloatArray:
        """The kernels P_i, [d, X, A, X]."""
        return self._drawn[1]

    @cached_property
    def _drawn(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The weights, the kernels and the reward of each state."""
        d = checks.count(self.d, "d")
        X = checks.count(self.n_states, "n_states")
        A = checks.count(self.n_actions, "n_actions")
        self.check_size(X, A, successors=(d + 1) * X)
        rng = np.random.default_rng(checks.count(self.seed, "seed", least=0))
        kernels = np.stack([draw_kernel(rng, X, A, self.successors) for _ in range(d)])
        theta = rng.dirichlet(np.ones(d))
        return (
            checks.frozen(theta),
            checks.frozen(kernels),
            draw_rewards(rng, X, self.paying),
        )
