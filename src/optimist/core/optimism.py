"""Optimism of a pair (x, a): its bonus CB, its ascension function p+, and its trials.

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

MOST_PRIOR = 0.5
"""A pair is untried where the prior has more than this share in its estimate."""

TAU = 0.4
"""An action on trial was tried fewer than TAU theta sqrt(N) times in N visits of its state."""

RANGE = 5.0
"""p+ of `Confidence` is theta / (n + theta) with theta = RANGE L (docs/explanation/rule.md)."""

ODDS = 10.0
LOG_ODDS = math.log(ODDS)
"""The most probable an untried action is, as a multiple of the best tried one."""

KNOWN, UNTRIED = -1e3, 1e3
"""The standing of actions that are neither on trial nor untried, and of untried ones."""


class BonusKind(IntEnum):
    """The kinds of CB (`optimist.core.bonus`)."""

    FIXED = 0
    VARIANCE = 1
    NOISE = 2


class AscensionKind(IntEnum):
    """The kinds of p+ (`optimist.core.ascension`)."""

    NEVER = 0
    SIGMOID = 1
    TRUNCATION = 2
    THRESHOLD = 3
    NOVELTY = 4
    CONFIDENCE = 5


class Optimism(NamedTuple):
    """A bonus and an ascension function with their numbers, as the formula takes them."""

    bonus: int
    coefficient: float  # beta, or c
    ascension: int
    a: float  # alpha, or a level
    b: float  # omega
    gamma: float
    ridge: float


def trial(n: Any, theta: Any, N: Any) -> tuple[Any, Any]:
    """The share TAU theta / sqrt(N) of N visits of a state, and whether n tries are fewer than it.

    The root is that of forced exploration (Garivier and Kaufmann, 2016): tries without end, which
    are a vanishing share of all visits.
    """
    share = TAU * theta / np.sqrt(np.maximum(N, 1.0))
    return share, (n > 0) * (n * EDGE < share * N)


def least_log_odds(share: Any) -> Any:
    """The least log-odds of an action on trial against the best tried one; at most 0."""
    return np.log(np.maximum(np.minimum(share, 1.0), TINY))


def standing(untried: Any, n: Any, theta: Any, N: Any) -> Any:
    """The standing of actions that were tried n times in N visits of their state.

    It is `KNOWN`, `UNTRIED`, or that of an action on trial, its `least_log_odds`.
    """
    share, on_trial = trial(n, theta, N)
    floor = on_trial * least_log_odds(share)
    return UNTRIED * untried + floor + KNOWN * (1 - untried) * (1 - on_trial)


def visits(o: Optimism, u: Any, norm: Any) -> tuple[Any, Any, Any]:
    """The prior's share in the estimates of pairs, whether they are untried, and their visits n.

    n = 1 / u^2 - ridge / ||phi||^2 is the number of visits with one-hot features; it is 0 for
    untried pairs (`Novelty`, `Confidence`), and for those without features, where u = 0. The share
    is 1 where nothing depends on it.
    """
    learns = o.ascension >= AscensionKind.NOVELTY
    used = learns or o.bonus == BonusKind.VARIANCE
    share = np.minimum(o.ridge * u * u / np.maximum(norm, TINY), 1.0) if used else 0.0 * u + 1.0
    untried = (share > MOST_PRIOR * EDGE) * learns
    n = (1 - untried) * (u > 0) * o.ridge * (1 - share) / np.maximum(share * norm, TINY)
    return share, untried, n


def deviations(N: Any) -> Any:
    """(1 + log N)^2: after N visits of a state its bonuses are c times as many deviations.

    UCB1 (Auer et al., 2002) has the root of a logarithm, which c (1 + log N)^2 exceeds in the end,
    however small c is.
    """
    return (1 + np.log(np.maximum(N, 1.0))) ** 2


def optimism(
    o: Optimism,
    novel: float,
    u: Any,
    share: Any,
    untried: Any,
    n: Any,
    multiple: Any,
    first: Any,
    second: Any,
    theta: Any,
) -> tuple[Any, Any]:
    """CB and p+ of pairs.

    Truncation depends on the target of each update, and noise on a draw; they are made there.

    Parameters
    ----------
    o
        Which bonus and which ascension function.
    novel
        s L, as of the start of the epoch (`optimist.core.prior`); 1 with `Confidence`.
    u
        The uncertainty ||phi|| in the norm of Lambda^{-1}.
    share, untried, n
        As `visits` finds them.
    multiple
        `deviations` after the visits of the pair's state, or sqrt(2 L) (`Confidence`); not used by
        a fixed bonus.
    first, second
        The regressions of V - v and of its square; not used by a fixed bonus.
    theta
        The concentration of the pair's next states (`Novelty`), or 5 L (`Confidence`).
    """
    CB = o.coefficient * u
    if o.bonus == BonusKind.VARIANCE:
        # The moments are regressions to 0, so they are 1 - share of those of the data, and the
        # visits behind them (1 - share) / u^2. A pair without data has no variance, and that of
        # an untried pair is not used.
        known = share < 1
        more = 1 / (1 - share * known)  # one over the share of the data
        mean, square = more * first, more * second
        variance = square - mean * mean
        variance = variance * ((variance > ROUNDING * square) * known)
        deviation = np.sqrt(np.maximum(variance, 0.0) * more)
        CB = CB * (o.gamma * multiple * (deviation * (1 - untried)))
    if o.ascension == AscensionKind.SIGMOID:
        if np.isinf(o.a):  # the limit of the sigmoid is a step
            p = (CB > 0) + (1 - (CB > 0)) / (1 + np.exp(o.b))
        else:
            p = 1 / (1 + np.exp(o.b - o.a * CB))
    elif o.ascension == AscensionKind.THRESHOLD:
        p = 1.0 * (u > o.a)
    elif o.ascension >= AscensionKind.NOVELTY:
        data = (1 - untried) * (u > 0)  # whether there are any
        p = np.minimum(data * novel * theta / np.maximum(n + theta, TINY), 1.0)
        p = np.maximum(1.0 * untried, p)
    else:
        p = 0.0 * u
    return CB, p


def best_tried(logits: FloatArray, standings: Any) -> FloatArray:
    """The logits of tried actions, minus infinity for others; all of them if none was tried."""
    untried = standings == UNTRIED
    return np.where(untried & ~untried.all(axis=-1, keepdims=True), -np.inf, logits)


def played(logits: FloatArray, standings: Any) -> FloatArray:
    """The policy played in the place of softmax(logits), [..., A] (`optimist.core.trials`)."""
    ahead = logits - best_tried(logits, standings).max(axis=-1, keepdims=True)
    untried = standings == UNTRIED
    log_odds = np.where(untried, np.minimum(ahead, LOG_ODDS), np.maximum(ahead, standings))
    odds = np.exp(log_odds)
    return np.asarray(odds / odds.sum(axis=-1, keepdims=True))
