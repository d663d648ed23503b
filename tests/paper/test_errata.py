"""The errata of PAPER.md that have a number: what is printed fails, and what is said instead holds.

The functions are in the order of the page, and each names its own.
"""

import math

import numpy as np
import pytest
from scipy.special import expit, kl_div, logsumexp

from optimist import FiniteMDP, LinearMDP, RmaxRaviUcb
from optimist.features import OneHot, Table
from optimist.mdp import augment, decompose_regret
from optimist.mdp.augmented import with_heaven
from optimist.theory import (
    ascension,
    bonuses,
    concentration,
    covariance,
    imitation,
    parameters,
    rates,
    regret,
)
from optimist.verification.run import RecordedRun
from optimist.verification.trace import record

DELTA = 0.1


def theory(mdp, K, W_max, d):
    """The theorem's parameters, with beta of Lemma good-event-holds."""
    sizes = {"d": d, "n_actions": mdp.n_actions, "gamma": mdp.gamma, "B": 1.0}
    return RmaxRaviUcb.Config.theory(K=K, **sizes, W_max=max(1.0, W_max), delta=DELTA)


def self_loop(gamma, rewards=(1.0,)):
    """One state, and an action for each reward."""
    return FiniteMDP(np.ones((1, len(rewards), 1)), [rewards], [1.0], gamma)


# Statements that are false as printed


def scaled(Phi, M, w, nu0, c, gamma=0.9):
    """The same linear MDP with features c times as long, so that m and w are 1 / c times so."""
    return LinearMDP(c * np.asarray(Phi), np.asarray(M) / c, np.asarray(w) / c, nu0, gamma)


def test_e1_bonuses_are_not_valid_without_a_bound_on_m():
    for c, valid in ((1e-6, False), (1.0, True)):
        mdp = scaled([[[1.0], [1.0]]], [[1.0]], [1.0], [1.0], c)  # two actions, alike
        config = theory(mdp, 1000, mdp.W_max, d=1)
        run = RecordedRun(record(mdp, Table(mdp.Phi), config, K=50), DELTA)
        assert run.lengths.max() <= parameters.longest_episode(1000, 0.9, DELTA)  # E_L holds
        assert run.valid == valid
        if not valid:
            assert round(config.beta) == 11770
            assert run.trace.CB.max() < 0.012
            missing = run.trace.V[1, 0] / run.trace.Lambda[1, 0, 0, 0]  # (P - P^_2) V_2
            assert missing > 1


