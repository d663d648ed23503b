"""Optimism of a pair (x, a): its bonus CB and its ascension function p+, from one formula.

The same function serves the compiled loops, on numbers, and saved policies, on arrays: it is
written in operations that NumPy and the compiler share.
"""

from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

EDGE = 1 + 1e-9
"""Comparisons allow this relative margin: with counts both sides are often equal up to rounding."""

ROUNDING = 1e-12
"""A variance below this part of the second moment is the rounding of their difference: 0."""

TINY = float(np.finfo(np.float64).tiny)


class BonusKind(IntEnum):
    """What CB is (`optimist.core.bonus`)."""

    FIXED = 0
    VARIANCE = 1
    NOISE = 2


class AscensionKind(IntEnum):
    """What p+ is (`optimist.core.ascension`)."""

    NEVER = 0
    SIGMOID = 1
    TRUNCATION = 2
    THRESHOLD = 3
    NOVELTY = 4


class Optimism(NamedTuple):
    """A bonus and an ascension function with their numbers, as the formula takes them."""

    bonus: int
    coefficient: float  # beta, or c
    ascension: int
    a: float  # alpha, or a level
    b: float  # omega
    gamma: float


def optimism(
    o: Optimism, ridge: float, novel: float, u: Any, norm: Any, first: Any, second: Any
) -> tuple[Any, Any]:
    """CB and p+ of pairs.

    Truncation depends on the target of each update, and noise on a draw; they are made there.

    Parameters
    ----------
    o
        Which bonus and which ascension function.
    ridge, novel
        The prior's (`optimist.core.prior`).
    u, norm
        The uncertainty ||phi|| in the norm of Lambda^{-1}, and ||phi||^2.
    first, second
        The regressions of V - v and of its square; not used by a fixed bonus.
    """
    # The prior's share in the estimate of a pair, where it is used; where phi = 0 so is u.
    shared = o.ascension == AscensionKind.NOVELTY or o.bonus == BonusKind.VARIANCE
    share = np.minimum(ridge * u * u / np.maximum(norm, TINY), 1.0) if shared else 0.0 * u
    new = (share > o.a * EDGE) * (o.ascension == AscensionKind.NOVELTY)
    CB = o.coefficient * u
    if o.bonus == BonusKind.VARIANCE:
        # The moments are regressions to 0, so they are 1 - share of those of the data, and the
        # visits behind them (1 - share) / u^2. A pair without data has no variance, and that of a
        # new pair is not used.
        data = 1 - share
        known = data > 0
        weight = data + (1 - known)
        mean, square = first / weight, second / weight
        variance = square - mean * mean
        variance = variance * ((variance > ROUNDING * square) * known)
        deviation = np.sqrt(np.maximum(variance, 0.0) / weight)
        CB = CB * (o.gamma * (deviation * (1 - new)))
    if o.ascension == AscensionKind.SIGMOID:
        if np.isinf(o.a):  # the limit of the sigmoid is a step
            p = (CB > 0) + (1 - (CB > 0)) / (1 + np.exp(o.b))
        else:
            p = 1 / (1 + np.exp(o.b - o.a * CB))
    elif o.ascension == AscensionKind.THRESHOLD:
        p = 1.0 * (u > o.a)
    elif o.ascension == AscensionKind.NOVELTY:
        p = np.maximum(1.0 * new, np.minimum(novel * share, 1.0))
    else:
        p = 0.0 * u
    return CB, p
