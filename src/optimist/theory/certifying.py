"""A lower bound on the episodes of every learner that certifies a policy in a given finite world.

Let a learner know the rewards, and neither P nor nu_0. In every world its bounds hold with
probability 1 - delta at all times, lower <= V^pi(nu_0) and V*(nu_0) <= upper, and it stops after
tau episodes, when upper - lower <= share upper. Then in the given world

    E[tau] >= kl(delta, 1 - delta) / max over pi of sum_i w_i I_i(pi),                           (1)
    I_i(pi) = KL(nu_0, nu_i) + E_pi sum_t gamma^t KL(P, P_i)(x_t, a_t),

for any worlds (P_i, nu_i) of optimal values V*(nu_0) / (1 - share) or more, and weights w_i >= 0
that add up to one.

*Proof.* Let E be the event that upper <= V*(nu_0) / (1 - share) when it stops. In the given world
upper <= lower / (1 - share) <= V* / (1 - share) with probability 1 - delta. In world i that is an
upper bound that fails, but for equality, so that E has a probability of at most delta. Hence the
divergence of what is seen until tau in the given world from that in world i is at least kl(delta,
1 - delta) (Kaufmann, Cappe and Garivier, 2016). It is the sum over the pairs of E[N(x, a)] KL(P,
P_i)(x, a), and E[tau] KL(nu_0, nu_i) of the first states. By Wald's identity E[N] / E[tau] is at
most the discounted occupancy of some policy pi, which does not depend on i. The mean over i with
weights w is (1). []
"""

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linprog

from optimist import checks
from optimist.checks import FloatArray, IntArray
from optimist.errors import SolverError
from optimist.mdp import FiniteMDP

ROUNDS, WORTH = 30, 1.01
"""Rounds of the search for the worlds i, which ends when no new one is better by this factor."""

STEPS, FACTOR, HALVINGS, TURNS = 60, 0.6, 12, 4
"""Steps of the search along a multiplier, by this factor, halvings of the last of them, and turns
of the fixed point in each."""

TINY = 1e-12
"""Of the largest value, so that no quotient is infinite."""

NEWTON = 12
"""Steps of Newton's method for a row."""

SPREAD = 1e-3
"""Weight of an even spread of visits, so that no pair is free to change."""


class Alternative(NamedTuple):
    """A world with the same rewards and a higher optimal value, and what tells it apart."""

    P: FloatArray  # [X, A, X]
    nu0: FloatArray  # [X]
    policy: IntArray  # that is worth so much there, [X]
    divergence: FloatArray  # KL(P, P_i), [X, A]
    start: float  # KL(nu_0, nu_i)


def episodes_to_certify(mdp: FiniteMDP, share: float, delta: float = 0.05) -> float:
    """A lower bound on the mean number of episodes until a policy is certified within ``share``.

    It holds for every learner whose bounds hold with probability 1 - delta in all worlds of these
    rewards, whatever it plays, if it knows neither the transitions nor which of them are possible.
    The worlds and the weights of (1) are found by a search: the bound holds for any, and is the
    larger the better they are. It is 0 if no world has such an optimal value.

    Parameters
    ----------
    mdp
        The world, with rewards that are not negative; its kernel is made dense.
    share
        How far from the optimum the certified policy may be, in (0, 1).
    delta
        With which probability the bounds of the learner may fail, below 1/2.

    Examples
    --------
    >>> from optimist import envs
    >>> mdp = envs.RiverSwim(6, gamma=0.9).mdp
    >>> [round(episodes_to_certify(mdp, share)) for share in (0.2, 0.1)]
    [117, 509]
    """
    share, delta = checks.real_number(share, "share"), checks.real_number(delta, "delta")
    for name, number, most in (("share", share, 1), ("delta", delta, 0.5)):
        if not 0 < number < most:
            raise ValueError(f"{name} must be in (0, {most}); got {number:g}")
    if mdp.r.min() < 0:
        raise ValueError(f"rewards must not be negative for a share; got {mdp.r.min():g}")
    needed = (1 - 2 * delta) * math.log((1 - delta) / delta)
    target = mdp.optimal().value / (1 - share)
    if not 0 < target < mdp.r.max() * mdp.horizon:
        return 0.0
    return needed / _least_information(mdp, target)


