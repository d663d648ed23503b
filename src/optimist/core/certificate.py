"""Certificates, compiled: bounds on V* and on the value of a policy, from the counts.

The derivation, with these numbers, is in docs/certificates.md. A row is a distribution that is not
known: of the next states of a pair, in their order, and as the last one of the first states. If a
share p^(y) of n draws was y, then with probability 1 - delta, for all rows and all n at once,

    P f <= nu - exp( sum_y p^(y) log(nu - f(y)) - b )        for every nu >= max f,              (1)

with a radius b of (2) for f = V*, and of (3) for every f. The upper bound on V* is the fixed point
of the Bellman operator with (1) in the place of P; minus the lower bound on the values of a policy
is likewise, for f = -V and with the least over actions. Both are approached from above, so that
they are bounds whenever the search ends.
"""

import math
from typing import NamedTuple

from optimist.checks import FloatArray, IntArray
from optimist.core.compiler import compiled, entry_point

UPPER, LOWER = 0, 1
"""The rows of `Bounds`: of W = V*, and of W = -V."""

WIDER, NARROWER = 4.0, 8.0
"""The most by which a step of Newton's method multiplies nu - P^ W, and divides nu - max W."""

STEPS = 10
"""Steps for the nu of the first states, once their values are known."""


class Evidence(NamedTuple):
    """What was seen, and could have been: the entries of row i are first[i] to first[i + 1]."""

    first: IntArray  # [X A + 2]
    after: IntArray  # the state of each entry
    counts: FloatArray  # how often it was drawn; the others are not read unless ``closed``
    closed: bool  # only the states of its entries are possible in a row; otherwise all are
    r: FloatArray  # [X, A]
    gamma: float
    log_events: float  # log(2 m / delta), with m the number of rows


class Bounds(NamedTuple):
    """Valid bounds, and the state of the search for better ones."""

    W: FloatArray  # an upper bound on V*, and minus a lower bound on V of the policy, [2, X]
    policy: IntArray  # [X]
    above: FloatArray  # nu less the largest W of the states that are possible, [2, X A + 1]
    radius: FloatArray  # b, [2, X A + 1]
    Q: FloatArray  # what the operator makes of W for each pair, from infinity on, [2, X, A]
    least: float  # nu is above the largest W by no less


@entry_point
def certify(
    seen: Evidence, bounds: Bounds, renew: bool, sweeps: int, precision: float
) -> tuple[float, float, bool]:
    """Improve the bounds by at most ``sweeps`` sweeps; their means over the first states.

    It ends when both together could improve by no more than ``precision`` times their distance;
    the last number returned says whether they could. ``renew`` is to be set when there are new
    data.
    """
    if renew:
        set_radii(seen, bounds)
    rest, gamma = [math.inf, math.inf], seen.gamma
    start, distance, done, settled = seen.first.size - 2, 0.0, 0, False
    upper, lower = math.inf, -math.inf
    while done < sweeps and not settled:
        for side in (UPPER, LOWER):
            if rest[side] > 0.5 * precision * distance:
                least, most = sweep(seen, bounds, side)
                rest[side] = gamma / (1 - gamma) * (most - least)
        upper = expectation(seen, bounds, UPPER, start, bounds.W[UPPER].max())
        lower = -expectation(seen, bounds, LOWER, start, bounds.W[LOWER].max())
        distance = upper - lower
        settled = rest[UPPER] + rest[LOWER] <= precision * distance
        done += 1
    for _ in range(STEPS):
        upper = min(upper, expectation(seen, bounds, UPPER, start, bounds.W[UPPER].max()))
        lower = max(lower, -expectation(seen, bounds, LOWER, start, bounds.W[LOWER].max()))
    return upper, lower, settled


