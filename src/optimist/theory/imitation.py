"""The guarantees of FRA-IL, which imitates from features alone.

The bound of Theorem reward_regret_bound (Appendix D), for features ||phi_r|| <= B and a class W of
weights ||w|| <= W_max, and the samples that Theorem FraUpper needs. Lower bounds for every learner
are in `lower_bounds`. H = 1 / (1 - gamma).
"""

import math
from dataclasses import dataclass

from optimist import checks
from optimist.theory.lower_bounds import (
    hardest_epsilon_K,
    hardest_epsilon_tau_E,
    lower_bound_K,
    lower_bound_tau_E,
)
from optimist.theory.parameters import horizon
from optimist.theory.regret import regret_bound
from optimist.theory.sample_complexity import crossing, reachable

__all__ = [
    "Samples",
    "delta_for",
    "hardest_epsilon_K",
    "hardest_epsilon_tau_E",
    "lower_bound_K",
    "lower_bound_tau_E",
    "reward_regret_bound",
    "reward_regret_bound_sharp",
    "samples_needed",
    "step",
]


def step(K: int, W_max: float, B: float) -> float:
    """eta_r = W_max / (B sqrt K), the step of the reward's gradient descent (Algorithm 2).

    Examples
    --------
    >>> step(K=100, W_max=3.0, B=2.0)
    0.15
    """
    K = checks.count(K, "K")
    return checks.positive(W_max, "W_max") / (checks.positive(B, "B") * math.sqrt(K))


def reward_regret_bound(
    K: int, gamma: float, B: float, W_max: float, R_max: float, tau_E: float, delta: float
) -> float:
    """The bound on the regret of the rewards over K episodes (Theorem reward_regret_bound).

    With probability 1 - 2 delta, H sum_k <lambda(pi_k) - lambda(pi_E), w_k - w_true> is at most

        10 H (B W_max + R_max) sqrt(K log(1/delta)) + 24 H W_max K B sqrt(log(1/delta) / tau_E).

    It follows from `reward_regret_bound_sharp` for every tau_E and every delta < 1/2, also if the
    descent starts elsewhere in the class.

    Parameters
    ----------
    K
        The number of episodes.
    gamma
        The discount factor.
    B
        A bound on ||phi_r(x, a)||.
    W_max
        A bound on ||w|| over the class W.
    R_max
        An upper bound on |phi_r . (w - w')| / 2 over the class. It suffices that all rewards are in
        [0, R_max], or all in [-R_max, R_max], before any shift.
    tau_E
        The number of expert samples; infinite if lambda(pi_E) is known.
    delta
        Half the probability that the bound fails, below 1/2.

    Examples
    --------
    >>> import math
    >>> round(reward_regret_bound(100, 0.5, 1.0, 1.0, 1.0, math.inf, delta=math.exp(-1)), 6)
    400.0
    """
    H, log = _horizon_and_log(K, gamma, B, W_max, R_max, tau_E, delta)
    of_play = 10 * (B * W_max + R_max) * math.sqrt(K * log)
    return H * (of_play + 24 * W_max * K * B * math.sqrt(log / tau_E))


def reward_regret_bound_sharp(
    K: int, gamma: float, B: float, W_max: float, R_max: float, tau_E: float, delta: float
) -> float:
    """The bound that the proof of Theorem reward_regret_bound gives, if descent starts at Pi_W(0).

    H times the sum of three terms, with probability 1 - 2 delta; g_k = phi_k - lambda^ is the
    gradient, phi_k = phi_r(X_k, A_k), and xi_k = lambda(pi_k) - phi_k its noise.

    1. (5/2) B W_max sqrt K. As w_k is the point after the step, sum <g_k, w_k - w> is at most
       (||w_0 - w||^2 - sum ||w_k - w_{k-1}||^2) / (2 eta_r). The negative part allows to replace
       w_k, which depends on xi_k, by w_{k-1}: <xi_k, w_k - w_{k-1}> is at most
       ||w_k - w_{k-1}||^2 / (2 eta_r) + 2 eta_r B^2. Here ||w_0 - w|| <= W_max; if descent starts
       elsewhere in W, it is 2 W_max, and 5/2 becomes 4, as in the paper.
    2. R_max sqrt(8 K log(1/delta)), by Azuma-Hoeffding for sum <xi_k, w_{k-1} - w>: each summand
       lies in an interval of length 4 R_max that is known before the episode.
    3. 2 W_max K B (1 + sqrt(2 log(1/delta))) / sqrt(tau_E), by McDiarmid: the mean of
       ||lambda^ - lambda(pi_E)|| is at most B / sqrt(tau_E), and one sample changes the norm by at
       most 2 B / tau_E.

    The parameters are those of `reward_regret_bound`.

    Examples
    --------
    >>> import math
    >>> round(reward_regret_bound_sharp(100, 0.5, 1.0, 1.0, 1.0, math.inf, delta=math.exp(-1)), 2)
    106.57
    """
    H, log = _horizon_and_log(K, gamma, B, W_max, R_max, tau_E, delta)
    of_descent = 2.5 * B * W_max * math.sqrt(K)
    of_play = R_max * math.sqrt(8 * K * log)
    of_expert = 2 * W_max * K * B * (1 + math.sqrt(2 * log)) / math.sqrt(tau_E)
    return H * (of_descent + of_play + of_expert)


