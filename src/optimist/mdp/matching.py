"""Occupancy matching: policies whose occupancy is nearest to a target in L1, by linear programmes.

The occupancies of all policies form a polytope, so that the nearest one is a linear programme. It
is solved by HiGHS. A minimiser need not be unique, and HiGHS prefers low
indices: rely on objectives, not on which minimiser is returned.

Weak duality gives a certificate. For every w with |w| <= 1 and every mu of the polytope

    ||F mu - t||_1 - <b, mu> >= <F'w - b, mu> - <w, t>,

and the right side is at least (1 - gamma) <nu0, V> - <w, t> for every V with
V(x) <= (F'w - b)(x,a) + gamma P V(x,a) in all allowed pairs. `Matching.bound` is this number for
the w and V that HiGHS finds, made feasible; no occupancy has a smaller objective.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.optimize import linprog

from optimist import checks
from optimist.checks import BoolArray, FloatArray, IntArray
from optimist.display.text import one_line
from optimist.errors import SolverError
from optimist.mdp.dynamics import Dynamics
from optimist.mdp.kernel import AnyMatrix, Kernel, check_probabilities, read_kernel
from optimist.mdp.timed import normalised_rows, state_laws

TOLERANCE = 1e-10
"""By how much each constraint may be violated in HiGHS, which takes no less."""


@dataclass(frozen=True)
class Matching:
    """The policy of the nearest occupancy, and a bound that certifies it.

    Attributes
    ----------
    objective
        The objective of ``mu``.
    mu
        The occupancy of ``policy``, by an exact solve: [X, A], or the laws [T, X, A].
    policy
        The policy: [X, A], or one table for each time [T, X, A]. It is uniform over the allowed
        actions of states that it does not visit.
    bound
        A lower bound on the minimum by weak duality; ``objective - bound`` is near rounding.
    """

    __repr__ = one_line

    objective: float
    mu: FloatArray
    policy: FloatArray
    bound: float


def match_occupancy(
    P: AnyMatrix,
    nu0: ArrayLike,
    target: ArrayLike,
    gamma: float,
    *,
    states: bool = False,
    bonus: ArrayLike | None = None,
    fixed: ArrayLike | None = None,
) -> Matching:
    """The policy whose discounted occupancy is nearest to a target in L1.

    Over occupancies mu >= 0 and deviations p, n >= 0 it solves

        minimise    sum_i (p_i + n_i) - <b, mu>
        subject to  sum_a mu(y,a) - gamma sum_{x,a} P(y|x,a) mu(x,a) = (1-gamma) nu0(y)   for all y,
                    F mu - p + n = t,
                    mu(x,a) = 0   where the action of x is fixed, and is not a.

    F is the identity, or the sum over actions if only ``states`` are matched.

    Parameters
    ----------
    P
        The kernel, [X, A, X] or sparse with X*A rows, as in `FiniteMDP`.
    nu0
        The initial distribution, [X].
    target
        The target t: [X, A], or [X] with ``states``. It need not be an occupancy, nor sum to one.
    gamma
        The discount factor, in [0, 1).
    states
        Whether to match the occupancy of states only.
    bonus
        The bonus b of visiting a pair, [X, A]; 0 by default.
    fixed
        The action that must be played in each state, [X], or -1 where all are allowed.

    Examples
    --------
    Two absorbing states and a start. The expert goes to the right, and 0.1 of its mass is missing
    in the target:

    >>> P = [[[0, 1, 0], [0, 0, 1]], [[0, 1, 0], [0, 1, 0]], [[0, 0, 1], [0, 0, 1]]]
    >>> target = [[0, 0.5], [0, 0], [0.4, 0]]
    >>> found = match_occupancy(P, [1, 0, 0], target, gamma=0.5)
    >>> found.policy[0], round(found.objective, 6), round(found.objective - found.bound, 6)
    (array([0., 1.]), 0.1, 0.0)
    >>> match_occupancy(P, [1, 0, 0], target, gamma=0.5, fixed=[0, -1, -1]).policy[0]
    array([1., 0.])
    """
    kernel, n_actions, start = _read(P, nu0)
    n_states, gamma = start.size, checks.discount(gamma)
    pairs = (n_states, n_actions)
    t = checks.real_array(target, "target", shape=(n_states,) if states else pairs)
    b = np.zeros(pairs) if bonus is None else checks.real_array(bonus, "bonus", shape=pairs)
    allowed = _allowed(fixed, pairs)
    use = np.flatnonzero(allowed)
    out = _sum_over_actions(n_states, n_actions)
    flow = sp.csr_array(out - gamma * sp.csr_array(kernel).T)
    F = out if states else sp.eye_array(n_states * n_actions, format="csr")
    measure, V, w = _solve(
        flow[:, use], (1 - gamma) * start, F[:, use], t.ravel(), np.ones(t.size), -b.ravel()[use]
    )
    policy = _policy(measure, use, allowed)
    mu = Dynamics(kernel, n_actions, gamma).occupancies(policy[None], start)[0][:, None] * policy
    # The certificate: w in [-1, 1], and V lowered until it is feasible.
    w = np.clip(w, -1, 1)
    cost = np.asarray(F.T @ w) - b.ravel()
    excess = V.repeat(n_actions) - cost - gamma * np.asarray(kernel @ V)
    slack = max(float(excess[use].max()), 0.0)
    bound = (1 - gamma) * float(start @ V) - slack - float(w @ t.ravel())
    objective = float(np.abs(F @ mu.ravel() - t.ravel()).sum() - (b * mu).sum())
    return Matching(objective, mu, policy, bound)


def match_timed(
    P: AnyMatrix,
    nu0: ArrayLike,
    targets: ArrayLike,
    gamma: float,
    *,
    fixed: ArrayLike | None = None,
) -> Matching:
    """The time-indexed policy whose laws of (x_t, a_t) are nearest to T targets in weighted L1.

    Over laws mu_t >= 0 and deviations p_t, n_t >= 0 it solves

        minimise    sum_{t<T} gamma^t sum_{x,a} (p_t + n_t)(x,a)
        subject to  sum_a mu_0(y,a) = nu0(y),
                    sum_a mu_{t+1}(y,a) = sum_{x,a} P(y|x,a) mu_t(x,a)   for all y and t < T - 1,
                    mu_t - p_t + n_t = target_t,
                    mu_t(x,a) = 0   where the action of x at time t is fixed, and is not a.

    Parameters
    ----------
    P, nu0, gamma
        As in `match_occupancy`.
    targets
        The targets [T, X, A]; the law of a time has mass one.
    fixed
        The action that must be played at each time in each state, [T, X], or -1.

    Examples
    --------
    Stay at time 0 and leave at time 1, as no stationary policy does:

    >>> P = [[[1, 0], [0, 1]], [[0, 1], [0, 1]]]
    >>> targets = [[[1, 0], [0, 0]], [[0, 1], [0, 0]]]
    >>> found = match_timed(P, [1, 0], targets, gamma=0.9)
    >>> round(found.objective, 6), found.policy[:, 0].round(6).tolist()
    (0.0, [[1.0, 0.0], [0.0, 1.0]])
    """
    kernel, n_actions, start = _read(P, nu0)
    n_states, gamma = start.size, checks.discount(gamma)
    t = checks.real_array(targets, "targets", shape=(None, n_states, n_actions))
    if not len(t):
        raise ValueError("targets must hold at least one time; got none")
    allowed = _allowed(fixed, t.shape)
    use = np.flatnonzero(allowed)
    out, into = _sum_over_actions(n_states, n_actions), sp.csr_array(kernel).T
    earlier = sp.eye_array(len(t), k=-1)
    flow = sp.csr_array(sp.kron(sp.eye_array(len(t)), out) - sp.kron(earlier, into))
    weights = np.repeat(gamma ** np.arange(len(t)), n_states * n_actions)
    rhs = np.concatenate([start, np.zeros((len(t) - 1) * n_states)])
    F = sp.eye_array(t.size, format="csr")[:, use]
    measure, _, w = _solve(flow[:, use], rhs, F, t.ravel(), weights, np.zeros(use.size))
    policy = _policy(measure, use, allowed)
    mu = state_laws(P, start, policy)[:-1, :, None] * policy
    # The certificate: for w in [-gamma^t, gamma^t] the best V_t are a dynamic programme.
    w = np.clip(w, -weights, weights)
    cost, V = np.where(allowed, w.reshape(t.shape), np.inf), np.zeros(n_states)
    for table in cost[::-1]:
        V = (table + np.asarray(kernel @ V).reshape(n_states, n_actions)).min(axis=1)
    bound = float(start @ V) - float(w @ t.ravel())
    return Matching(float(weights @ np.abs(mu - t).ravel()), mu, policy, bound)


def match_next_state(
    M: ArrayLike, target: ArrayLike, *, allowed: ArrayLike | None = None
) -> Matching:
    """The policy of one step whose weighted law of the next state is nearest to a target in L1.

    Over policies pi(a|x) and deviations p, n >= 0 it solves

        minimise    sum_y (p + n)(y)
        subject to  sum_{x,a} pi(a|x) M(x,a,y) - p(y) + n(y) = target(y)   for all y,
                    sum_a pi(a|x) = 1   for all x,
                    pi(a|x) = 0   where a is not allowed in x.

    With M(x,a,y) = nu(x) P(y|x,a) this matches the law of the next state from the law nu.

    Parameters
    ----------
    M
        Non-negative weights [X, A, Y].
    target
        The target, [Y].
    allowed
        Which actions may be played, [X, A], at least one in each state; all by default.

    Returns
    -------
    Matching
        Its ``mu`` is pi(a|x) sum_y M(x,a,y). The policy is uniform over the allowed actions of
        states whose weights are all 0.

    Examples
    --------
    >>> M = [[[1.0, 0.0], [0.2, 0.8]]]
    >>> match_next_state(M, [0.6, 0.4]).policy.round(9)
    array([[0.5, 0.5]])
    """
    weights = checks.real_array(M, "M", shape=(None, None, None))
    checks.non_negative(weights, "M")
    n_states, n_actions, n_next = weights.shape
    t = checks.real_array(target, "target", shape=(n_next,))
    may = np.ones((n_states, n_actions), dtype=bool) if allowed is None else np.asarray(allowed)
    if may.shape != (n_states, n_actions) or may.dtype != bool or not may.any(axis=1).all():
        raise ValueError(
            f"allowed must be booleans of shape ({n_states}, {n_actions}) with at least one action "
            f"in each state; got {checks.short(allowed)}"
        )
    use = np.flatnonzero(may)
    rows, total = sp.csr_array(weights.reshape(-1, n_next).T), _sum_over_actions(*may.shape)
    measure, _, w = _solve(
        total[:, use], np.ones(n_states), rows[:, use], t, np.ones(n_next), np.zeros(use.size)
    )
    matters = weights.any(axis=(1, 2))
    policy = _policy(np.where(matters.repeat(n_actions)[use], measure, 0.0), use, may)
    w = np.clip(w, -1, 1)
    bound = float(np.where(may, weights @ w, np.inf).min(axis=1).sum() - w @ t)
    law = np.einsum("xa,xay->y", policy, weights)
    return Matching(float(np.abs(law - t).sum()), policy * weights.sum(axis=2), policy, bound)


def _read(P: AnyMatrix, nu0: ArrayLike) -> tuple[Kernel, int, FloatArray]:
    kernel, n_actions = read_kernel(P)
    check_probabilities(kernel, n_actions)
    return kernel, n_actions, checks.distribution(nu0, "nu0", kernel.shape[1])


def _allowed(fixed: ArrayLike | None, shape: tuple[int, ...]) -> BoolArray:
    """Which pairs may be visited, [..., X, A]."""
    if fixed is None:
        return np.ones(shape, dtype=bool)
    checks.match_shape(np.shape(fixed), "fixed", shape[:-1])
    action = checks.indices(np.asarray(fixed) + 1, "fixed + 1", shape[-1] + 1) - 1
    return np.asarray((action[..., None] < 0) | (action[..., None] == np.arange(shape[-1])))


def _sum_over_actions(n_states: int, n_actions: int) -> Any:
    """The matrix [X, X*A] of sum_a mu(x, a)."""
    return sp.kron(sp.eye_array(n_states), np.ones((1, n_actions)), format="csr")


def _solve(
    flow: Any, rhs: FloatArray, F: Any, target: FloatArray, weights: FloatArray, cost: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Minimise <cost, mu> + <weights, p + n>: flow mu = rhs, F mu - p + n = target, all >= 0.

    Returns mu, the multipliers V of the flow, and those of F, which are -w.
    """
    eye = sp.eye_array(target.size, format="csr")
    system: Any = sp.csc_array(sp.block_array([[flow, None, None], [F, -eye, eye]]))
    costs, right = np.concatenate([cost, weights, weights]), np.concatenate([rhs, target])
    options: Any = {f"{side}_feasibility_tolerance": TOLERANCE for side in ("primal", "dual")}
    found: Any = linprog(costs, A_eq=system, b_eq=right, method="highs", options=options)
    if found.status != 0:
        raise SolverError(f"the linear programme was not solved: {found.message}")
    multipliers = np.asarray(found.eqlin.marginals, dtype=np.float64)
    mu = np.asarray(found.x[: cost.size], dtype=np.float64)
    return mu, multipliers[: rhs.size], -multipliers[rhs.size :]


def _policy(measure: FloatArray, use: IntArray, allowed: BoolArray) -> FloatArray:
    """mu(x,a) / mu(x), and uniform over the allowed actions where mu(x) = 0.

    HiGHS returns entries down to -TOLERANCE, which are 0.
    """
    mu = np.zeros(allowed.shape)
    mu.ravel()[use] = np.maximum(measure, 0.0)
    return normalised_rows(np.where(mu.sum(axis=-1, keepdims=True) > 0, mu, allowed))
