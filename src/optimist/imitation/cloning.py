"""Behavioural cloning: imitation of an expert whose actions are seen, as supervised learning."""

from typing import Any

import numpy as np
import scipy.optimize as so
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_softmax

from optimist import checks
from optimist.checks import FloatArray, IntArray
from optimist.core import FixedBonus, Never, SoftmaxPolicy, TablePolicy
from optimist.features import FeatureMap, OneHot
from optimist.imitation.cloner import Cloner
from optimist.imitation.dataset import FeatureDataset
from optimist.imitation.recording import PolicyLike, Recordable, record_pairs

RIDGE = 1e-3
"""Weight of the penalty relative to one pair; its effect fades as the data grow."""

GRADIENT_TOLERANCE = 1e-6
"""Largest entry of the gradient of the mean loss that counts as converged."""


class BehaviouralCloning(Cloner):
    """The policy under which the actions that an expert took are most likely.

    It needs the expert's actions, but no rewards and no interaction with the world. Imitation from
    features alone needs no actions, but cannot do without interaction (Section 5.3).

    With `OneHot` features the policy is the table of empirical frequencies, uniform in unseen
    states. With other features it is pi(a | x) = softmax(phi(x, .) . theta)(a), where theta
    minimises

        - sum_i log pi(a_i | x_i) + RIDGE B^2 ||theta||^2 / 2.

    Without the penalty there is no minimum if the expert's actions are linearly separable. B is the
    norm bound of phi, so the scale of the features does not matter.

    Parameters
    ----------
    states
        The expert's states or observations, [n, ...]; or a world.
    actions
        The expert's actions there, [n]; or, in a world, the expert's trajectories. Then `learn`
        fits them, and the rest is as of any `Imitator`.
    features
        The feature map phi of the policy; in a world `OneHot` by default.
    view
        In a world: "whole" to clone all pairs, each once, or "last" for one of each trajectory.
    K, seed, stride, config
        In a world, as of `OfflineImitator`.

    Attributes
    ----------
    policy
        A `TablePolicy` or `SoftmaxPolicy`, with ``probabilities``, ``predict`` and ``save``.
    features, size
        The feature map, and the number n of pairs.

    Examples
    --------
    >>> clone = BehaviouralCloning([0, 0, 0, 0, 1], [0, 0, 0, 1, 1], OneHot(3, 2))
    >>> clone.policy.probabilities([0, 1, 2])
    array([[0.75, 0.25],
           [0.  , 1.  ],
           [0.5 , 0.5 ]])

    In a world:

    >>> from optimist import envs
    >>> from optimist.imitation import TrajectoryDataset
    >>> world, rng = envs.RiverSwim(6, gamma=0.9), np.random.default_rng(0)
    >>> expert = world.mdp.optimal().policy
    >>> data = TrajectoryDataset.from_rollouts(world, expert, 20, rng)
    >>> BehaviouralCloning(world, data).learn().gaps(expert, world.mdp.r)
    array([0.])
    """

    def _fit(self, states: Any, actions: Any, features: Any) -> None:
        refuse_features(states, actions, "behavioural cloning")
        if not isinstance(features, FeatureMap):
            raise TypeError(f"features must be a FeatureMap, such as OneHot; got {features!r}")
        if actions is None:
            raise TypeError("actions must be given: they are what is cloned; got None")
        x, a = read_pairs(states, actions, features.n_actions)
        self.features = features
        self.size = len(a)
        if isinstance(features, OneHot):
            self._policy = _frequencies(x, a, features)
        else:
            self._policy = _most_likely(x, a, features)

    @staticmethod
    def from_rollouts(
        world: Recordable,
        policy: PolicyLike,
        features: FeatureMap,
        samples: int,
        rng: np.random.Generator,
        gamma: float | None = None,
        seed: int | None = None,
    ) -> "BehaviouralCloning":
        """Clone an expert from independent draws of its occupancy measure (see `record_pairs`).

        Examples
        --------
        >>> from optimist import envs
        >>> world = envs.RiverSwim(6, gamma=0.9)
        >>> expert = world.mdp.optimal().policy
        >>> rng = np.random.default_rng(0)
        >>> clone = BehaviouralCloning.from_rollouts(world, expert, world.features, 1000, rng)
        >>> bool((clone.policy.table == expert).all())
        True
        """
        states, actions = record_pairs(world, policy, samples, rng, gamma, seed)
        return BehaviouralCloning(states, actions, features)