def _least_information(mdp: FiniteMDP, target: float) -> float:
    """The denominator of (1), by turns: worlds for the visits, and visits for the worlds.

    Each of the worlds makes one policy worth the target: an optimal one of the given world, or one
    that differs from it in one state.
    """
    X, A = mdp.r.shape
    best = mdp.optimal().policy.argmax(axis=1)
    policies = np.array([
        best, *(np.where(np.arange(X) == x, a, best) for x, a in np.ndindex(X, A) if a != best[x])
    ])  # fmt: skip
    visits = mdp.occupancy(mdp.uniform_policy) * mdp.horizon
    P = _dense(mdp)
    found, least = alternatives(mdp, P, policies, visits, target), math.inf
    for _ in range(ROUNDS):
        weights, visits = _game(mdp, P, found)
        least = min(least, _most_information(mdp, found, weights))
        new = alternatives(mdp, P, policies, visits, target)
        better = [one for one in new if _cost(one, visits) < least / WORTH]
        if not better:
            break
        found += better
    return least


def _dense(mdp: FiniteMDP) -> FloatArray:
    X, A = mdp.r.shape
    kernel = mdp.kernel if isinstance(mdp.kernel, np.ndarray) else mdp.kernel.toarray()
    return np.asarray(kernel).reshape(X, A, X)


def _cost(one: Alternative, visits: FloatArray) -> float:
    return float((visits * one.divergence).sum() + one.start)


def _game(mdp: FiniteMDP, P: FloatArray, found: list[Alternative]) -> tuple[FloatArray, FloatArray]:
    """The weights of these worlds that tell a learner least, and its visits to learn most, [X, A].

    The programme: least of <nu_0, v> + sum_i w_i KL(nu_0, nu_i) with v >= sum_i w_i KL(P, P_i) +
    gamma P v in all pairs; the multipliers of the pairs are the visits.
    """
    X, A = mdp.r.shape
    flow = mdp.gamma * P.reshape(X * A, X) - np.repeat(np.eye(X), A, axis=0)
    told = np.stack([one.divergence.ravel() for one in found], axis=1)
    costs = np.concatenate([mdp.nu0, [one.start for one in found]])
    total = np.append(np.zeros(X), np.ones(len(found)))[None]
    solved: Any = linprog(
        costs,
        A_ub=np.hstack([flow, told]),
        b_ub=np.zeros(X * A),
        A_eq=total,
        b_eq=[1.0],
        method="highs",
    )
    if solved.x is None:
        raise SolverError(f"the weights of the lower bound were not found: {solved.message}")
    weights = np.maximum(solved.x[X:], 0)
    visits = np.maximum(-solved.ineqlin.marginals, 0).reshape(X, A)
    return weights / weights.sum(), visits


def _most_information(mdp: FiniteMDP, found: list[Alternative], weights: FloatArray) -> float:
    """The largest mean divergence of an episode, exactly: the optimum of a world that pays it."""
    told = sum(w * one.divergence for w, one in zip(weights, found, strict=True))
    start = float(weights @ [one.start for one in found])
    return start + float(FiniteMDP(mdp.P, told, mdp.nu0, mdp.gamma).optimal().value)


