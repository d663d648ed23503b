"""The rates that the paper states, without constants and logarithms.

They differ in powers of H. With T = H K:

- Theorem main: sqrt(d^3 H^3 K) + sqrt(d H^{9/2} K log A). It follows from the last display of the
  proof, and equals the introduction's H sqrt(d^3 T) + H^{7/4} sqrt(d T log A).
- Abstract: sqrt(d^3 H^{7/2} T). It is weaker, and follows from either for log A <= d^2.
- Corollary sample: (H^3 d^3 + H^{9/2} d log A) / epsilon^2 episodes. It follows from the theorem.
- Introduction: (H^3 d^3 + H^{7/2} d log A) / epsilon^2 samples. It does not follow. The powers of H
  are 3 and 9/2 in episodes, 4 and 11/2 in steps, and 2 and 7/2 for regret per step.
- Theorem FraUpper: d^3 H^{9/2} log A / epsilon^2 episodes. It follows from the corollary for
  log A >= 1, up to constants.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from optimist.checks import FloatArray
from optimist.theory.numbers import Numbers, numbers, plain
from optimist.theory.parameters import horizon


def _sizes(
    d: ArrayLike, n_actions: ArrayLike, gamma: ArrayLike
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Check the sizes; d, log A and H as arrays."""
    log_A = np.log(numbers(n_actions, "n_actions", least=1))
    return numbers(d, "d", least=1), log_A, np.asarray(horizon(gamma))


def _squared(epsilon: ArrayLike) -> FloatArray:
    return np.asarray(numbers(epsilon, "epsilon", above=0) ** 2)


def regret_in_abstract(T: ArrayLike, d: ArrayLike, gamma: ArrayLike) -> Numbers:
    """sqrt(d^3 H^{7/2} T) after T steps (abstract).

    Examples
    --------
    >>> round(regret_in_abstract(T=10_000, d=4, gamma=0.75))
    9051
    """
    dim, _, H = _sizes(d, 1, gamma)
    return plain(np.sqrt(dim**3 * H**3.5 * numbers(T, "T", least=0)))


def regret_in_introduction(
    T: ArrayLike, d: ArrayLike, n_actions: ArrayLike, gamma: ArrayLike
) -> Numbers:
    """H sqrt(d^3 T) + H^{7/4} sqrt(d T log A) after T steps (introduction).

    Examples
    --------
    >>> round(regret_in_introduction(T=10_000, d=4, n_actions=2, gamma=0.75))
    5084
    """
    dim, log_A, H = _sizes(d, n_actions, gamma)
    played = numbers(T, "T", least=0)
    return plain(H * np.sqrt(dim**3 * played) + H**1.75 * np.sqrt(dim * played * log_A))


def regret(K: ArrayLike, d: ArrayLike, n_actions: ArrayLike, gamma: ArrayLike) -> Numbers:
    """sqrt(d^3 H^3 K) + sqrt(d H^{9/2} K log A) over K episodes (Theorem main).

    Examples
    --------
    >>> round(regret(K=2500, d=4, n_actions=2, gamma=0.75))  # T = H K = 10,000 steps
    5084
    """
    dim, log_A, H = _sizes(d, n_actions, gamma)
    episodes = numbers(K, "K", least=0)
    return plain(np.sqrt(dim**3 * H**3 * episodes) + np.sqrt(dim * H**4.5 * episodes * log_A))


def episodes(epsilon: ArrayLike, d: ArrayLike, n_actions: ArrayLike, gamma: ArrayLike) -> Numbers:
    """(H^3 d^3 + H^{9/2} d log A) / epsilon^2 episodes (Corollary sample).

    Examples
    --------
    >>> round(episodes(1.0, d=4, n_actions=2, gamma=0.75))
    5516
    """
    dim, log_A, H = _sizes(d, n_actions, gamma)
    return plain((H**3 * dim**3 + H**4.5 * dim * log_A) / _squared(epsilon))


def steps(epsilon: ArrayLike, d: ArrayLike, n_actions: ArrayLike, gamma: ArrayLike) -> Numbers:
    """(H^4 d^3 + H^{11/2} d log A) / epsilon^2 steps, H times `episodes` (Corollary sample).

    Examples
    --------
    >>> round(steps(1.0, d=4, n_actions=2, gamma=0.75))
    22062
    """
    return plain(horizon(gamma) * episodes(epsilon, d, n_actions, gamma))


