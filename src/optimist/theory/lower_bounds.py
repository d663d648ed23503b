"""Lower bounds for every learner that imitates from features alone (Appendix E).

`lower_bound_tau_E` and `lower_bound_K` are derived anew with explicit constants for the worlds
`LowerTauE` and `LowerK`; they bound the expected value gap <nu_0, V^{pi_E} - V^{pi_out}>.
`printed_bound_tau_E` and `printed_bound_K` have the printed constants. H = 1 / (1 - gamma).
"""

import math
from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import betainc, betaincc

from optimist import checks
from optimist.theory.numbers import Real, formula
from optimist.theory.parameters import horizon


def lower_bound_tau_E(
    tau_E: int, gamma: float, W_max: float = 1.0, epsilon: float | None = None
) -> float:
    """A lower bound on the gap of every learner given tau_E expert states (Theorem LowerTauE).

    On the pair `LowerTauE` the mean gap of the two members, hence the larger, is at least

        (H W_max Delta / 2) ( 1 - TV(Bin(tau_E, 1/2 + Delta), Bin(tau_E, 1/2)) ),
        Delta = gamma epsilon / (2 (3 (1 - gamma) - gamma epsilon)),

    and the likelihood-ratio test attains it. The two members share their dynamics, so only the
    expert's states distinguish them: a state is x_0 with probability 1/2 + Delta and 1/2. The two
    rewards add up to a constant, and so do the gaps of any policy, g_0 + g_1 = H W_max Delta. Hence
    the mean of E_0[g_0] and E_1[g_1] is least if the learner plays the expert of the likelier
    member for each data set; it is the integral of H W_max Delta min(dP_0, dP_1) / 2.

    Parameters
    ----------
    tau_E
        The number of independent draws from the expert's occupancy; interaction is unlimited.
    gamma
        The discount factor, at least 1/2.
    W_max
        The reward of the good state.
    epsilon
        The amount by which a* lowers the probability to leave x_0, at most (1 - gamma) / gamma. By
        default that of the hardest pair; the bound then falls as 0.16997 H W_max / sqrt(tau_E).

    Examples
    --------
    >>> round(lower_bound_tau_E(100, gamma=0.9), 4)
    0.1692
    >>> round(lower_bound_tau_E(100, gamma=0.9, epsilon=0.05), 4)
    0.1648
    """
    tau_E = checks.count(tau_E, "tau_E")
    delta = _leaving(gamma)
    W_max = checks.positive(W_max, "W_max")
    if epsilon is None:
        epsilon = hardest_epsilon_tau_E(tau_E, gamma)
    elif not 0 <= checks.real_number(epsilon, "epsilon") <= delta:
        raise ValueError(f"epsilon must be in [0, delta] = [0, {delta:g}]; got {epsilon:g}")
    return float(horizon(gamma) * W_max * _gap_of_best_test(tau_E, gamma, epsilon))


def hardest_epsilon_tau_E(tau_E: int, gamma: float) -> float:
    """The epsilon of the pair `LowerTauE` that is hardest to imitate from tau_E states.

    Examples
    --------
    >>> round(hardest_epsilon_tau_E(100, gamma=0.9), 4)
    0.045
    """
    tau_E = checks.count(tau_E, "tau_E")
    delta = _leaving(gamma)

    def gap(epsilon: float) -> float:
        return _gap_of_best_test(tau_E, gamma, epsilon)

    return max(delta, _hardest(gap, delta), key=gap)