def delta_for(epsilon: float, gamma: float, R_max: float = 1.0, events: int = 3) -> float:
    """epsilon (1 - gamma) / (events R_max), so that the failure events cost at most epsilon.

    A policy loses at most H R_max. The proof of Theorem FraUpper prints
    delta <= epsilon / (3 (1 - gamma)), with the horizon inverted.

    Examples
    --------
    >>> round(delta_for(0.3, gamma=0.9), 6)
    0.01
    """
    events = checks.count(events, "events")
    return reachable(epsilon, gamma, R_max) / float(events * horizon(gamma) * R_max)


@dataclass(frozen=True)
class Samples:
    """What FRA-IL needs: K episodes, tau_E expert samples, failure probability delta per event."""

    K: float
    tau_E: float
    delta: float


def samples_needed(
    epsilon: float,
    d: int,
    n_actions: int,
    gamma: float,
    B: float,
    W_max: float,
    R_max: float = 1.0,
) -> Samples:
    """Samples for which FRA-IL's policy is epsilon-suboptimal in the mean (Theorem FraUpper).

    A quarter of epsilon covers six failure events of probability delta: four of Theorem main-full
    and two of Theorem reward_regret_bound (the proof counts three). A quarter covers the expert's
    term 24 H W_max B sqrt(log(1 / delta) / tau_E). Half covers the regret of the policies and the
    rewards' term 10 H (B W_max + R_max) sqrt(log(1 / delta) / K). `rates.fra_il_episodes` and
    `rates.fra_il_expert_samples` are the rates without constants.

    Parameters
    ----------
    epsilon
        The value gap, in (0, H R_max].
    d, B, W_max
        Dimension and norm bound of the features (phi_r, phi_P), and a norm bound of the weights of
        the shifted rewards in them.
    R_max
        The largest reward after the shift that makes all of them positive.

    Examples
    --------
    >>> needs = samples_needed(1.0, d=12, n_actions=2, gamma=0.9, B=1, W_max=1)
    >>> f"{needs.K:.1e}", round(needs.tau_E), round(needs.delta, 5)
    ('1.1e+24', 5050957, 0.00417)
    """
    epsilon = reachable(epsilon, gamma, R_max)
    delta = delta_for(epsilon / 4, gamma, R_max, events=6)
    expert = 24 * horizon(gamma) * W_max * B

    def excess(log_K: float) -> float:
        K = math.exp(log_K)
        policies = regret_bound(K, d, n_actions, gamma, B, W_max, R_max, delta).mended
        rewards = reward_regret_bound(round(K), gamma, B, W_max, R_max, math.inf, delta)
        return math.log((policies + rewards) / K) - math.log(epsilon / 2)

    return Samples(crossing(excess), (4 * expert / epsilon) ** 2 * math.log(1 / delta), delta)


def _horizon_and_log(
    K: int, gamma: float, B: float, W_max: float, R_max: float, tau_E: float, delta: float
) -> tuple[float, float]:
    """H and log(1 / delta), if the assumptions of the theorem hold."""
    checks.count(K, "K")
    if tau_E != math.inf:
        checks.count(tau_E, "tau_E")
    if not 0 < checks.real_number(delta, "delta") < 0.5:
        raise ValueError(
            f"delta must be in (0, 1/2), as the bound holds with probability 1 - 2 delta; "
            f"got {delta:g}"
        )
    for value, name in ((B, "B"), (W_max, "W_max"), (R_max, "R_max")):
        checks.positive(value, name)
    return horizon(checks.discount(gamma)), math.log(1 / delta)