@compiled()
def sweep(seen: Evidence, bounds: Bounds, side: int) -> tuple[float, float]:
    """One application of the operator to W; the least and the largest improvement, from 0 on.

    If all values improve by m or more, they can all be improved by m / (1 - gamma) (MacQueen's
    bound), as the operator lowers W - c by gamma c more than W.
    """
    W, Q, r, gamma = bounds.W[side], bounds.Q[side], seen.r, seen.gamma
    above, below = bounds.Q[UPPER], bounds.W[LOWER]
    n_states, n_actions = r.shape
    largest, least, most = W.max(), math.inf, 0.0
    for x in range(n_states):
        for a in range(n_actions):
            if above[x, a] < -below[x]:  # it was proved not to be optimal, and never will be
                continue
            later = gamma * expectation(seen, bounds, side, x * n_actions + a, largest)
            Q[x, a] = r[x, a] + later if side == UPPER else later - r[x, a]
    for x in range(n_states):
        a = Q[x].argmax() if side == UPPER else Q[x].argmin()
        better = max(W[x] - Q[x, a], 0.0)
        least, most = min(least, better), max(most, better)
        W[x] -= better
        if better > 0 and side == LOWER:
            bounds.policy[x] = a
    shift = gamma / (1 - gamma) * least
    for x in range(n_states):
        W[x] -= shift
    return least, most


@compiled()
def expectation(seen: Evidence, bounds: Bounds, side: int, row: int, largest: float) -> float:
    """The right-hand side of (1) for a row; its nu takes a step towards the best.

    At the best nu, phi = log(mean of 1/(nu - W)) + mean of log(nu - W) - b is 0, which is nearly
    linear in 1 / (nu - P^ W)^2.
    """
    begin, end, after, counts = seen.first[row], seen.first[row + 1], seen.after, seen.counts
    W, b = bounds.W[side], bounds.radius[side, row]
    if seen.closed:
        largest = -math.inf
        for entry in range(begin, end):
            largest = max(largest, W[after[entry]])
    if not 0 < b < math.inf:  # one state alone is possible, or nothing was seen
        return largest
    above = bounds.above[side, row]
    nu, n = largest + above, 0.0
    mean, logs, first, second = 0.0, 0.0, 0.0, 0.0
    for entry in range(begin, end):
        c = counts[entry]
        if c > 0:
            y = W[after[entry]]
            inverse = 1 / (nu - y)
            n += c
            mean += c * y
            logs += c * math.log(nu - y)
            first += c * inverse
            second += c * inverse * inverse
    mean, logs, first, second = mean / n, logs / n, first / n, second / n
    phi, far = math.log(first) + logs - b, nu - mean
    slope = 0.5 * far**3 * max(second - first * first, 0.0) / first
    w = far**-2.0 - phi / slope
    better = 1 / math.sqrt(w) if w > 0 else math.inf
    nearer = max(above / NARROWER, bounds.least)
    bounds.above[side, row] = max(mean + min(better, WIDER * far) - largest, nearer)
    return float(min(nu - math.exp(logs - b), largest))


@compiled()
def set_radii(seen: Evidence, bounds: Bounds) -> None:
    """The radii of all rows; infinite where nothing was seen, and 0 where one state is possible.

    (2) has the regret of Cover's universal portfolio of two assets, (3) that of a mixture of
    Dirichlet(1/2) distributions over all sets of possible states.
    """
    first, counts, radius = seen.first, seen.counts, bounds.radius
    half = math.lgamma(0.5)
    for row in range(first.size - 1):
        begin, end = first[row], first[row + 1]
        S, n, k, every = float(end - begin if seen.closed else seen.r.shape[0]), 0.0, 0.0, 0.0
        for entry in range(begin, end):
            c = counts[entry]
            if c > 0:
                n += c
                k += 1
                every += c * math.log(c) - math.lgamma(c + 0.5) + half
        radius[UPPER, row] = radius[LOWER, row] = 0.0 if S == 1 else math.inf
        if S > 1 and n > 0:
            single = half + math.lgamma(n + 1) - math.lgamma(n + 0.5)
            every += math.lgamma(n + 0.5 * k) - math.lgamma(0.5 * k) - n * math.log(n)
            every += math.lgamma(S + 1) - math.lgamma(k + 1) - math.lgamma(S - k + 1)
            every += math.log(k * (k + 1) * S / (S + 1))
            radius[UPPER, row] = (seen.log_events + min(single, every)) / n
            radius[LOWER, row] = (seen.log_events + every) / n
