"""The bounds of imitation from features alone: what FRA-IL guarantees, what no learner can beat.

The upper bound is that of Theorem reward_regret_bound (Appendix D), for features ||phi_r|| <= B and
a class W of weights ||w|| <= W_max. The lower bounds are those of Appendix E for the worlds
`LowerTauE` and `LowerK`, worked out anew with explicit constants; they hold for the value gap
<nu_0, V^{pi_E} - V^{pi_out}>, in expectation over everything random. H = 1 / (1 - gamma).
"""

import math
from collections.abc import Callable

from scipy.optimize import brentq, minimize_scalar
from scipy.special import betainc, betaincc

from optimist import checks
from optimist.theory.parameters import horizon


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
    """The regret of the rewards over K episodes, as Theorem reward_regret_bound states it.

    With probability 1 - 2 delta, H sum_k <lambda(pi_k) - lambda(pi_E), w_k - w_true> is at most

        10 H (B W_max + R_max) sqrt(K log(1/delta)) + 24 H W_max K B sqrt(log(1/delta) / tau_E).

    It follows from `reward_regret_bound_sharp`, for every tau_E and every delta < 1/2, and so does
    the same bound for a descent that starts anywhere in the class.

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
        At least half of what two rewards of the class ever differ by, |phi_r . (w - w')| / 2: so
        both if all are in [0, R_max] and if all are in [-R_max, R_max], before any shift.
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
    sizes = _regret_sizes(K, gamma, B, W_max, R_max, tau_E, delta)
    H, B, W_max, R_max, log = *sizes, math.log(1 / delta)
    of_play = 10 * (B * W_max + R_max) * math.sqrt(K * log)
    return H * (of_play + 24 * W_max * K * B * math.sqrt(log / tau_E))


def reward_regret_bound_sharp(
    K: int, gamma: float, B: float, W_max: float, R_max: float, tau_E: float, delta: float
) -> float:
    """What the proof of Theorem reward_regret_bound gives, for a descent that starts at Pi_W(0).

    H times the sum of three terms, with probability 1 - 2 delta; g_k = phi_k - lambda^ is the
    gradient, phi_k = phi_r(X_k, A_k), and xi_k = lambda(pi_k) - phi_k its noise.

    1. (5/2) B W_max sqrt K. As w_k is the point after the step, sum <g_k, w_k - w> is at most
       (||w_0 - w||^2 - sum ||w_k - w_{k-1}||^2) / (2 eta_r). The negative part pays for replacing
       w_k, which depends on xi_k, by w_{k-1}: <xi_k, w_k - w_{k-1}> is at most
       ||w_k - w_{k-1}||^2 / (2 eta_r) + 2 eta_r B^2. [||w_0 - w|| <= W_max; elsewhere in W it is
       2 W_max, and 5/2 becomes 4, as in the paper.]
    2. R_max sqrt(8 K log(1/delta)): Azuma and Hoeffding for sum <xi_k, w_{k-1} - w>, each of which
       lies in an interval of length 4 R_max that is known before the episode.
    3. 2 W_max K B (1 + sqrt(2 log(1/delta))) / sqrt(tau_E): the mean of ||lambda^ - lambda(pi_E)||
       is at most B / sqrt(tau_E), one sample changes it by 2 B / tau_E, and McDiarmid.

    The parameters are those of `reward_regret_bound`.

    Examples
    --------
    >>> import math
    >>> round(reward_regret_bound_sharp(100, 0.5, 1.0, 1.0, 1.0, math.inf, delta=math.exp(-1)), 2)
    106.57
    """
    sizes = _regret_sizes(K, gamma, B, W_max, R_max, tau_E, delta)
    H, B, W_max, R_max, log = *sizes, math.log(1 / delta)
    of_descent = 2.5 * B * W_max * math.sqrt(K)
    of_play = R_max * math.sqrt(8 * K * log)
    of_expert = 2 * W_max * K * B * (1 + math.sqrt(2 * log)) / math.sqrt(tau_E)
    return H * (of_descent + of_play + of_expert)


def lower_bound_tau_E(
    tau_E: int, gamma: float, W_max: float = 1.0, epsilon: float | None = None
) -> float:
    """The gap of every learner that sees tau_E states of the expert (Theorem LowerTauE).

    On the pair `LowerTauE` the mean gap of the two members, hence the larger, is at least

        (H W_max Delta / 2) ( 1 - TV(Bin(tau_E, 1/2 + Delta), Bin(tau_E, 1/2)) ),
        Delta = gamma epsilon / (2 (3 (1 - gamma) - gamma epsilon)),

    and the likelihood-ratio test attains it. For the pair shares its dynamics, so that only the
    expert's states tell the members apart: they are in x_0 with probability 1/2 + Delta and 1/2.
    The two rewards add up to a constant, and so do the gaps g_0 + g_1 = H W_max Delta of any one
    policy. Hence the mean of E_0[g_0] and E_1[g_1] is least if each data set is answered with the
    expert of its likelier member: integrate H W_max Delta min(dP_0, dP_1) / 2.

    Parameters
    ----------
    tau_E
        The number of independent draws from the expert's occupancy; interaction is unlimited.
    gamma
        The discount factor, at least 1/2.
    W_max
        The reward of the good state.
    epsilon
        By how much a* leaves x_0 more seldom, at most (1 - gamma) / gamma; None for the hardest
        pair, which makes the curve: it falls as 0.16997 H W_max / sqrt(tau_E).

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
        raise ValueError(f"epsilon = {epsilon:g} is outside [0, delta] = [0, {delta:g}]")
    return horizon(gamma) * W_max * _gap_of_best_test(tau_E, gamma, epsilon)


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
    """The gap of every learner after K episodes, even if it knows lambda(pi_E) (Theorem LowerK).

    On the family `LowerK` the mean gap of the A members, hence the largest, is at least

        2 gamma epsilon H / (3 (3 (1 - gamma) - gamma epsilon)) (1 - q),
        q >= 1/A the solution of  kl(1/A, q) = (2/3) H K kl(delta, delta - epsilon) / A.

    For the first factor is the gap of the other actions, and a policy with alpha = pi(a* | x_0) has
    at least 1 - alpha times it. The expert's states are alike in all members; the learner's own
    data differ from those of the reference world, where epsilon = 0, by a divergence of
    E[N_i] kl(delta, delta - epsilon) in member i, with N_i the number of transitions seen from
    (x_0, a_i). In the reference world nothing depends on the actions: the N_i add up to
    (2/3) H K in the mean, whatever the learner does, and E[alpha_i] to one. That kl(E[alpha_i],
    E_i[alpha_i]) is at most the divergence and that kl is convex yield the mean q of E_i[alpha_i].

    Parameters
    ----------
    K
        The number of all episodes, each ended with probability 1 - gamma a step, whether or not
        the last next state is shown; a fresh rollout is an episode too.
    n_actions
        A, the number of actions.
    gamma
        The discount factor, at least 1/2.
    epsilon
        By how much a* leaves x_0 more seldom, below delta = (1 - gamma) / gamma; None for the
        hardest family, which makes the curve: it falls as H sqrt(A / K) does, unless gamma = 1/2.

    Examples
    --------
    >>> round(lower_bound_K(1000, n_actions=4, gamma=0.9), 4)
    0.0441
    >>> round(lower_bound_K(0, n_actions=4, gamma=0.9, epsilon=0.05), 4)  # nothing but a guess
    0.8824
    """
    K = checks.count(K, "K", least=0)
    n_actions = checks.count(n_actions, "n_actions", least=2)
    delta = _leaving(gamma)
    if epsilon is None:
        epsilon = hardest_epsilon_K(K, n_actions, gamma)
    elif not 0 <= checks.real_number(epsilon, "epsilon") < delta:
        raise ValueError(f"epsilon = {epsilon:g} is outside [0, delta) = [0, {delta:g})")
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