def alternatives(
    mdp: FiniteMDP, P: FloatArray, policies: IntArray, visits: FloatArray, target: float
) -> list[Alternative]:
    """For each of the policies [n, X] a world in which it is worth ``target``.

    Its divergence at these visits is small: with a multiplier c the rows of the policy are those of
    the largest V - c (divergence), by a fixed point. c falls until the policy is worth enough.
    """
    (n, X), states = policies.shape, np.arange(mdp.n_states)
    spread = SPREAD * (visits.mean() + 1e-12)
    seen = np.append(visits[states, policies] + spread, np.ones((n, 1)), axis=1)  # [n, X + 1]
    first = np.broadcast_to(mdp.nu0, (n, 1, X))
    old = np.append(P[states, policies], first, axis=1)  # the rows of each policy, and nu_0
    r, unit = mdp.r[states, policies][..., None], np.eye(X)

    def values(new: FloatArray) -> tuple[FloatArray, FloatArray]:
        V = np.linalg.solve(unit - mdp.gamma * new[:, :X], r)[..., 0]
        return np.asarray(V), np.asarray((new[:, X] * V).sum(axis=1))

    def settled(new: FloatArray, c: FloatArray) -> tuple[FloatArray, FloatArray]:
        for _ in range(TURNS):
            V, _ = values(new)
            flow = np.swapaxes(unit - mdp.gamma * new[:, :X], 1, 2)
            d = np.linalg.solve(flow, new[:, X, :, None])[..., 0]
            weight = np.append(mdp.gamma * d, np.ones((n, 1)), axis=1)
            new = _rows(old, V, np.maximum(weight, 1e-12) / (c[:, None] * seen))
        return new, values(new)[1]

    now, c = old, np.full(n, 100 * mdp.horizon**2 * mdp.r.max())
    for _ in range(STEPS):
        nearer, value = settled(now, c)
        short = value < target
        now, c = np.where(short[:, None, None], nearer, now), np.where(short, FACTOR * c, c)
        if not short.any():
            break
    best, low, high = nearer, c, c / FACTOR
    for _ in range(HALVINGS):
        middle = np.sqrt(low * high)
        nearer, value = settled(now, middle)
        short = value < target
        best = np.where(short[:, None, None], best, nearer)
        low, high = np.where(short, low, middle), np.where(short, middle, high)
    enough, apart = values(best)[1] >= target, _divergences(old, best)
    found = []
    for i in np.flatnonzero(enough & np.isfinite(apart).all(axis=1)):
        changed, divergence = P.copy(), np.zeros(mdp.r.shape)
        changed[states, policies[i]], divergence[states, policies[i]] = best[i, :X], apart[i, :X]
        found.append(Alternative(changed, best[i, X], policies[i], divergence, float(apart[i, X])))
    return found


def _rows(old: FloatArray, V: FloatArray, scale: FloatArray) -> FloatArray:
    """The distributions p of the largest scale <p, V> - KL(old, p) for each row, [n, X + 1, X].

    p(y) = old(y) / (scale (z + max V - V(y))), with z >= 0 such that they add up to one; if they do
    not even at z = 0, the rest is at the largest V.
    """
    below = (V.max(axis=1, keepdims=True) - V)[:, None] + TINY * V.max()  # [n, 1, X]
    # The harmonic mean of z + below is concave in z, so that Newton's method comes from the left.
    z = np.maximum(1 / scale - (old * below).sum(axis=2), 0)
    for _ in range(NEWTON):
        inverse = 1 / (z[..., None] + below)
        first = (old * inverse).sum(axis=2)
        second = (old * inverse * inverse).sum(axis=2)
        z = z + np.maximum(1 / scale - 1 / first, 0) * first * first / second
    p: FloatArray = old / (z[..., None] + below) / scale[..., None]
    rest = np.maximum(1 - p.sum(axis=2), 0)
    p = p + rest[..., None] * (np.arange(V.shape[1]) == V.argmax(axis=1)[:, None])[:, None]
    return np.asarray(p / p.sum(axis=2, keepdims=True))


def _divergences(p: FloatArray, q: FloatArray) -> FloatArray:
    """KL(p, q) along the last axis."""
    some = p > 0
    with np.errstate(divide="ignore"):
        logs = np.log(np.where(some, p, 1)) - np.log(np.where(some, q, 1))
    return np.asarray((p * logs).sum(axis=-1))