def samples_in_introduction(
    epsilon: ArrayLike, d: ArrayLike, n_actions: ArrayLike, gamma: ArrayLike
) -> Numbers:
    """(H^3 d^3 + H^{7/2} d log A) / epsilon^2 samples (introduction).

    If samples are steps, its two terms are smaller than those of `steps` by factors H and H^2.

    Examples
    --------
    >>> round(samples_in_introduction(1.0, d=4, n_actions=2, gamma=0.75))
    4451
    """
    dim, log_A, H = _sizes(d, n_actions, gamma)
    return plain((H**3 * dim**3 + H**3.5 * dim * log_A) / _squared(epsilon))


def fra_il_episodes(
    epsilon: ArrayLike, d: ArrayLike, n_actions: ArrayLike, gamma: ArrayLike
) -> Numbers:
    """d^3 H^{9/2} log A / epsilon^2 episodes of FRA-IL (Theorem FraUpper).

    Examples
    --------
    >>> round(fra_il_episodes(1.0, d=4, n_actions=2, gamma=0.75))
    22713
    """
    dim, log_A, H = _sizes(d, n_actions, gamma)
    return plain(dim**3 * H**4.5 * log_A / _squared(epsilon))


def fra_il_expert_samples(epsilon: ArrayLike, gamma: ArrayLike, W_max: ArrayLike = 1.0) -> Numbers:
    """W_max^2 H^2 / epsilon^2 expert samples, sufficient (FraUpper) and necessary (LowerTauE).

    Examples
    --------
    >>> fra_il_expert_samples(0.5, gamma=0.75, W_max=2.0)
    256.0
    """
    return plain((numbers(W_max, "W_max", above=0) * horizon(gamma)) ** 2 / _squared(epsilon))


def least_episodes(epsilon: ArrayLike, d: ArrayLike, gamma: ArrayLike) -> Numbers:
    """d H^2 / epsilon^2 episodes, necessary for every imitator (Theorem LowerK).

    Examples
    --------
    >>> least_episodes(0.5, d=4, gamma=0.75)
    256.0
    """
    dim, _, H = _sizes(d, 1, gamma)
    return plain(dim * H**2 / _squared(epsilon))


@dataclass(frozen=True)
class Rate:
    """A rate as the paper states it.

    Attributes
    ----------
    where
        Its place in the paper.
    quantity
        The quantity that it bounds.
    formula
        The rate in the notation of the paper.
    at
        Its value at (epsilon, K, d, n_actions, gamma, W_max).
    """

    where: str
    quantity: str
    formula: str
    at: Callable[[float, float, int, int, float, float], float]


RATES = (
    Rate(
        "abstract",
        "regret",
        "sqrt(d^3 H^{7/2} T)",
        lambda e, K, d, A, gamma, W: regret_in_abstract(K * horizon(gamma), d, gamma),
    ),
    Rate(
        "introduction",
        "regret",
        "H sqrt(d^3 T) + H^{7/4} sqrt(d T log A)",
        lambda e, K, d, A, gamma, W: regret_in_introduction(K * horizon(gamma), d, A, gamma),
    ),
    Rate(
        "Theorem main",
        "regret",
        "sqrt(d^3 H^3 K) + sqrt(d H^{9/2} K log A)",
        lambda e, K, d, A, gamma, W: regret(K, d, A, gamma),
    ),
    Rate(
        "introduction",
        "samples",
        "(H^3 d^3 + H^{7/2} d log A) / eps^2",
        lambda e, K, d, A, gamma, W: samples_in_introduction(e, d, A, gamma),
    ),
    Rate(
        "Corollary sample",
        "episodes",
        "(H^3 d^3 + H^{9/2} d log A) / eps^2",
        lambda e, K, d, A, gamma, W: episodes(e, d, A, gamma),
    ),
    Rate(
        "Corollary sample",
        "steps",
        "(H^4 d^3 + H^{11/2} d log A) / eps^2",
        lambda e, K, d, A, gamma, W: steps(e, d, A, gamma),
    ),
    Rate(
        "Theorem FraUpper",
        "episodes",
        "d^3 H^{9/2} log A / eps^2",
        lambda e, K, d, A, gamma, W: fra_il_episodes(e, d, A, gamma),
    ),
    Rate(
        "Theorem FraUpper",
        "expert samples",
        "W_max^2 H^2 / eps^2",
        lambda e, K, d, A, gamma, W: fra_il_expert_samples(e, gamma, W),
    ),
    Rate(
        "Theorem LowerK",
        "episodes",
        "d H^2 / eps^2",
        lambda e, K, d, A, gamma, W: least_episodes(e, d, gamma),
    ),
    Rate(
        "Theorem LowerTauE",
        "expert samples",
        "W_max^2 H^2 / eps^2",
        lambda e, K, d, A, gamma, W: fra_il_expert_samples(e, gamma, W),
    ),
)
"""Every rate of the paper, with T = H K, without constants and logarithms."""