def _regret_sizes(
    K: int, gamma: float, B: float, W_max: float, R_max: float, tau_E: float, delta: float
) -> tuple[float, float, float, float]:
    """H, B, W_max and R_max, if all is as the theorem assumes."""
    checks.count(K, "K")
    if tau_E != math.inf:
        checks.count(tau_E, "tau_E")
    if not 0 < checks.real_number(delta, "delta") < 0.5:
        raise ValueError(f"delta = {delta:g} is outside (0, 1/2): the bound holds with 1 - 2 delta")
    B, W_max = checks.positive(B, "B"), checks.positive(W_max, "W_max")
    return horizon(checks.discount(gamma)), B, W_max, checks.positive(R_max, "R_max")


def _leaving(gamma: float) -> float:
    """Delta = (1 - gamma) / gamma, as both proofs choose it; they need gamma >= 1/2."""
    if checks.discount(gamma) < 0.5:
        raise ValueError(f"gamma = {gamma:g} must be at least 1/2, or delta would exceed 1")
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
    loss = 2 * gamma * epsilon * horizon(gamma) / (3 * (3 * (1 - gamma) - gamma * epsilon))
    delta, p = _leaving(gamma), 1 / n_actions
    kl = delta * _curvature(epsilon / delta)  # kl(delta, delta - epsilon)
    kl += (1 - delta) * _curvature(-epsilon / (1 - delta)) if delta < 1 else epsilon
    divergence = 2 / 3 * horizon(gamma) * K * kl / n_actions

    def excess(log_miss: float) -> float:  # kl(1/A, 1 - miss) - divergence, falling in miss
        hit = p * (math.log(p) - math.log1p(-math.exp(log_miss)))
        return hit + (1 - p) * (math.log1p(-p) - log_miss) - divergence

    guess, never = math.log1p(-p), -700.0  # log(1 - q) with no data, and too small to matter
    if divergence == 0 or excess(guess) >= 0:
        return loss * (1 - p)
    if excess(never) <= 0:
        return 0.0
    return loss * math.exp(brentq(excess, never, guess, xtol=1e-13))


def _curvature(x: float) -> float:
    """-log(1 - x) - x, about x^2 / 2, which a difference of the two would lose to rounding."""
    return x**2 * (1 / 2 + x / 3 + x**2 / 4) if abs(x) < 1e-4 else -math.log1p(-x) - x


def _hardest(gap: Callable[[float], float], delta: float) -> float:
    """The epsilon in (0, delta) of the largest gap, sought on a logarithmic scale."""
    found = minimize_scalar(
        lambda u: -gap(delta * math.exp(-u)),
        bounds=(0, 25),
        method="bounded",
        options={"xatol": 1e-9},
    )
    return delta * math.exp(-float(found.x))