def lower_bound_K(K: int, n_actions: int, gamma: float, epsilon: float | None = None) -> float:
    """A lower bound on the gap of every learner after K episodes (Theorem LowerK).

    It holds even if lambda(pi_E) is known. On the family `LowerK` the mean gap of the A members,
    hence the largest, is at least

        2 gamma epsilon H / (3 (3 (1 - gamma) - gamma epsilon)) (1 - q),
        q >= 1/A the solution of  kl(1/A, q) = (2/3) H K kl(delta, delta - epsilon) / A.

    The first factor is the gap of the other actions; a policy with alpha = pi(a* | x_0) loses at
    least 1 - alpha times it. The expert's states have the same distribution in all members. The
    divergence of the learner's data in member i from the reference world, where epsilon = 0, is
    E[N_i] kl(delta, delta - epsilon), with N_i the number of transitions seen from (x_0, a_i). In
    the reference world nothing depends on the actions: for every learner the N_i add up to
    (2/3) H K in the mean, and the E[alpha_i] to one. As kl(E[alpha_i], E_i[alpha_i]) is at most the
    divergence and kl is convex, q bounds the mean of E_i[alpha_i].

    Parameters
    ----------
    K
        The number of all episodes, fresh rollouts included. Each ends with probability 1 - gamma a
        step; the bound holds whether or not the last next state is shown. K = 0 needs an epsilon.
    n_actions
        A, the number of actions.
    gamma
        The discount factor, at least 1/2.
    epsilon
        The amount by which a* lowers the probability to leave x_0, below
        delta = (1 - gamma) / gamma. By default that of the hardest family; the bound then falls as
        H sqrt(A / K), unless gamma = 1/2.

    Examples
    --------
    >>> round(lower_bound_K(1000, n_actions=4, gamma=0.9), 4)
    0.0441
    >>> round(lower_bound_K(0, n_actions=4, gamma=0.9, epsilon=0.05), 4)  # the gap of a guess
    0.8824
    """
    K = checks.count(K, "K", least=0)
    n_actions = checks.count(n_actions, "n_actions", least=2)
    delta = _leaving(gamma)
    if epsilon is None:
        epsilon = hardest_epsilon_K(K, n_actions, gamma)
    elif not 0 <= checks.real_number(epsilon, "epsilon") < delta:
        raise ValueError(f"epsilon must be in [0, delta) = [0, {delta:g}); got {epsilon:g}")
    return _gap_after_episodes(K, n_actions, gamma, epsilon)


def hardest_epsilon_K(K: int, n_actions: int, gamma: float) -> float:
    """The epsilon of the family `LowerK` whose `lower_bound_K` is largest, for K >= 1 episodes.

    Examples
    --------
    >>> round(hardest_epsilon_K(1000, n_actions=4, gamma=0.9), 5)
    0.0059
    """
    K = checks.count(K, "K")
    n_actions = checks.count(n_actions, "n_actions", least=2)
    return _hardest(lambda e: _gap_after_episodes(K, n_actions, gamma, e), _leaving(gamma))


@formula("T > 0", "n_actions >= 2", "gamma >= 0.52")
def printed_bound_K(T: Real, n_actions: Real, gamma: Real) -> Real:
    """(1 / 144) sqrt(A log 2 / ((1 - gamma)^3 T)), the gap in the proof of Theorem LowerK.

    T counts the transitions seen from x_0: (2/3) H K in the mean after K episodes, where
    `lower_bound_K` is larger. Assumes A >= 2, gamma >= 0.52, and
    T >= gamma^2 A log 2 / (16 (1 - gamma)), so that epsilon < delta_0 = (1 - gamma) / gamma.

    The proof assumes gamma >= 1/2. Its bound on the divergence fails for some epsilon at every
    gamma, but `lower_bound_K` confirms the constant from gamma = 0.519 on. Near 1/2 the other
    actions nearly always leave x_0, so a stay reveals a*, and the constant of the family falls as
    sqrt(2 gamma - 1). Below 0.505 the printed constant is too large (PAPER.md, E19).

    Examples
    --------
    >>> round(printed_bound_K(T=2 / 3 * 10 * 1000, n_actions=4, gamma=0.9), 5)
    0.00448
    """
    enough = gamma**2 * n_actions * math.log(2) / (16 * (1 - gamma))
    if np.any(enough > T):
        raise ValueError(
            f"T must be at least gamma^2 A log 2 / (16 (1 - gamma)) = {np.max(enough):.6g}; "
            f"got {np.min(T):.6g}"
        )
    return np.sqrt(n_actions * math.log(2) / ((1 - gamma) ** 3 * T)) / 144


