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
from inspect import signature

import numpy as np

from optimist.theory.numbers import Real, formula
from optimist.theory.parameters import horizon


@formula()
def regret_in_abstract(T: Real, d: Real, gamma: Real) -> Real:
    """sqrt(d^3 H^{7/2} T) after T steps (abstract).

    Examples
    --------
    >>> round(regret_in_abstract(T=10_000, d=4, gamma=0.75))
    9051
    """
    return np.sqrt(d**3 * horizon(gamma) ** 3.5 * T)


@formula()
def regret_in_introduction(T: Real, d: Real, n_actions: Real, gamma: Real) -> Real:
    """H sqrt(d^3 T) + H^{7/4} sqrt(d T log A) after T steps (introduction).

    Examples
    --------
    >>> round(regret_in_introduction(T=10_000, d=4, n_actions=2, gamma=0.75))
    5084
    """
    H = horizon(gamma)
    return H * np.sqrt(d**3 * T) + H**1.75 * np.sqrt(d * T * np.log(n_actions))


@formula("K >= 0")
def regret(K: Real, d: Real, n_actions: Real, gamma: Real) -> Real:
    """sqrt(d^3 H^3 K) + sqrt(d H^{9/2} K log A) over K episodes (Theorem main).

    Examples
    --------
    >>> round(regret(K=2500, d=4, n_actions=2, gamma=0.75))  # T = H K = 10,000 steps
    5084
    """
    H = horizon(gamma)
    return np.sqrt(d**3 * H**3 * K) + np.sqrt(d * H**4.5 * K * np.log(n_actions))


@formula()
def episodes(epsilon: Real, d: Real, n_actions: Real, gamma: Real) -> Real:
    """(H^3 d^3 + H^{9/2} d log A) / epsilon^2 episodes (Corollary sample).

    Examples
    --------
    >>> round(episodes(1.0, d=4, n_actions=2, gamma=0.75))
    5516
    """
    H = horizon(gamma)
    return (H**3 * d**3 + H**4.5 * d * np.log(n_actions)) / epsilon**2


@formula()
def steps(epsilon: Real, d: Real, n_actions: Real, gamma: Real) -> Real:
    """(H^4 d^3 + H^{11/2} d log A) / epsilon^2 steps, H times `episodes` (Corollary sample).

    Examples
    --------
    >>> round(steps(1.0, d=4, n_actions=2, gamma=0.75))
    22062
    """
    return horizon(gamma) * episodes(epsilon, d, n_actions, gamma)


@formula()
def samples_in_introduction(epsilon: Real, d: Real, n_actions: Real, gamma: Real) -> Real:
    """(H^3 d^3 + H^{7/2} d log A) / epsilon^2 samples (introduction).

    If samples are steps, its two terms are smaller than those of `steps` by factors H and H^2.

    Examples
    --------
    >>> round(samples_in_introduction(1.0, d=4, n_actions=2, gamma=0.75))
    4451
    """
    H = horizon(gamma)
    return (H**3 * d**3 + H**3.5 * d * np.log(n_actions)) / epsilon**2


@formula()
def fra_il_episodes(epsilon: Real, d: Real, n_actions: Real, gamma: Real) -> Real:
    """d^3 H^{9/2} log A / epsilon^2 episodes of FRA-IL (Theorem FraUpper).

    Examples
    --------
    >>> round(fra_il_episodes(1.0, d=4, n_actions=2, gamma=0.75))
    22713
    """
    return d**3 * horizon(gamma) ** 4.5 * np.log(n_actions) / epsilon**2


@formula()
def fra_il_expert_samples(epsilon: Real, gamma: Real, W_max: Real = 1.0) -> Real:
    """W_max^2 H^2 / epsilon^2 expert samples, sufficient (FraUpper) and necessary (LowerTauE).

    Examples
    --------
    >>> fra_il_expert_samples(0.5, gamma=0.75, W_max=2.0)
    256.0
    """
    return (W_max * horizon(gamma)) ** 2 / epsilon**2


@formula()
def least_episodes(epsilon: Real, d: Real, gamma: Real) -> Real:
    """d H^2 / epsilon^2 episodes, necessary for every imitator (Theorem LowerK).

    Examples
    --------
    >>> least_episodes(0.5, d=4, gamma=0.75)
    256.0
    """
    return d * horizon(gamma) ** 2 / epsilon**2


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
    function
        The function that computes it.
    """

    where: str
    quantity: str
    formula: str
    function: Callable[..., float]

    def at(
        self, epsilon: float, K: float, d: int, n_actions: int, gamma: float, W_max: float
    ) -> float:
        """The value for these sizes, with T = H K."""
        sizes = {"epsilon": epsilon, "K": K, "T": K * horizon(gamma), "W_max": W_max}
        sizes |= {"d": d, "n_actions": n_actions, "gamma": gamma}
        return self.function(**{name: sizes[name] for name in signature(self.function).parameters})


RATES = (
    Rate("abstract", "regret", "sqrt(d^3 H^{7/2} T)", regret_in_abstract),
    Rate(
        "introduction", "regret", "H sqrt(d^3 T) + H^{7/4} sqrt(d T log A)", regret_in_introduction
    ),
    Rate("Theorem main", "regret", "sqrt(d^3 H^3 K) + sqrt(d H^{9/2} K log A)", regret),
    Rate("introduction", "samples", "(H^3 d^3 + H^{7/2} d log A) / eps^2", samples_in_introduction),
    Rate("Corollary sample", "episodes", "(H^3 d^3 + H^{9/2} d log A) / eps^2", episodes),
    Rate("Corollary sample", "steps", "(H^4 d^3 + H^{11/2} d log A) / eps^2", steps),
    Rate("Theorem FraUpper", "episodes", "d^3 H^{9/2} log A / eps^2", fra_il_episodes),
    Rate("Theorem FraUpper", "expert samples", "W_max^2 H^2 / eps^2", fra_il_expert_samples),
    Rate("Theorem LowerK", "episodes", "d H^2 / eps^2", least_episodes),
    Rate("Theorem LowerTauE", "expert samples", "W_max^2 H^2 / eps^2", fra_il_expert_samples),
)
"""Every rate of the paper, with T = H K, without constants and logarithms."""
