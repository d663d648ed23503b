"""Optimism of a pair (x, a): its bonus CB, its ascension function p+, and whether it is on trial.

The same functions serve the compiled loops, on numbers, and saved policies, on arrays: they are
written in operations that NumPy and the compiler share.
"""

import math
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from optimist.checks import FloatArray

EDGE = 1 + 1e-9
"""Comparisons allow this relative margin: with counts both sides are often equal up to rounding."""

ROUNDING = 1e-12
"""A variance below this part of the second moment is the rounding of their difference: 0."""

TINY = float(np.finfo(np.float64).tiny)

UNTRIED = 0.5
"""A pair is untried where the prior has more than this share in its estimate."""

TAU = 0.4
"""An action on trial was tried fewer than TAU theta sqrt(N) times in N visits of its state."""

ODDS = 10.0
LOG_ODDS = math.log(ODDS)
"""The most probable an untried action is, as a multiple of the best tried one."""


class Standing(IntEnum):
    """How an action is played (`optimist.core.trials`)."""

    KNOWN = 0
    ON_TRIAL = 1
    UNTRIED = 2


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
    ridge: float


def standing(untried: Any, n: Any, theta: Any, state_visits: Any) -> Any:
    """The `Standing` of an action that was tried n times in so many visits of its state.

    The root is that of forced exploration (Garivier and Kaufmann, 2016): tries without end, which
    are a vanishing share of all visits.
    """
    on_trial = (n > 0) * (n * EDGE < TAU * theta * np.sqrt(state_visits))
    return Standing.UNTRIED * untried + Standing.ON_TRIAL * on_trial


def optimism(
    o: Optimism,
    novel: float,
    multiplier: float,
    u: Any,
    norm: Any,
    first: Any,
    second: Any,
    theta: Any,
) -> tuple[Any, Any, Any, Any]:
    """CB and p+ of pairs, whether they are untried (`Novelty`), and their visits n.

    n = 1 / u^2 - ridge / ||phi||^2 is the number of visits with one-hot features; it is 0 for
    untried pairs, and for those without features.

    Truncation depends on the target of each update, and noise on a draw; they are made there.

    Parameters
    ----------
    o
        Which bonus and which ascension function.
    novel, multiplier
        s L and (1 + log k)^2, as of the start of the epoch (`optimist.core.prior`).
    u, norm
        The uncertainty ||phi|| in the norm of Lambda^{-1}, and ||phi||^2.
    first, second
        The regressions of V - v and of its square; not used by a fixed bonus.
    theta
        The concentration of the pair's next states; used by `Novelty` alone.
    """
    learns = o.ascension == AscensionKind.NOVELTY
    # The prior's share in the estimate of a pair, where it is used; where phi = 0 so is u.
    shared = learns or o.bonus == BonusKind.VARIANCE
    share = np.minimum(o.ridge * u * u / np.maximum(norm, TINY), 1.0) if shared else 0.0 * u
    new = (share > UNTRIED * EDGE) * learns
    data = (1 - new) * (u > 0)  # whether there are any
    n = data * o.ridge * (1 - share) / np.maximum(share * norm, TINY)
    CB = o.coefficient * u
    if o.bonus == BonusKind.VARIANCE:
        # The moments are regressions to 0, so they are 1 - share of those of the data, and the
        # visits behind them (1 - share) / u^2. A pair without data has no variance, and that of a
        # new pair is not used.
        known = share < 1
        weight = 1 - share * known  # the share of the data
        mean, square = first / weight, second / weight
        variance = square - mean * mean
        variance = variance * ((variance > ROUNDING * square) * known)
        deviation = np.sqrt(multiplier * np.maximum(variance, 0.0) / weight)
        CB = CB * (o.gamma * (deviation * (1 - new)))
    if o.ascension == AscensionKind.SIGMOID:
        if np.isinf(o.a):  # the limit of the sigmoid is a step
            p = (CB > 0) + (1 - (CB > 0)) / (1 + np.exp(o.b))
        else:
            p = 1 / (1 + np.exp(o.b - o.a * CB))
    elif o.ascension == AscensionKind.THRESHOLD:
        p = 1.0 * (u > o.a)
    elif o.ascension == AscensionKind.NOVELTY:
        p = np.maximum(
            1.0 * new, np.minimum(data * novel * theta / np.maximum(n + theta, TINY), 1.0)
        )
    else:
        p = 0.0 * u
    return CB, p, new, n


def best_tried(logits: FloatArray, standings: Any) -> FloatArray:
    """The logits of tried actions, minus infinity for others; all of them if none was tried."""
    untried = standings == Standing.UNTRIED
    return np.where(untried & ~untried.all(axis=-1, keepdims=True), -np.inf, logits)


def played(logits: FloatArray, standings: Any) -> FloatArray:
    """What is played in the place of softmax(logits), [..., A] (`optimist.core.trials`)."""
    ahead = logits - best_tried(logits, standings).max(axis=-1, keepdims=True)
    ahead = np.where(standings == Standing.UNTRIED, np.minimum(ahead, LOG_ODDS), ahead)
    weights = np.exp(np.where(standings == Standing.ON_TRIAL, 0.0, ahead))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))