@formula("gamma >= 0.5")
def printed_bound_tau_E(epsilon: Real, gamma: Real, W_max: Real = 1.0) -> Real:
    """W_max^2 / (24^2 e^2 (1 - gamma)^2 epsilon^2), the expert samples needed (Theorem LowerTauE).

    Assumes gamma >= 1/2 and epsilon <= W_max / (24 e gamma (1 - gamma)), so that the pair exists.
    The proof omits the 1/2 of Bretagnolle and Huber, and its divergence is four times too large, as
    it doubles nu(pi_E, x_0) - 1/2. The two errors cancel. `lower_bound_tau_E` needs 120 times as
    many samples.

    Examples
    --------
    >>> round(printed_bound_tau_E(epsilon=0.01, gamma=0.9))
    235
    """
    most = W_max / (24 * math.e * gamma * (1 - gamma))
    if np.any(epsilon > most):
        raise ValueError(
            f"epsilon must be at most W_max / (24 e gamma (1 - gamma)) = {np.min(most):.6g}; "
            f"got {np.max(epsilon):.6g}"
        )
    return (W_max / (24 * math.e * (1 - gamma) * epsilon)) ** 2


def _leaving(gamma: float) -> float:
    """delta = (1 - gamma) / gamma, as in both proofs, which need gamma >= 1/2."""
    if checks.discount(gamma) < 0.5:
        raise ValueError(f"gamma must be at least 1/2, so that delta <= 1; got {gamma:g}")
    return (1 - gamma) / gamma


def _gap_of_best_test(tau_E: int, gamma: float, epsilon: float) -> float:
    """(Delta / 2) (1 - TV): half of Delta times the two errors of the likelihood-ratio test."""
    if epsilon == 0:
        return 0.0
    Delta = gamma * epsilon / (2 * (3 * (1 - gamma) - gamma * epsilon))
    more, less = math.log1p(2 * Delta), -math.log1p(-2 * Delta)
    c = math.floor(tau_E * less / (more + less))  # member 0 is the likelier iff N > c
    a, b = c + 1, tau_E - c  # P_p(N > c) = I_p(c + 1, tau_E - c)
    return Delta / 2 * float(betainc(a, b, 0.5) + betaincc(a, b, 0.5 + Delta))


def _gap_after_episodes(K: int, n_actions: int, gamma: float, epsilon: float) -> float:
    H: float = horizon(gamma)
    loss = 2 * gamma * epsilon * H / (3 * (3 * (1 - gamma) - gamma * epsilon))
    delta, p = _leaving(gamma), 1 / n_actions
    kl = delta * _curvature(epsilon / delta)  # kl(delta, delta - epsilon)
    kl += (1 - delta) * _curvature(-epsilon / (1 - delta)) if delta < 1 else epsilon
    divergence = 2 / 3 * H * K * kl / n_actions

    def excess(log_miss: float) -> float:  # kl(1/A, 1 - miss) - divergence, falling in miss
        hit = p * (math.log(p) - math.log1p(-math.exp(log_miss)))
        return hit + (1 - p) * (math.log1p(-p) - log_miss) - divergence

    guess, never = math.log1p(-p), -700.0  # log(1 - q) without data, and a limit
    if divergence == 0 or excess(guess) >= 0:
        return loss * (1 - p)
    if excess(never) <= 0:
        return 0.0
    return loss * math.exp(brentq(excess, never, guess, xtol=1e-13, maxiter=10_000))


def _curvature(x: float) -> float:
    """-log(1 - x) - x; a series for small x, where the difference would lose all digits."""
    return x**2 * (1 / 2 + x / 3 + x**2 / 4) if abs(x) < 1e-4 else -math.log1p(-x) - x


def _hardest(gap: Callable[[float], float], delta: float) -> float:
    """The epsilon in (0, delta) of the largest gap, searched on a logarithmic scale."""
    found = minimize_scalar(
        lambda u: -gap(delta * math.exp(-u)),
        bounds=(0, 25),
        method="bounded",
        options={"xatol": 1e-9},
    )
    return delta * math.exp(-float(found.x))
