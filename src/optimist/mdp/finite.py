"""Finite Markov decision processes with known arrays, solved exactly (Section 2.1)."""

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from optimist import checks
from optimist.checks import FloatArray
from optimist.display.card import card
from optimist.mdp.affine import AffineRewards
from optimist.mdp.dynamics import Dynamics
from optimist.mdp.kernel import (
    AnyMatrix,
    Kernel,
    check_probabilities,
    compact,
    freeze_sparse,
    in_triples,
    read_kernel,
    rescale_rows,
)
from optimist.mdp.optimum import Optimum, find_optimum
from optimist.mdp.rewards import map_rewards, paid_rewards, read_rewards
from optimist.mdp.toy_text import read_tables


class FiniteMDP:
    """A discounted MDP M(r) = (X, A, r, P, gamma, nu0) on finite sets, validated and immutable.

    Parameters
    ----------
    P
        The transition kernel: an array [X, A, X], or a sparse matrix of X*A rows whose row
        ``x * A + a`` is P(. | x, a). Rows must sum to one within 1e-8; see `normalised`.
    r
        Rewards r(x, a) as [X, A], or r(x, a, x') as [X, A, X] (with a sparse P also as a sparse
        matrix of X*A rows, whose absent entries pay 0). The latter are averaged under P; all of
        them are kept too, with a sparse P those of its stored transitions.
    nu0
        The initial distribution, [X].
    gamma
        The discount factor, in [0, 1).

    Attributes
    ----------
    r, nu0, gamma
        As above; r is the mean reward, [X, A].
    transition_rewards
        r(x, a, x') if it was given, [X, A, X] or sparse like P; otherwise None.
    reward_map
        The affine map that took the original rewards to the present ones.

    Examples
    --------
    Stay for 1, or leave for a state that pays 2 for ever (values 2 * gamma / (1 - gamma) = 18):

    >>> P = [[[1, 0], [0, 1]], [[0, 1], [0, 1]]]
    >>> m = FiniteMDP(P, r=[[1, 0], [2, 2]], nu0=[1, 0], gamma=0.9)
    >>> best = m.optimal()
    >>> best.policy[0], round(best.value, 9)
    (array([0., 1.]), 18.0)
    >>> uniform = m.uniform_policy
    >>> round(m.value(uniform), 6), m.occupancy(uniform).sum().round(12)
    (17.272727, np.float64(1.0))
    """

    dynamics: Dynamics
    r: FloatArray
    nu0: FloatArray
    transition_rewards: Kernel | None
    reward_map: AffineRewards

    def __init__(self, P: AnyMatrix, r: AnyMatrix, nu0: ArrayLike, gamma: float) -> None:
        kernel, n_actions = read_kernel(P)
        check_probabilities(kernel, n_actions)
        mean, whole = read_rewards(r, kernel, n_actions)
        self.__dict__.update(
            dynamics=Dynamics(kernel, n_actions, checks.discount(gamma)),
            r=checks.frozen(mean),
            transition_rewards=whole,
            nu0=checks.frozen(checks.distribution(nu0, "nu0", kernel.shape[1])),
            reward_map=AffineRewards(),
        )

    @staticmethod
    def normalised(P: AnyMatrix, r: AnyMatrix, nu0: ArrayLike, gamma: float) -> "FiniteMDP":
        """The MDP whose rows of P, and nu0, are rescaled to sum to one.

        Examples
        --------
        >>> FiniteMDP.normalised([[[2.0, 6.0]], [[1, 1]]], [[0], [1]], [1, 1], gamma=0.5).P[0, 0]
        array([0.25, 0.75])
        """
        kernel, n_actions = read_kernel(P)
        start = checks.real_array(nu0, "nu0", shape=(kernel.shape[1],))
        checks.non_negative(start, "nu0")
        if start.sum() <= 0:
            raise ValueError(f"nu0 sums to {start.sum():.6g}; only a positive sum can be rescaled")
        return FiniteMDP(rescale_rows(kernel, n_actions), r, start / start.sum(), gamma)

    @staticmethod
    def from_gymnasium(env: Any, gamma: float) -> "FiniteMDP":
        """The MDP behind a Gymnasium toy-text environment, read from ``env.unwrapped.P``.

        A terminated transition leads to one added state, the last, which is absorbing and pays 0;
        time limits are not part of the MDP. Rewards keep their scale: `affine` maps them.

        Examples
        --------
        >>> import gymnasium
        >>> m = FiniteMDP.from_gymnasium(gymnasium.make("FrozenLake-v1"), gamma=0.99)
        >>> m, round(m.optimal().value, 4)
        (FiniteMDP(states=17, actions=4, gamma=0.99), 0.542)
        """
        tables = read_tables(env)
        return FiniteMDP(compact(tables.P, tables.n_actions), tables.rewards, tables.nu0, gamma)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable: build a new one")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable: build a new one")

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for array in (self.r, self.nu0, self.kernel, self.transition_rewards):  # writable so far
            if isinstance(array, np.ndarray):
                array.setflags(write=False)
            elif array is not None:
                freeze_sparse(array)

    def __repr__(self) -> str:
        storage = "" if isinstance(self.kernel, np.ndarray) else ", sparse"
        return (
            f"{type(self).__name__}(states={self.n_states}, actions={self.n_actions}, "
            f"gamma={self.gamma:g}{storage})"
        )

    def _repr_html_(self) -> str:
        P = self.kernel
        transitions = np.count_nonzero(P) if isinstance(P, np.ndarray) else P.nnz
        low, high = self.reward_range
        facts = {"states": f"{self.n_states:,}", "actions": self.n_actions}
        facts |= {"transitions": f"{transitions:,}", "rewards": f"{low:.4g} to {high:.4g}"}
        return card(type(self).__name__, {**facts, "gamma": f"{self.gamma:g}"})

    # Its parts

    @property
    def n_states(self) -> int:
        """The number of states |X|."""
        return self.dynamics.n_states

    @property
    def n_actions(self) -> int:
        """The number of actions |A|."""
        return self.dynamics.n_actions

    @property
    def gamma(self) -> float:
        """The discount factor."""
        return self.dynamics.gamma

    @property
    def kernel(self) -> Kernel:
        """P as a matrix of X*A rows, dense or sparse: ``kernel @ f`` is the paper's P f."""
        return self.dynamics.kernel

    @property
    def P(self) -> Kernel:
        """The kernel as it was given: [X, A, X] if dense, the matrix of X*A rows if sparse."""
        return in_triples(self.kernel, self.n_actions)

    @property
    def horizon(self) -> float:
        """The effective horizon H = 1 / (1 - gamma)."""
        return 1 / (1 - self.gamma)

    @property
    def uniform_policy(self) -> FloatArray:
        """The policy that plays all actions with equal probability, [X, A]."""
        return np.full((self.n_states, self.n_actions), 1 / self.n_actions)

    @cached_property
    def reward_range(self) -> tuple[float, float]:
        """The least and the largest reward that can be paid."""
        paid = self.r
        if self.transition_rewards is not None:
            paid = paid_rewards(self.transition_rewards, self.kernel)
        return float(paid.min()), float(paid.max())

    # Changing the rewards

    def with_rewards(self, r: AnyMatrix) -> "FiniteMDP":
        """The same MDP with other rewards; both share the kernel."""
        mean, whole = read_rewards(r, self.kernel, self.n_actions)
        return self._replace(checks.frozen(mean), whole, AffineRewards())

    def affine(
        self, r_max: float = 1.0, low: float | None = None, high: float | None = None
    ) -> "FiniteMDP":
        """The same MDP with its rewards mapped affinely onto [0, r_max].

        The range [low, high] of the rewards defaults to `reward_range`. Every reward is mapped,
        those of absorbing states too, so policies keep their order. ``reward_map`` of the result
        is the map from the original rewards; it has an inverse.

        Examples
        --------
        >>> m = FiniteMDP([[[1.0], [1.0]]], [[-3, 1]], [1], gamma=0.5).affine()
        >>> m.r, m.reward_map
        (array([[0., 1.]]), AffineRewards(scale=0.25, shift=0.75))
        >>> m.reward_map.inverse_value(m.optimal().value, m.gamma)
        2.0
        """
        least, most = self.reward_range
        low = least if low is None else checks.real_number(low, "low")
        high = most if high is None else checks.real_number(high, "high")
        slack = checks.RANGE_TOLERANCE * (most - least)
        if least < low - slack or most > high + slack:
            span = f"[{least:.6g}, {most:.6g}]"
            raise ValueError(f"rewards must lie in [{low:g}, {high:g}]; got {span}")
        new = AffineRewards.onto(low, high, r_max)
        whole = self.transition_rewards
        whole = None if whole is None else map_rewards(whole, new)
        return self._replace(checks.frozen(new(self.r)), whole, self.reward_map.then(new))

    def with_reward_map(self, reward_map: AffineRewards) -> "FiniteMDP":
        """The same MDP with a recorded map from the original rewards to the present ones."""
        return self._replace(self.r, self.transition_rewards, reward_map)

    def _replace(
        self, r: FloatArray, transition_rewards: Kernel | None, reward_map: AffineRewards
    ) -> "FiniteMDP":
        other = FiniteMDP.__new__(FiniteMDP)
        other.__dict__.update(
            dynamics=self.dynamics,
            r=r,
            transition_rewards=transition_rewards,
            nu0=self.nu0,
            reward_map=reward_map,
        )
        return other

    # Exact solves; each takes one policy [X, A] or a batch [n, X, A]

    def V(self, policy: ArrayLike) -> FloatArray:
        """The value function V^pi = (I - gamma P_pi)^{-1} r_pi: [X], or [n, X] for a batch."""
        pi = self._policies(policy)
        batch = pi.reshape(-1, *self.r.shape)
        mean = np.einsum("nxa,xa->nx", batch, self.r)
        return self.dynamics.values(batch, mean).reshape(pi.shape[:-1])

    def Q(self, policy: ArrayLike) -> FloatArray:
        """The action-value function Q^pi = r + gamma P V^pi: [X, A], or [n, X, A] for a batch."""
        return self.dynamics.backup(self.r, self.V(policy))

    def value(self, policy: ArrayLike) -> Any:
        """The value <nu0, V^pi>: a float, or [n] for a batch."""
        V = self.V(policy)
        return V @ self.nu0 if V.ndim == 2 else float(V @ self.nu0)

    def state_occupancy(self, policy: ArrayLike) -> FloatArray:
        """The state-occupancy measure nu(pi), summing to one: [X], or [n, X] for a batch."""
        pi = self._policies(policy)
        batch = pi.reshape(-1, *pi.shape[-2:])
        return self.dynamics.occupancies(batch, self.nu0).reshape(pi.shape[:-1])

    def occupancy(self, policy: ArrayLike) -> FloatArray:
        """The state-action occupancy measure mu(pi) = nu(pi) * pi: [X, A], or [n, X, A]."""
        pi = self._policies(policy)
        return self.state_occupancy(pi)[..., None] * pi

    def feature_expectations(self, policy: ArrayLike, Phi: ArrayLike) -> FloatArray:
        """lambda(pi) = Phi' mu(pi) for features Phi [X, A, d]: [d], or [n, d] for a batch."""
        features = checks.real_array(Phi, "Phi", shape=(self.n_states, self.n_actions, None))
        mu = self.occupancy(policy)
        flat = mu.reshape(*mu.shape[:-2], -1)
        return np.asarray(flat @ features.reshape(flat.shape[-1], -1))

    def optimal(self) -> Optimum:
        """An optimal policy with its values and a certificate; computed once, then cached."""
        return self._optimum

    def suboptimality(self, policy: ArrayLike) -> Any:
        """<nu0, V* - V^pi>: a float, or [n] for a batch."""
        return self.optimal().value - self.value(policy)

    @cached_property
    def _optimum(self) -> Optimum:
        return find_optimum(self.dynamics, self.r, self.nu0)

    def _policies(self, policy: ArrayLike) -> FloatArray:
        return checks.policies(policy, self.n_states, self.n_actions)
