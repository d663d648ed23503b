"""The number of episodes for a given bound on the average regret (Corollary sample)."""

import math
from collections.abc import Callable

from scipy.optimize import brentq

from optimist import checks
from optimist.theory.parameters import horizon
from optimist.theory.regret import regret_bound


def episodes_needed(
    epsilon: float,
    d: int,
    n_actions: int,
    gamma: float,
    B: float,
    W_max: float,
    R_max: float = 1.0,
    delta: float = 0.1,
) -> float:
    """The smallest K at which the bound on the average regret is at most epsilon.

    A policy drawn from the K that were played is then epsilon-optimal in the mean (Corollary
    sample); H times K is the number of steps. The bound is ``mended``, with the beta of Lemma
    good-event-holds at each K. At gamma = 0 the result is infinite. `rates.episodes` is the rate
    without constants.

    Examples
    --------
    >>> f"{episodes_needed(1.0, d=12, n_actions=2, gamma=0.9, B=1, W_max=1):.1e}"
    '4.6e+23'
    """
    reachable(epsilon, gamma, R_max)
    if gamma == 0:
        return math.inf

    def excess(log_K: float) -> float:
        K = math.exp(log_K)
        bound = regret_bound(K, d, n_actions, gamma, B, W_max, R_max, delta)
        return math.log(bound.mended / K) - math.log(epsilon)

    return crossing(excess)


def nontrivial_from(
    d: int,
    n_actions: int,
    gamma: float,
    B: float,
    W_max: float,
    R_max: float = 1.0,
    delta: float = 0.1,
) -> float:
    """The smallest K at which the bound is below K H R_max, the largest possible regret.

    Examples
    --------
    >>> f"{nontrivial_from(d=12, n_actions=2, gamma=0.9, B=1, W_max=1):.1e}"
    '3.5e+22'
    """
    most = horizon(gamma) * checks.positive(R_max, "R_max")
    return episodes_needed(most, d, n_actions, gamma, B, W_max, R_max, delta)


def reachable(epsilon: float, gamma: float, R_max: float) -> float:
    """Check that ``epsilon`` is in (0, H R_max]; no policy loses more."""
    most = horizon(checks.discount(gamma)) * checks.positive(R_max, "R_max")
    if not 0 < checks.real_number(epsilon, "epsilon") <= most:
        raise ValueError(f"epsilon must be in (0, H R_max] = (0, {most:g}]; got {epsilon:g}")
    return float(epsilon)


def crossing(excess: Callable[[float], float]) -> float:
    """The K beyond which a function of log K stays negative.

    Each term of the average regret is a power of log K, at most the sixth, over sqrt K or K. It
    decreases from K = e^6 on, where the bound is still far above the trivial one, as beta >= 16 d.
    """
    low = 6.0
    high = 2 * low
    while excess(high) > 0:
        low, high = high, 2 * high
    return math.exp(float(brentq(excess, low, high, xtol=1e-12)))
