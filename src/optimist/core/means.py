"""The largest means of values that what was seen allows, of all rows, compiled.

The mean of values V of a row with shares p^ and the radius b is at most

    nu - exp( sum_y p^(y) log(nu - V(y)) - b )        for every nu >= max V,                     (1)

the maximum being over the states that are possible. Each evaluation takes every nu one step of
Newton's method nearer to its best.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from optimist.checks import FloatArray, IntArray
from optimist.core.compiler import compiled
from optimist.core.elementary import exp, log
from optimist.core.evidence import Evidence, Rows

WIDER, NARROWER = 4.0, 8.0
"""The most by which a step multiplies nu - P^ V, and divides nu - max V of the states seen."""

FIRST = 0.01
"""The first nu is above max V by no less; values are in [0, 1 / (1 - gamma)] or minus that."""

LEAST = 1e-9
"""Later ones are by no less than this."""


class Means(NamedTuple):
    """The right-hand side of (1), with its derivatives, and room for the work."""

    value: FloatArray  # of each row
    slack: FloatArray  # it exceeds the largest mean by no more than this
    top: FloatArray  # the largest V among the states that are possible in a row
    peak: IntArray  # where that is
    far: FloatArray  # nu - V, of each entry of a spread row
    logs: FloatArray  # log(nu - V)
    near: FloatArray  # p^ / (nu - V)
    above: FloatArray  # nu - top, of each spread row
    nearest: FloatArray  # nu less the largest V that was seen
    mean: FloatArray  # of nu - V
    first: FloatArray  # of 1 / (nu - V)
    second: FloatArray  # of 1 / (nu - V)^2
    phi: FloatArray  # 0 at the best nu
    scale: FloatArray  # exp( mean of log(nu - V) - b )
    excess: FloatArray  # how much more than the largest mean (1) is, at most; before, b


def room_for_means(n_rows: int, n_entries: int) -> Means:
    """Means of no values yet."""
    integers = {"peak": np.zeros(n_rows, dtype=np.int64)}
    entries = {name: np.zeros(n_entries) for name in ("far", "logs", "near")}
    given: dict[str, Any] = {**integers, **entries}
    return Means(**{name: given.get(name, np.zeros(n_rows)) for name in Means._fields})


@compiled()
def set_means(
    seen: Evidence,
    rows: Rows,
    side: int,
    V: FloatArray,
    above: FloatArray,
    single: int,
    spread: int,
    means: Means,
) -> None:
    """The means of the rows from these places in the lists on.

    ``above`` has nu - top of each row, infinite if it has none yet; it is improved. The best nu of
    a single row is its top.
    """
    singles, spreads = rows.single[single : rows.size[0]], rows.spread[spread : rows.size[1]]
    set_tops(seen, V, singles, spreads, means)
    top, value = means.top, means.value
    for row in singles:
        value[row] = top[row] + rows.mix[side, row] * (V[rows.state[row]] - top[row])
    for row in spreads:
        place = rows.place[row]
        if math.isinf(above[row]):
            above[row] = first_guess(rows, place, V, rows.radius[side, row], top[row])
        means.above[place] = above[row]
        means.nearest[place] = top[row] + above[row]
    set_logs(rows, V, rows.begin[spread], rows.begin[rows.size[1]], means)
    sum_up(rows, side, spread, means)
    take_step(means, spread, rows.size[1])
    for row in spreads:
        place = rows.place[row]
        value[row], means.slack[row] = top[row] + means.mean[place], means.excess[place]
        above[row] = means.above[place]


@compiled()
def set_tops(
    seen: Evidence, V: FloatArray, singles: IntArray, spreads: IntArray, means: Means
) -> None:
    """The largest values among the states that are possible in these rows."""
    first, after, peak = seen.first, seen.after, 0
    for x in range(V.size):
        peak = x if V[x] > V[peak] else peak
    for rows in (singles, spreads):
        for row in rows:
            if seen.closed:
                peak = after[first[row]]
                for entry in range(first[row] + 1, first[row + 1]):
                    peak = after[entry] if V[after[entry]] > V[peak] else peak
            means.top[row], means.peak[row] = V[peak], peak


@compiled()
def first_guess(rows: Rows, place: int, V: FloatArray, b: float, top: float) -> float:
    """nu - top of a row that had none: for small b, nu - P^ V is about sqrt(Var V / 2 b)."""
    mean, square = 0.0, 0.0
    for entry in range(rows.begin[place], rows.begin[place + 1]):
        far = top - V[rows.at[entry]]
        mean += rows.share[entry] * far
        square += rows.share[entry] * far * far
    far = math.sqrt(max(square - mean * mean, 0.0) / (2 * b))
    return max(far - mean, 0.1 * mean, FIRST)


@compiled()
def set_logs(rows: Rows, V: FloatArray, begin: int, end: int, means: Means) -> None:
    """nu - V of these entries, its logarithm and its inverse."""
    far, logs, near = means.far[begin:end], means.logs[begin:end], means.near[begin:end]
    of, at, nu = rows.of[begin:end], rows.at[begin:end], means.nearest
    for e in range(far.size):
        far[e] = nu[of[e]] - V[at[e]]
    for e in range(far.size):
        logs[e] = log(far[e])
        near[e] = 1 / far[e]


@compiled()
def sum_up(rows: Rows, side: int, spread: int, means: Means) -> None:
    """The means over the entries of each spread row."""
    far, logs, near, share = means.far, means.logs, means.near, rows.share
    for i in range(spread, rows.size[1]):
        nearest, mean, first, second = math.inf, 0.0, 0.0, 0.0
        means.excess[i] = rows.radius[side, rows.spread[i]]
        exponent = -means.excess[i]
        for e in range(rows.begin[i], rows.begin[i + 1]):
            nearest = min(nearest, far[e])
            mean += share[e] * far[e]
            exponent += share[e] * logs[e]
            inverse = share[e] * near[e]
            first += inverse
            second += inverse * near[e]
            near[e] = inverse
        means.nearest[i], means.mean[i], means.scale[i] = nearest, mean, exponent
        means.first[i], means.second[i] = first, second


@compiled()
def take_step(means: Means, begin: int, end: int) -> None:
    """(1) less top, in ``mean``, and the next nu, from the sums of these spread rows.

    phi = log(mean of 1/(nu - V)) + mean of log(nu - V) - b is nearly linear in 1 / (nu - P^ V)^2.

    What (1) may exceed is the mean by a distribution of the ball. If phi <= 0, one is p^ / (nu - V)
    times its scale, with the rest on the largest V; another is p^ / (nu - V) in proportion, whose
    divergence is phi + b. If phi > 0, the second is mixed with p^, by convexity of the divergence.
    """
    first, second, phi = means.first[begin:end], means.second[begin:end], means.phi[begin:end]
    mean, scale, nearest = means.mean[begin:end], means.scale[begin:end], means.nearest[begin:end]
    above, excess = means.above[begin:end], means.excess[begin:end]
    for i in range(phi.size):  # loops of few arrays: others are not put into vector registers
        phi[i] = log(first[i]) + scale[i]
    for i in range(phi.size):
        power = exp(max(scale[i], -700.0))
        scale[i] = power if scale[i] > -700 else 0.0
    for i in range(phi.size):
        F, far, nu, E = first[i], mean[i], above[i], scale[i]
        slope = 0.5 * far * far * far * max(second[i] - F * F, 0.0) / F
        better = 1 / math.sqrt(max(1 / (far * far) - phi[i] / slope, 1e-300))
        share = excess[i] / (excess[i] + max(phi[i], 0.0))
        mixed = share / F + (1 - share) * far - E
        excess[i] = mixed if phi[i] > 0 else (1 - F * E) * min(nu, 1 / F)
        mean[i] = min(nu - E, 0.0)
        nearer = max(nu - (1 - 1 / NARROWER) * nearest[i], LEAST)
        above[i] = max(nu - far + min(better, WIDER * far), nearer)