def refuse_features(states: Any, actions: Any, who: str) -> None:
    """Refuse features of the expert's pairs in the place of the pairs."""
    if isinstance(states, FeatureDataset) or isinstance(actions, FeatureDataset):
        raise TypeError(
            f"{who} cannot even start from a FeatureDataset: it holds features of the expert's "
            "pairs and no actions, so there is nothing to clone; FraIL can learn from it, by "
            "interaction with the world"
        )


def read_pairs(states: Any, actions: ArrayLike, n_actions: int) -> tuple[NDArray[Any], IntArray]:
    """Check the pairs and return them as arrays."""
    a = checks.indices(actions, "actions", n_actions)
    if a.ndim != 1 or not a.size:
        raise ValueError(f"actions must be [n] with n >= 1; got shape {a.shape}")
    checks.real_array(states, "states")  # a check only: integer states stay integers
    x = np.asarray(states)
    if x.shape[:1] != a.shape:
        raise ValueError(f"states must have one row for each of {len(a)} actions; got {x.shape}")
    return x, a


def _frequencies(states: NDArray[Any], actions: IntArray, features: OneHot) -> TablePolicy:
    """The empirical frequencies of the actions in each state."""
    x = checks.indices(states, "states", features.n_states)
    checks.match_shape(x.shape, "states", actions.shape)
    counts = np.zeros((features.n_states, features.n_actions))
    np.add.at(counts, (x, actions), 1)
    counts[counts.sum(axis=1) == 0] = 1  # unseen
    return TablePolicy(checks.frozen(counts / counts.sum(axis=1, keepdims=True)))


def _most_likely(states: NDArray[Any], actions: IntArray, features: FeatureMap) -> SoftmaxPolicy:
    """The softmax policy of largest penalised likelihood."""
    # Evaluate each distinct state once: only the counts of its actions matter.
    distinct, which = np.unique(states, axis=0, return_inverse=True)
    try:
        phi = features.all_actions(distinct)  # [m, A, d]
    except (TypeError, ValueError):
        features.all_actions(states)  # fails too, and names the entry as given
        raise
    counts = np.zeros(phi.shape[:2])
    np.add.at(counts, (which.ravel(), actions), 1)
    # Scale the features to the unit ball, so that one ridge and one tolerance suit all.
    scale = features.bound or 1.0
    theta = _minimise(phi / scale, counts) / scale
    # softmax(phi . theta) is the agents' policy without bonuses and heaven after one update with
    # eta = 1, so it is stored and loaded like any other.
    return SoftmaxPolicy(
        Theta=checks.frozen(theta),
        Lambda=np.ones((features.dim, 1, 1)),
        updates=1,
        eta=1.0,
        bonus=FixedBonus(0.0),
        ascension=Never(),
        heaven=0.0,
        features=features,
    )


def _minimise(phi: FloatArray, counts: FloatArray) -> FloatArray:
    """The theta of least mean loss for features [m, A, d] and counts [m, A]."""
    rows = phi.reshape(-1, phi.shape[-1])
    n = counts.sum()
    visits = counts.sum(axis=1, keepdims=True)

    def loss(theta: FloatArray) -> tuple[float, FloatArray]:
        log_pi = log_softmax((rows @ theta).reshape(counts.shape), axis=1)
        surplus = (visits * np.exp(log_pi) - counts).ravel()
        value = -(counts * log_pi).sum() + RIDGE * (theta @ theta) / 2
        return float(value / n), (surplus @ rows + RIDGE * theta) / n

    result = so.minimize(
        loss,
        np.zeros(rows.shape[1]),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 10_000, "maxfun": 20_000, "gtol": 1e-9, "ftol": 0.0},
    )
    # Near the minimum the line search fails for lack of digits, so the gradient decides.
    steepest = float(np.abs(result.jac).max())
    if steepest > GRADIENT_TOLERANCE:
        raise RuntimeError(
            f"the likelihood was not maximised in {result.nit} steps: its gradient is "
            f"{steepest:.2g}, above {GRADIENT_TOLERANCE:g} ({result.message})"
        )
    return np.asarray(result.x, dtype=np.float64)
