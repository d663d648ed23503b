"""Time-indexed policies pi_0, ..., pi_{T-1}: their state laws and their discounted occupancy.

From time T on the last table is played. The kernel is an array [X, A, X], or sparse with row
``x * A + a`` for the pair (x, a).
"""

import numpy as np
from numpy.typing import ArrayLike

from optimist import checks
from optimist.checks import FloatArray
from optimist.mdp.dynamics import Dynamics
from optimist.mdp.kernel import AnyMatrix, Kernel, check_probabilities, read_kernel


def state_laws(P: AnyMatrix, nu0: ArrayLike, policies: ArrayLike) -> FloatArray:
    """The laws of x_0, ..., x_T when table pi_t is played at time t, [T + 1, X].

    law_0 = nu0 and law_{t+1}(y) = sum_{x,a} law_t(x) pi_t(a|x) P(y|x,a). There are no resets; as
    resets do not depend on the states, these are also the laws among the episodes that are still
    going on at time t.

    Examples
    --------
    Leave at time 0, come back at time 1:

    >>> P = [[[1, 0], [0, 1]], [[0, 1], [1, 0]]]
    >>> leave, stay = [[0, 1], [0, 1]], [[1, 0], [1, 0]]
    >>> state_laws(P, [1, 0], [leave, leave, stay])
    array([[1., 0.],
           [0., 1.],
           [1., 0.],
           [1., 0.]])
    """
    kernel, start, pi = _read(P, nu0, policies)
    return _laws(kernel, start, pi)


def timed_occupancy(P: AnyMatrix, nu0: ArrayLike, policies: ArrayLike, gamma: float) -> FloatArray:
    """The discounted occupancy mu of a time-indexed policy [T, X, A], summing to one, [X, A].

    mu = (1 - gamma) sum_{t<T} gamma^t law_t pi_t, and with weight gamma^T the occupancy of the last
    table from law_T. `policy_of` makes it a stationary policy of the same occupancy, which then has
    the same value for every reward.

    Examples
    --------
    >>> P = [[[1, 0], [0, 1]], [[0, 1], [1, 0]]]
    >>> leave, stay = [[0, 1], [0, 1]], [[1, 0], [1, 0]]
    >>> timed_occupancy(P, [1, 0], [leave, stay], gamma=0.5)
    array([[0. , 0.5],
           [0.5, 0. ]])
    """
    kernel, start, pi = _read(P, nu0, policies)
    gamma = checks.discount(gamma)
    laws = _laws(kernel, start, pi)
    weights = (1 - gamma) * gamma ** np.arange(len(pi))
    last = pi[-1]
    after = Dynamics(kernel, pi.shape[2], gamma).occupancies(last[None], laws[-1])[0]
    mu = np.einsum("t,tx,txa->xa", weights, laws[:-1], pi)
    return np.asarray(mu + gamma ** len(pi) * after[:, None] * last)


def policy_of(mu: ArrayLike) -> FloatArray:
    """The policy mu(x, a) / mu(x) of an occupancy [..., X, A]; uniform where mu(x) = 0.

    Examples
    --------
    >>> policy_of([[0.25, 0.75], [0, 0]])
    array([[0.25, 0.75],
           [0.5 , 0.5 ]])
    """
    measure = checks.real_array(mu, "mu")
    checks.non_negative(measure, "mu")
    return normalised_rows(measure)


def normalised_rows(weights: FloatArray) -> FloatArray:
    """Rows of non-negative weights divided by their sums; uniform where the sum is 0."""
    total = weights.sum(axis=-1, keepdims=True)
    uniform = np.full_like(weights, 1 / weights.shape[-1])
    return np.asarray(np.divide(weights, total, out=uniform, where=total > 0))


def _read(
    P: AnyMatrix, nu0: ArrayLike, policies: ArrayLike
) -> tuple[Kernel, FloatArray, FloatArray]:
    kernel, n_actions = read_kernel(P)
    check_probabilities(kernel, n_actions)
    n_states = kernel.shape[1]
    pi = checks.policies(policies, n_states, n_actions, "policies")
    if pi.ndim != 3 or not len(pi):
        raise ValueError(
            f"policies must be one table for each time, [T, {n_states}, {n_actions}] with T >= 1; "
            f"got shape {pi.shape}"
        )
    return kernel, checks.distribution(nu0, "nu0", n_states), pi


def _laws(kernel: Kernel, nu0: FloatArray, pi: FloatArray) -> FloatArray:
    laws = [nu0]
    for table in pi:
        laws.append(np.asarray((laws[-1][:, None] * table).ravel() @ kernel))
    return np.array(laws)
