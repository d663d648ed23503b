"""Certificates, compiled: bounds on V* and on the value of a policy, from the counts.

The derivation is in docs/certificates.md. The upper bound on V* is the fixed point of the Bellman
operator T with the largest means (`optimist.core.means`) in the place of P; minus the lower bound
on the values of a policy is likewise, for -V and with the least over actions.

For every V, V + max(T V - V) / (1 - gamma) is a bound. So the search is free to guess V, and does
it by Newton's method, whose linear equations are solved roughly. It may end at any time.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from optimist.checks import FloatArray, IntArray
from optimist.core.compiler import compiled, entry_point
from optimist.core.evidence import LOWER, UPPER, Evidence, Rows, set_rows
from optimist.core.means import LEAST, Means, set_means

PRODUCTS, ENOUGH = 10, 0.05
"""Sweeps of products for a guess, at most, and to what share they reduce what is left."""

PROGRESS = 0.9
"""A guess has to leave no more than this share of what the last one left."""

STEPS = 2
"""Steps for the nu of the first states, once their values are known."""


class Bounds(NamedTuple):
    """Valid bounds, and the state of the search for better ones."""

    W: FloatArray  # an upper bound on V*, and minus a lower bound on V of the policy, [2, X]
    policy: IntArray  # [X]
    Q: FloatArray  # upper bounds on Q*, infinite before there are any, [X, A]
    V: FloatArray  # a guess at the fixed points, [2, X]
    limits: FloatArray  # the least and the largest value that there may be, [2, 2]
    above: FloatArray  # nu less the largest V of the states that are possible, [2, X A + 1]


class Newton(NamedTuple):
    """The equations of a step, move = step + gamma P move, with P of the best actions."""

    best: IntArray  # the row of the best action of each state
    step: FloatArray  # by how much it is better than V, [X]
    move: FloatArray  # what is added to V, [X]
    left: FloatArray  # by how much the equations are missed, [X]


def no_bounds(n_states: int, n_actions: int, highest: float) -> tuple[Bounds, Newton]:
    """Those that hold before anything was seen, if rewards are in [0, (1 - gamma) highest]."""
    W = np.repeat([[highest], [0.0]], n_states, axis=1)
    bounds = Bounds(
        W=W,
        policy=np.zeros(n_states, dtype=np.int64),
        Q=np.full((n_states, n_actions), np.inf),
        V=W.copy(),
        limits=np.array([[0.0, highest], [-highest, 0.0]]),
        above=np.full((2, n_states * n_actions + 1), np.inf),
    )
    best: Any = np.zeros(n_states, dtype=np.int64)
    return bounds, Newton(best, *np.zeros((3, n_states)))


@entry_point
def certify(
    seen: Evidence,
    rows: Rows,
    bounds: Bounds,
    means: Means,
    newton: Newton,
    renew: bool,
    sweeps: int,
    precision: float,
) -> tuple[float, float, bool]:
    """Improve the bounds by at most ``sweeps`` sweeps; their means over the first states.

    It ends when both together could improve by no more than ``precision`` times their distance;
    the last number returned says whether they could. ``renew`` is to be set when there are new
    data.
    """
    if renew:
        leave_out(bounds, rows)
        set_rows(seen, rows)
    bound, least = [math.inf, math.inf], [-math.inf, -math.inf]  # of the fixed points
    mean_of_first(seen, rows, bounds, means, bound)
    done, settled = 0, False
    while done < sweeps and not settled:
        for side in (UPPER, LOWER):
            before, wait, waits = math.inf, 0, 1
            while done < sweeps:
                target = 0.5 * precision * (bound[UPPER] + bound[LOWER]) + LEAST
                rest = bound[side] - least[side]
                if rest <= target:
                    break
                if rest < math.inf:  # after a guess that was no better, plain sweeps for a while
                    if wait > 0:
                        wait -= 1
                    elif rest > PROGRESS * before:
                        wait, waits = waits, 2 * waits
                    before = rest
                    if wait == 0:
                        solve(seen.gamma, rows, means, newton, side, target)
                move(bounds, newton, side)
                above, below = sweep(seen, rows, bounds, means, newton, side)
                bound[side], least[side] = min(bound[side], above), max(least[side], below)
                done += 1
            move(bounds, newton, side)
        distance = bound[UPPER] + bound[LOWER]
        settled = distance - least[UPPER] - least[LOWER] <= precision * distance + 2 * LEAST
    for _ in range(STEPS):
        mean_of_first(seen, rows, bounds, means, bound)
    return bound[UPPER], -bound[LOWER], settled


@compiled()
def leave_out(bounds: Bounds, rows: Rows) -> None:
    """Leave out the pairs that were proved not to be optimal, for ever.

    One of each state stays, even if the bounds should fail.
    """
    n_states, n_actions = bounds.Q.shape
    for x in range(n_states):
        best = bounds.Q[x].max()
        for a in range(n_actions):
            if bounds.Q[x, a] + LEAST < min(-bounds.W[LOWER, x], best):
                rows.out[x * n_actions + a] = True


@compiled()
def mean_of_first(
    seen: Evidence, rows: Rows, bounds: Bounds, means: Means, bound: list[float]
) -> None:
    """The means of the bounds over the first states, if they are better than those there are."""
    spread = rows.distinct[-1] > 1
    places = rows.size[0] - (not spread), rows.size[1] - spread
    for side in (UPPER, LOWER):
        set_means(seen, rows, side, bounds.W[side], bounds.above[side], *places, means)
        bound[side] = min(bound[side], means.value[-1])


@compiled()
def move(bounds: Bounds, newton: Newton, side: int) -> None:
    """Make the next guess."""
    V, (low, high) = bounds.V[side], bounds.limits[side]
    for x in range(V.size):
        V[x] = max(min(V[x] + newton.move[x], high), low)
        newton.move[x] = 0.0


@compiled()
def sweep(
    seen: Evidence, rows: Rows, bounds: Bounds, means: Means, newton: Newton, side: int
) -> tuple[float, float]:
    """T V, the step to it, and the bounds W that it gives.

    Returns bounds on the mean of the fixed point over the first states.
    """
    V, W, r, gamma = bounds.V[side], bounds.W[side], seen.r, seen.gamma
    best, step, value, out = newton.best, newton.step, means.value, rows.out
    n_states, n_actions = r.shape
    set_means(seen, rows, side, V, bounds.above[side], 0, 0, means)
    most, least = -math.inf, math.inf
    for x in range(n_states):
        found, exact = -math.inf, -math.inf
        for a in range(n_actions):
            row = x * n_actions + a
            if not out[row]:
                later, slack = gamma * value[row], gamma * means.slack[row]
                q = r[x, a] + later if side == UPPER else r[x, a] - later
                exact = max(exact, q - slack if side == UPPER else q + slack)
                if q > found:
                    found, best[x] = q, row
        step[x] = (found if side == UPPER else -found) - V[x]
        most = max(most, step[x])
        least = min(least, (exact if side == UPPER else -exact) - V[x])
    shift = most / (1 - gamma)
    for x in range(n_states):
        newton.move[x] = step[x]
        better = V[x] + step[x] + gamma * shift
        if better < W[x]:
            W[x] = better
            if side == LOWER:
                bounds.policy[x] = best[x] - x * n_actions
        if side == UPPER:
            for a in range(n_actions):
                row = x * n_actions + a
                if not out[row]:
                    bounds.Q[x, a] = r[x, a] + gamma * (value[row] + shift)
    return value[-1] + shift, value[-1] - means.slack[-1] + least / (1 - gamma)


@compiled()
def solve(gamma: float, rows: Rows, means: Means, newton: Newton, side: int, target: float) -> None:
    """Solve the equations of a step, roughly.

    All states move at once, and together, as long as that halves what is left, as it does where the
    present state is soon forgotten; then one after the other, to and fro, which is fast along
    paths.
    """
    step, move, left = newton.step, newton.move, newton.left
    n_states, high, low, before = step.size, step.max(), step.min(), math.inf
    enough = max(ENOUGH * (high - low), 0.5 * target * (1 - gamma) / gamma)
    move[:] = 0.0
    left[:] = step
    while high - low <= 0.5 * before:
        shift = 0.5 * (high + low) * gamma / (1 - gamma)
        for x in range(n_states):
            move[x] += left[x] + shift
        before, high, low = high - low, -math.inf, math.inf
        for x in range(n_states):
            later, own = mean_move(rows, means, newton, side, x)
            left[x] = step[x] + gamma * later - (1 - gamma * own) * move[x]
            high, low = max(high, left[x]), min(low, left[x])
        if high - low <= enough:
            return
    for done in range(PRODUCTS):
        high, low = -math.inf, math.inf
        for j in range(n_states):
            x = j if done % 2 == 0 else n_states - 1 - j
            later, own = mean_move(rows, means, newton, side, x)
            new = (step[x] + gamma * later) / (1 - gamma * own)
            high, low = max(high, new - move[x]), min(low, new - move[x])
            move[x] = new
        if high - low <= enough:
            break


@compiled()
def mean_move(rows: Rows, means: Means, newton: Newton, side: int, x: int) -> tuple[float, float]:
    """P move of the best action of a state, but of the state itself, and the probability of that.

    P is the derivative of (1): it goes where the row led, and with the rest to the largest V.
    """
    row, move = newton.best[x], newton.move
    peak, later, own, rest = means.peak[row], 0.0, 0.0, 1.0
    if rows.distinct[row] < 2:
        p, y = rows.mix[side, row], rows.state[row]
        rest -= p
        if y == x:
            own = p
        else:
            later = p * move[y]
    else:
        i = rows.place[row]
        scale = min(means.scale[i], 1 / means.first[i])
        for entry in range(rows.begin[i], rows.begin[i + 1]):
            p, y = scale * means.near[entry], rows.at[entry]
            rest -= p
            if y == x:
                own += p
            else:
                later += p * move[y]
    if peak == x:
        return later, own + rest
    return later + rest * move[peak], own