def test_e1_nor_is_the_regret_then_sublinear():
    """Staying pays 0.1 at once; leaving pays 1 for ever, from the next step on."""
    Phi = np.eye(4).reshape(2, 2, 4)
    M, w = np.array([[1, 0], [0, 1], [0, 1], [0, 1.0]]), [0.1, 0, 1, 1]
    lost = []
    for K in (1_000, 10_000, 100_000, 1_000_000):
        mdp = scaled(Phi, M, w, [1, 0], c=K**-2.0)
        config = theory(mdp, K, mdp.W_max, d=4)
        agent = RmaxRaviUcb(mdp, Table(mdp.Phi), config=config, seed=0, stride=K // 1000)
        lost.append(agent.learn(K, show_progress=False).suboptimality())
    myopic = 1 - 0.1 / 0.9  # to stay for ever is worth 0.1 H of 0.9 H
    assert lost == pytest.approx([0.114, 0.261, 0.654, 0.820], abs=0.002)
    assert lost[-1] < myopic


def epochs_of_self_loops(n, K, gamma, rng):
    """Beta = 1 and n states that never lead elsewhere.

    The sum of <mu(pi_k), CB_k^2>; E(K); and with the bonuses known before each episode, those of
    the last epoch: the sum of CB^2 along the path, and by how much the determinant grows at most.
    """
    counts, log_det, begun, epochs, total = np.ones(n), 0.0, -np.inf, 0, 0.0
    squares = float(n)  # sum over states of 1 / (1 + visits)
    known, along, growth = np.ones(n), 0.0, 0.0
    lengths = rng.geometric(1 - gamma, size=K)
    for x, length in zip(rng.integers(n, size=K), lengths, strict=True):
        before = counts[x]
        counts[x] += length - 1  # the last pair is not recorded
        log_det += math.log(counts[x] / before)
        squares += 1 / counts[x] - 1 / before
        along += (length - 1) / known[x]
        growth = max(growth, log_det - begun) if epochs else 0.0
        if epochs == 0 or log_det >= begun + math.log(2):
            begun, frozen, epochs = log_det, squares / n, epochs + 1
            known = counts.copy()
        total += frozen
    assert lengths.max() <= parameters.longest_episode(K, gamma, DELTA)  # E_L holds
    return total, epochs, along, math.exp(growth)


def test_e2_bonuses_of_episodes_that_begin_an_epoch():
    n, gamma = 10_000, 0.999
    total, epochs, along, growth = epochs_of_self_loops(n, n, gamma, np.random.default_rng(0))
    printed = bonuses.squared_bonus_sum(n, n, gamma, 1.0, 1.0, DELTA)
    assert total == pytest.approx((1 - math.exp(-1)) * n, rel=0.01)
    assert printed == pytest.approx(1344, abs=1)
    assert total > 4 * printed
    assert total < printed + bonuses.squared_bonus_sum_at_epoch_starts(n, n, gamma, 1, 1, DELTA)
    assert total < (printed + 2 * epochs * math.log(n / DELTA)) / gamma
    assert total < (printed + 2 * (epochs + math.log(2 * n / DELTA))) / gamma
    assert growth > 10_000  # and not 2
    assert along == pytest.approx((1 - math.exp(-1)) * n / (1 - gamma), rel=0.02)
    assert 4 * parameters.log_determinant(parameters.steps(n, gamma, DELTA), n, 1.0) < along / 16


def test_e3_bonuses_where_few_pairs_are_recorded():
    """One state; after n pairs CB_k^2 is at least 1 / (1 + n), whenever its epoch began."""
    K, gamma = 1_000_000, 1e-4
    lengths = np.random.default_rng(0).geometric(1 - gamma, size=K)
    assert lengths.max() <= parameters.longest_episode(K, gamma, DELTA)
    seen = 1 + np.cumsum(lengths - 1)
    given = (K, 1, gamma, 1.0, 1.0, DELTA)
    for power, bound in ((1, bonuses.bonus_sum), (2, bonuses.squared_bonus_sum)):
        total = (seen ** (-power / 2)).sum()
        assert bound(*given) < total < bound(*given) / gamma
        if power == 1:
            assert 6.6e4 < bound(*given) < 6.7e4 < 1.7e5 < total


def test_e3_nor_is_the_regret_then_sublinear():
    """Without any data both actions lead to heaven, and each is played half of the time."""
    K = 10_000
    mdp = self_loop(K**-2.0, rewards=(1.0, 0.0))
    agent = RmaxRaviUcb(mdp, config=theory(mdp, K, 1.0, d=2), seed=0)
    assert (1 - K**-2.0) ** K > 0.9999  # no episode has a second step
    assert agent.learn(K, show_progress=False).suboptimality() == pytest.approx(0.5, abs=1e-9)


def test_e4_functions_have_to_be_known_before_the_episode():
    """f_k = 1 where episode k did not go, of 10,000 states that are drawn anew in each step."""
    n = K = 10_000
    longest = parameters.longest_episode(K, 0.9, DELTA)
    left = K * (1 - longest / n)  # at least, on E_L
    printed = bonuses.expectation_bound(0.0, 1.0, K, 0.9, DELTA)  # f_k vanishes along its episode
    assert printed < 600 < 9_800 < left


def test_e5_the_class_of_values_is_not_bounded():
    """One state, two actions: V = K R_max H is in the class, as a sum of K equal Q's."""
    K, gamma = 10_000, 0.5
    H, L_max = parameters.horizon(gamma), parameters.longest_episode(K, gamma, DELTA)
    beta = parameters.beta(K, 2, gamma, 1.0, 2.0, 1.0, DELTA)
    alpha, omega = parameters.alpha(K), parameters.omega(K)
    assert expit(alpha * beta - omega) == 1.0  # Lambda = I and theta = 0: Q = R_max H
    # n <= L_max visits of a pair leave V / (1 + n) of its part of M V - M^V.
    error = K * H / math.sqrt(1 + L_max)
    assert 3_870 < beta < 3_890 < 4_080 < error
    Q_max = parameters.value_bound(gamma, 1.0, omega, alpha)
    assert math.sqrt(2) * Q_max < beta  # what is left of values up to Q_max, with no visit at all


def test_e6_the_covariance_grows_with_the_square_of_b():
    K, gamma, B = 100, 0.9, 100.0
    L_max = parameters.longest_episode(K, gamma, DELTA)
    recorded = K * (parameters.horizon(gamma) - 1)  # in the mean, all in one direction
    least = 1 / (1 + recorded * B**2)
    printed = 1 / (2 * K * L_max * B)
    assert least < 1.2e-7 < 7.2e-7 < printed
    assert 1 / (1 + K * L_max * B**2) < least


def test_e8_too_few_episodes_may_be_too_long():
    assert parameters.chance_of_longer(1, 0.9, 0.37) == pytest.approx(0.9**9)
    assert parameters.chance_of_longer(1, 0.9, 0.37) > 0.37
    assert parameters.chance_of_longer(2, 0.1, 2 / 2.45) == 1.0
    gamma, ratio = np.meshgrid(np.linspace(0.001, 0.999, 999), np.exp(np.linspace(2, 12, 400)))
    for K in (1, 8, 1000):
        shares = K / ratio
        holds = parameters.chance_of_longer(K, gamma, np.minimum(shares, 0.999)) <= shares
        assert holds[shares < 0.999].all()


def test_e9_b_and_w_max_have_to_be_at_least_one_and_omega_at_least_1_over_e():
    B, T = 0.1, 10
    assert 5 * parameters.log_determinant(T, 1, B) < 0.48  # where the first epoch is one already
    assert covariance.number_of_epochs_sharp(T, 1, B) >= 1
    B, phi = 0.5, 0.5  # one step
    assert phi**2 > 2 * B**2 * math.log(1 + phi**2)
    assert phi**2 == pytest.approx(covariance.elliptical_potential_sharp(math.log(1 + phi**2), B))
    assert parameters.beta(1000, 1, 0.9, 1.0, 1e-30, 1.0, DELTA) < -1400
    for omega, holds in ((math.log(1.4), False), (1 / math.e + 1e-9, True), (math.log(2), True)):
        assert (ascension.largest_kept_bonus_exact(1.0, omega) <= omega) == holds


# Proofs that need a repair, while the statement stands


def test_e7_the_alternative_identity_of_the_model_bias_lacks_a_gamma():
    mdp, p = self_loop(0.5), 0.5
    bias = decompose_regret(mdp, [[1.0]], [[p]], r_max=1.0).model_bias_learner[0]
    mu = augment(mdp, [[p]]).occupancy(with_heaven([[1.0]]))[0, 0]
    heaven, PV = mdp.horizon, mdp.horizon  # r = r+ = R_max = 1
    assert mu * p * (heaven - mdp.gamma * PV) == pytest.approx(1 / 3)  # as printed
    assert bias == pytest.approx(0, abs=1e-15)
    assert mdp.gamma * mu * p * (heaven - PV) == pytest.approx(bias)


@pytest.fixture(scope="module")
def two_actions():
    """One state, two actions, and bonuses that cannot but be valid: beta is Q_max."""
    K, mdp = 2000, self_loop(0.9, rewards=(1.0, 0.0))
    alpha, omega = parameters.alpha(K), parameters.omega(K)
    config = RmaxRaviUcb.Config(20.0, 0.01, alpha, omega, updates=1)
    run = RecordedRun(record(mdp, OneHot(1, 2), config, K), DELTA)
    assert run.valid
    assert run.Q_max == pytest.approx(20)
    return run


def kl(p, q):
    return kl_div(p, q).sum(axis=-1)


def test_e12_the_policy_that_is_reset_is_not_the_policy_that_was_played(two_actions):
    run, t = two_actions, two_actions.trace
    most = 2 * (run.eta * run.Q_max) ** 2
    after = np.exp(t.log_after)
    assert kl(after, t.played).max() > 24 * most
    assert kl(after, np.exp(t.log_before)).max() < most
    plus = np.cumsum(decompose_regret(t.mdp, t.played, t.p, run.R_max).regret_plus)[-1]
    epochs = int(t.epoch[-1])
    paid = float(run.bonus_sums.sum())
    bound = regret.augmented_regret_bound(
        run.K, epochs, run.eta, run.Q_max, paid, run.n_actions, run.gamma
    )
    assert plus <= bound - run.Q_max * epochs  # three Q_max E(K) instead of four


def test_e13_long_episodes_cost_little_in_the_mean():
    gamma, K = np.meshgrid(np.linspace(0.001, 0.999, 999), [8, 100, 1e6])
    for delta in (0.999, 0.1, 1e-6):
        length = np.floor(parameters.longest_episode(K, gamma, delta))
        assert (gamma**length <= delta / K).all()  # of an episode, as a share of M
        chance = np.log(2 * K / delta)
        assert (4 * chance * (chance - np.log(K / delta)) >= delta).all()


def test_e14_the_chance_to_have_split_is_no_equality():
    """Two states that are never left: from one all ascend, from the other none."""
    mdp = FiniteMDP(np.eye(2)[:, None], np.zeros((2, 1)), [0.5, 0.5], 0.5)
    p = np.array([[1.0], [0.0]])
    up = augment(mdp, p)
    P = np.asarray(up.P)[:, 0]
    split = [float((up.nu0 @ np.linalg.matrix_power(P, n))[-1]) for n in (1, 2)]
    mean = float(mdp.nu0 @ p[:, 0])  # of p, in every step
    assert split == [0.5, 0.5]
    assert split[0] + mean * (1 - split[0]) == 0.75  # as printed
    assert split[1] <= split[0] + mean


def test_e15_beta_pays_for_the_ridge_and_for_a_right_covering():
    """With || |m|(X) || <= sqrt(d). The covering is that of E15, not the printed one."""
    d, gamma, B, case = np.meshgrid([1, 2, 10, 1000], [0.5, 0.9, 0.999], [1.0, 30.0, 1e6], range(4))
    K, delta = np.array([2, 8, 1e3, 1e8])[case], np.array([0.5, 0.1, 1e-6, 0.1])[case]
    beta = parameters.beta(K, d, gamma, B, 1.0, 1.0, delta)
    Q_max, L_max = 2 * parameters.horizon(gamma), parameters.longest_episode(K, gamma, delta)
    n, alpha = K * L_max, parameters.alpha(K)
    theta = 1 + Q_max * n * B
    slope = alpha * beta / 4 * K * (B * theta + beta * B + Q_max / 2) + K * beta
    slope *= B * np.sqrt(1 + n * B**2) / 2
    scale = 1 / (n * B)
    cover = 2 * d * np.log1p(16 * K * theta * B / scale) + np.log(K + 1)
    cover += d**2 * np.log1p(16 * np.sqrt(d) * slope / scale)
    noise = 4 * Q_max**2 * (d / 2 * np.log1p(n * B**2) + cover - np.log(delta)) + 8
    assert (np.sqrt(noise) + concentration.ridge_bias(d, Q_max) < 0.11 * beta).all()


def test_e16_the_weights_hold_the_draw_that_they_are_paired_with():
    """Features 1 and -1 by a fair coin, both expectations 0: w_1 = -eta_r phi_1."""
    step, phi = 0.1, np.array([1.0, -1.0])
    w = 0 + step * (0 - phi)
    psi = (0 - phi) * (w - 0.3)
    assert psi.mean() == pytest.approx(step)  # and not 0
    pays = (w - 0) ** 2 / (2 * step) + 2 * step * 1**2  # of the descent, in this step
    assert ((0 - phi) * w <= pays).all()


def test_e17_constants_of_the_rewards_regret():
    log = (2 / (6 - math.sqrt(32))) ** 2
    assert math.exp(-log) == pytest.approx(1.8e-15, rel=0.05)
    assert 2 + math.sqrt(32 * math.log(20)) > 6 * math.sqrt(math.log(20))  # delta = 0.05
    tau = 64 / 18**2  # in units of log(1 / delta)
    assert 6 / math.sqrt(tau) == pytest.approx(8 / (3 * tau))
    assert 6 / math.sqrt(tau) < 16 / (3 * tau)


def test_e18_failures_may_cost_no_more_than_epsilon():
    gamma, epsilon = 0.9, 0.3
    H, printed = parameters.horizon(gamma), epsilon / (3 * (1 - gamma))
    assert 3 * printed * H > 90 * epsilon
    assert 3 * imitation.delta_for(epsilon, gamma) * H == pytest.approx(epsilon)
    W_max, B, d = 1e6, 1.0, 2
    K = rates.fra_il_episodes(epsilon, d, 2, gamma)
    assert 10 * H * B * W_max / math.sqrt(K) > 1000 * epsilon


def test_e21_a_policy_that_was_played_is_lost_at_the_start_of_an_epoch(two_actions):
    t = two_actions.trace
    begins = np.flatnonzero(np.diff(t.epoch, prepend=0))[1:]
    assert (np.abs(t.played[begins] - 0.5).max(axis=(1, 2)) > 0.1).any()
    np.testing.assert_allclose(np.exp(t.log_before[begins]), 0.5)


def test_e22_terms_without_k_may_ask_for_more_episodes_than_the_corollary():
    gamma = 1 - 1e-6
    H = parameters.horizon(gamma)
    d = H**0.75
    K = rates.episodes(1.0, d, 3, gamma)
    assert d**2 * H**4 / K > 10


# Misprints


def test_e10_a_clock_that_stands_still_at_resets_begins_too_many_epochs():
    """t = T_1 holds again after every episode of one step that follows the first episode."""
    K, gamma = 400, 0.01
    most = covariance.number_of_epochs(parameters.steps(K, gamma, DELTA), 1, 1.0)
    assert most == pytest.approx(40.6, abs=0.05)
    chance = (1 - gamma) ** 40  # of 40 more epochs
    assert chance > 0.66


def test_e23_it_is_a_ridge_of_b_squared_that_removes_the_factor():
    B = 3.0
    for ridge, holds in ((B**2, True), (1 / B**2, False)):
        spent, grown = B**2 / ridge, math.log(1 + B**2 / ridge)  # one step
        assert (spent <= 2 * grown) == holds


def test_e25_samples_of_the_introduction():
    epsilon, d, A, gamma = 0.1, 4, 3, 0.9
    said = rates.samples_in_introduction(epsilon, d, A, gamma)
    assert said < rates.episodes(epsilon, d, A, gamma) < rates.steps(epsilon, d, A, gamma)
    K = 1e6
    theorem = rates.regret(K, d, A, gamma)
    assert rates.regret_in_introduction(K / (1 - gamma), d, A, gamma) == pytest.approx(theorem)


def test_e26_sums_begin_after_the_start_of_an_epoch():
    """Q of the episode that starts an epoch, and of the two episodes after it."""
    Q = np.array([[1.0, 0.0], [0.3, 0.9], [0.7, 0.2]])
    pi = np.full(2, 0.5)
    V = []
    for q in Q[1:]:
        V.append(math.log(pi @ np.exp(q)))
        pi = pi * np.exp(q - V[-1])
    assert V[1] == pytest.approx(logsumexp(Q[1] + Q[2]) - logsumexp(Q[1]))
    assert V[1] == pytest.approx(0.4069, abs=5e-5)
    assert logsumexp(Q.sum(axis=0)) - logsumexp(Q[0] + Q[1]) == pytest.approx(0.5281, abs=5e-5)
