"""Cloning of an expert that is greedy in linear features, by a linear programme."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import linprog

from optimist import checks, limits
from optimist.checks import FloatArray, IntArray
from optimist.core import FixedBonus, Never, SoftmaxPolicy
from optimist.errors import SolverError
from optimist.features import FeatureMap
from optimist.imitation.cloner import Cloner
from optimist.imitation.cloning import read_pairs, refuse_features
from optimist.imitation.trajectories import TrajectoryDataset

MARGIN = 1e-9
"""Margins of features of norm 1 at most that count as zero; HiGHS is more precise than that."""

TOLERANCE = 1e-10
"""By how much each constraint may be violated in HiGHS, which takes no less."""

GREEDY = 1e200
"""The eta of a softmax that is greedy: actions that are worse by 1e-197 have probability 0."""


class LinearCloning(Cloner):
    """The greedy policy of a linear classifier that errs on no pair of the expert.

    The expert must play argmax_a phi(x, a) . theta for some theta (Rajaraman et al., 2021). Among
    the theta that agree with all pairs, a linear programme finds one of largest margin:

        maximise m  over m and |theta_j| <= 1
        subject to  (phi(x_i, a_i) - phi(x_i, a)) . theta >= m  for all i and all a != a_i.

    If the largest m is 0, no theta agrees with the pairs, and they are refused. A feature that is
    the same for all actions in all states of the data has weight 0. Actions that tie, as in states
    that share no feature with the data, are equally likely.

    It needs no rewards and no interaction with the world. `BehaviouralCloning` clones experts that
    are not deterministic.

    Parameters
    ----------
    states
        The expert's states or observations, [n, ...]; or a `TrajectoryDataset` with actions; or a
        world.
    actions
        The expert's actions there, [n], or None for a `TrajectoryDataset`; or, in a world, the
        expert's trajectories. Then `learn` fits them, and the rest is as of any `Imitator`.
    features
        The feature map phi; in a world `OneHot` by default.
    view, K, seed, stride, config
        In a world, as of `BehaviouralCloning`.

    Attributes
    ----------
    policy
        A `SoftmaxPolicy` at eta so large that it is greedy, with ``probabilities``, ``predict`` and
        ``save``.
    theta, margin
        The solution of the linear programme, [d] and m > 0.
    features, size
        The feature map, and the number n of pairs.

    Examples
    --------
    >>> from optimist.features import OneHot
    >>> clone = LinearCloning([0, 0, 1], [1, 1, 0], OneHot(3, 2))
    >>> clone.policy.probabilities([0, 1, 2])
    array([[0. , 1. ],
           [1. , 0. ],
           [0.5, 0.5]])
    >>> clone.margin
    2.0
    """

    needs_deterministic = True
    theta: FloatArray
    margin: float

    def _fit(self, states: Any, actions: Any, features: Any) -> None:
        refuse_features(states, actions, "LinearCloning")
        if isinstance(states, TrajectoryDataset):
            if actions is not None:
                raise TypeError(
                    "actions must be None: those of a TrajectoryDataset are in it; give the "
                    "feature map as features="
                )
            states.check_any()
            actions, states = states.actions, states.states
        if not isinstance(features, FeatureMap):
            raise TypeError(f"features must be a FeatureMap, such as OneHot; got {features!r}")
        if actions is None:
            raise TypeError("actions must be given: they are what is cloned; got None")
        if features.n_actions < 2:
            raise ValueError("features must be of at least 2 actions: one alone teaches nothing")
        x, a = read_pairs(states, actions, features.n_actions)
        distinct, chosen = _one_action_each(x, a)
        self.features, self.size = features, len(a)
        self.theta, self.margin = _separate(_differences(x, distinct, chosen, features), features)
        self._policy = SoftmaxPolicy(
            Theta=self.theta,
            Lambda=np.ones((features.dim, 1, 1)),
            updates=1,
            eta=GREEDY,
            bonus=FixedBonus(0.0),
            ascension=Never(),
            heaven=0.0,
            features=features,
        )


def _one_action_each(states: NDArray[Any], actions: IntArray) -> tuple[NDArray[Any], IntArray]:
    """The distinct states and the action of each; states with two actions are refused."""
    distinct, first, which = np.unique(states, axis=0, return_index=True, return_inverse=True)
    chosen = actions[first]
    other = actions != chosen[which.ravel()]
    if other.any():
        (j,) = checks.first(other)
        i = first[which.ravel()[j]]
        raise ValueError(
            "the expert must be deterministic, or it is not greedy in phi.theta for any theta; got "
            f"actions {actions[i]} and {actions[j]} in the state of pairs {i} and {j}. "
            "BehaviouralCloning clones such an expert"
        )
    return distinct, chosen


def _differences(
    states: NDArray[Any], distinct: NDArray[Any], chosen: IntArray, features: FeatureMap
) -> Any:
    """The rows phi(x, a_x) - phi(x, a) of all distinct states x and a != a_x, sparse."""
    m, A, d = len(distinct), features.n_actions, features.dim
    limits.need(24 * m * A * d, f"{m:,} states with {A:,} actions and {d:,} features")
    try:
        phi = features.all_actions(distinct)  # [m, A, d]
    except (TypeError, ValueError):
        features.all_actions(states)  # fails too, and names the entry as given
        raise
    ahead = phi[np.arange(m), chosen][:, None] - phi
    return sp.csr_array(ahead[np.arange(A) != chosen[:, None]])


def _separate(rows: Any, features: FeatureMap) -> tuple[FloatArray, float]:
    """theta and the margin m of the linear programme for rows [n, d]."""
    # Scaled to norms of 2 at most, so that one tolerance suits all features.
    n, d = rows.shape
    scale = features.bound or 1.0
    ones: Any = sp.csr_array(np.ones((n, 1)))
    system: Any = sp.csc_array(sp.hstack([-rows / scale, ones]))  # m - row . theta <= 0
    free = np.flatnonzero(np.diff(system.indptr))  # the others appear in no constraint
    options: Any = {f"{side}_feasibility_tolerance": TOLERANCE for side in ("primal", "dual")}
    found: Any = linprog(
        np.append(np.zeros(len(free) - 1), -1.0),
        A_ub=system[:, free],
        b_ub=np.zeros(n),
        bounds=[(-1, 1)] * (len(free) - 1) + [(None, None)],
        method="highs",
        options=options,
    )
    if found.status != 0:
        raise SolverError(f"the linear programme was not solved: {found.message}")
    theta = np.zeros(d)
    theta[free[:-1]] = found.x[:-1]
    margin = float((rows @ theta).min())
    if margin <= MARGIN * scale:
        raise ValueError(
            "the expert must be greedy in phi.theta for some theta; the largest margin is "
            f"{margin:.3g}. Other features may separate its actions, and BehaviouralCloning needs "
            "no margin"
        )
    return checks.frozen(theta), margin
