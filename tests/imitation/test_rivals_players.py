"""Properties of the rivals that are games of a reward and a policy: OAL, OGAIL and ILARL."""

import numpy as np
import pytest
from as_transcriptions import LibraryIlarl, LibraryOal, LibraryOgail
from numpy.testing import assert_allclose, assert_array_equal
from reference.algorithm_2 import project_ball, project_box
from scipy.special import logsumexp
from transcriptions.common import gap, occupancy
from transcriptions.ilarl import Ilarl
from transcriptions.oal import Oal, practical_bonus, theory_bonus, theory_steps
from transcriptions.ogail import Ogail
from transcriptions.worlds import chain_of_shani, random_mixture, random_world, reset_cliff

from optimist.theory.imitation import reward_regret_bound, reward_regret_bound_sharp


def one_hot(X, A):
    return np.eye(X * A).reshape(X, A, -1)


def expert_occupancy(w):
    return occupancy(*w.world, w.expert)


# 3. OAL

oals = pytest.mark.parametrize("learner", [Oal, LibraryOal])


def told_oal(learner, w, K, sign=1.0):
    t_pi, t_c = theory_steps(w.H, *w.shape, K)
    mine = learner(
        *w.world, expert_occupancy(w), np.random.default_rng(0), t_pi=t_pi, t_c=sign * t_c,
        bonus=practical_bonus(w.H), told=(w.P, w.nu0), tolerance=1e-7,
    )  # fmt: skip
    for _ in range(K):
        mine.episode()
    return mine, t_c


@oals
def test_3a_with_the_true_model_the_mean_occupancy_is_as_near_as_the_steps_allow(learner):
    K = 600
    for seed in range(3):
        w = random_world(seed, gamma=0.8, kind="dense")
        mine, t_c = told_oal(learner, w, K)
        X, A = w.shape
        bound = w.H * np.sqrt(2 * np.log(A) / K) + X * A / (8 * t_c * K) + t_c
        mu_E = expert_occupancy(w)
        assert np.maximum(np.mean(mine.occupancies, axis=0) - mu_E, 0).sum() <= bound
        wrong, _ = told_oal(learner, w, K, sign=-1.0)  # the sign of the costs matters
        assert np.maximum(np.mean(wrong.occupancies, axis=0) - mu_E, 0).sum() > bound


@oals
def test_3b_where_there_are_no_data_costs_to_go_are_zero(learner):
    w = random_world(0)
    mine = learner(
        *w.world, expert_occupancy(w), np.random.default_rng(0), t_pi=0.1, t_c=0.1,
        bonus=theory_bonus(w.H, 5, 3, K=10),
    )  # fmt: skip
    assert_array_equal(mine.evaluate(), 0)
    mine.bonus = practical_bonus(w.H)
    for _ in range(5):
        mine.episode()
        assert_array_equal(mine.evaluate()[mine.counts.n == 0], 0)
    assert mine.evaluate().max() > 0


@oals
def test_3c_the_parts_of_the_two_players_add_up_to_the_gap(learner):
    w = random_world(3)
    mu_E = expert_occupancy(w)
    mine = learner(
        *w.world, mu_E, np.random.default_rng(0), t_pi=0.1, t_c=0.3, bonus=practical_bonus(w.H)
    )
    for _ in range(50):
        mine.episode()
    for pi, c in zip(mine.policies, mine.costs, strict=True):
        assert 0 <= c.min() <= c.max() <= 1
        ahead = mu_E - occupancy(*w.world, pi)
        r_k = 1 - c
        policy_player, reward_player = w.H * (ahead * r_k).sum(), -w.H * (ahead * (r_k - w.r)).sum()
        whole = gap(*w.world, w.r, mu_E, pi)
        assert policy_player + reward_player == pytest.approx(whole, abs=1e-12)
        assert policy_player == pytest.approx(-w.H * (ahead * c).sum(), abs=1e-12)


@oals
def test_3_it_learns_on_the_chain_of_its_paper(learner):
    w = chain_of_shani()
    t_pi, t_c = theory_steps(w.H, 2, 2, 300)
    mine = learner(
        *w.world, expert_occupancy(w), np.random.default_rng(0), t_pi=30 * t_pi, t_c=t_c,
        bonus=practical_bonus(w.H),
    )  # fmt: skip
    for _ in range(300):
        mine.episode()
    gaps = [gap(*w.world, w.r, expert_occupancy(w), pi) for pi in mine.policies]
    assert np.mean(gaps[-50:]) < 0.05 * gaps[0]


# 7. OGAIL

ogails = pytest.mark.parametrize("learner", [Ogail, LibraryOgail])


def new_ogail(learner, w, kernels, **options):
    X, A = w.shape
    standard = {
        "project": lambda w: project_ball(w, 1.0), "eta_r": 0.05, "shift": 1.0, "R_max": 2.0,
        "t_pi": 0.02, "kappa": 0.2 * w.H,
    }  # fmt: skip
    mu_E = expert_occupancy(w).ravel()
    rng = np.random.default_rng(0)
    return learner(*w.world, kernels, one_hot(X, A), mu_E, rng, **(standard | options))


@ogails
def test_7a_without_noise_theta_is_found_and_predicts_every_value(learner):
    w = random_world(1, kind="deterministic")  # V(y) is P V(x, a) itself
    rng = np.random.default_rng(0)
    others = rng.dirichlet(np.ones(5), size=(3, 5, 3))
    mine = new_ogail(learner, w, np.concatenate([others[:2], w.P[None], others[2:]]), ridge=1e-9)
    for _ in range(10):
        mine.V = rng.random(5)
        theta = mine.regress(mine.play.episode(mine.pi)[1])
    assert_allclose(theta, [0, 0, 1, 0], rtol=0, atol=1e-6)
    V = rng.uniform(-10, 10, 5)
    assert_allclose(mine.features(V) @ theta, w.P @ V, rtol=0, atol=1e-4)


@ogails
def test_7b_with_one_known_kernel_it_is_oal_whose_costs_move_first(learner):
    """OAL evaluates pi_k under c_k and then moves the costs; OGAIL moves the rewards before."""
    w = random_world(2)
    mu_E, (t_pi, t_c) = expert_occupancy(w), (0.05, 0.3)
    mine = new_ogail(
        learner, w, w.P[None], project=lambda w: project_box(w, 0, 1), eta_r=t_c, shift=0.0,
        R_max=1.0, t_pi=t_pi, kappa=0.0, theta=np.ones(1), tolerance=1e-15,
        gradient=lambda pi: (mu_E - occupancy(*w.world, pi)).ravel(),
    )  # fmt: skip
    other = Oal(
        *w.world, mu_E, np.random.default_rng(0), t_pi=t_pi, t_c=t_c, bonus=None,
        told=(w.P, w.nu0), tolerance=1e-15,
    )  # fmt: skip
    other.c = np.ones(w.shape)  # w_0 = 0
    for _ in range(60):
        mine.episode()
        other.raise_costs(other.occupancy())
        other.improve()
        assert_allclose(mine.r, 1 - other.c, rtol=0, atol=1e-12)
        assert_allclose(mine.pi, other.pi, rtol=0, atol=1e-12)
    assert np.abs(mine.pi - 1 / 3).max() > 0.1


@ogails
def test_7c_a_constant_value_teaches_the_sum_of_theta_alone(learner):
    w, kernels, _ = random_mixture(0)
    mine = new_ogail(learner, w, kernels, ridge=2.0)
    mine.V = np.full(6, 3.0)
    assert_allclose(mine.features(mine.V), 3.0, rtol=0, atol=1e-12)
    n, v = 0, 3.0
    for _ in range(5):
        transitions = mine.play.episode(mine.pi)[1]
        n += len(transitions)
        theta = mine.regress(transitions)
        assert_allclose(theta, n * v**2 / (2.0 + n * v**2 * 3), rtol=0, atol=1e-12)
    assert n > 5


@ogails
def test_7_it_learns_theta_and_the_expert(learner):
    w, kernels, theta = random_mixture(0, d=4, n=8)
    K = 600
    t_pi = 20 * np.sqrt(2 * np.log(3) / K) / (2 * w.H)
    mine = new_ogail(learner, w, kernels, eta_r=1 / np.sqrt(K), t_pi=t_pi)
    for _ in range(K):
        mine.episode()
    assert_allclose(mine.theta, theta, rtol=0, atol=0.1)
    distance = [np.abs(expert_occupancy(w) - occupancy(*w.world, pi)).sum() for pi in mine.policies]
    assert np.mean(distance[-50:]) < 0.2 * distance[0]


# 8. ILARL

ilarls = pytest.mark.parametrize("learner", [Ilarl, LibraryIlarl])


def run_ilarl(learner, w, K, batch, **options):
    X, A = w.shape
    standard = {"alpha": 1 / np.sqrt(K), "eta": 0.7, "beta": 0.1 * w.H, "ridge": 0.5}
    mu_E = expert_occupancy(w).ravel()
    mine = learner(
        *w.world, one_hot(X, A), one_hot(X, A), mu_E, np.random.default_rng(0), batch=batch,
        shift=1.0, R_max=2.0, **(standard | options),
    )  # fmt: skip
    for _ in range(K // batch):
        mine.learn_batch()
        yield mine


@ilarls
def test_8a_with_batches_of_one_the_values_add_up_to_a_soft_maximum(learner):
    w, total = random_world(0), 0.0
    for mine in run_ilarl(learner, w, 80, 1):
        total = total + mine.values[-1]
        soft = (logsumexp(0.7 * mine.S, axis=1) - np.log(3)) / 0.7
        assert_allclose(total, soft, rtol=1e-12, atol=0)
        assert len(mine.values) == len(mine.policies)


@ilarls
def test_8b_the_covariance_is_of_the_last_batch_alone(learner):
    w = random_world(1)
    sizes = set()
    for mine in run_ilarl(learner, w, 60, 10):
        n = mine.seen  # ||phi|| = 1
        assert np.trace(mine.Lambda) - 15 * 0.5 == pytest.approx(n, abs=1e-9)
        sizes.add(n)
    assert len(sizes) > 3


@ilarls
def test_8c_the_regret_of_the_weights_is_within_the_bounds_of_the_paper(learner):
    K, batch = 400, 20
    for seed in range(3):
        w = random_world(seed, gamma=0.8)
        *_, mine = run_ilarl(learner, w, K, batch)
        mu = [occupancy(*w.world, pi).ravel() for pi in mine.policies]
        ahead = np.repeat(np.array(mu) - expert_occupancy(w).ravel(), batch, axis=0)
        # the worst w_true of the unit ball is against the sum of all differences
        regret = w.H * ((ahead * mine.weights).sum() + np.linalg.norm(ahead.sum(axis=0)))
        numbers = (K, w.gamma, 1.0, 1.0, 1.0, np.inf, 0.05)
        assert np.linalg.norm(mine.weights, axis=1).max() <= 1 + 1e-12
        assert regret <= reward_regret_bound_sharp(*numbers) <= reward_regret_bound(*numbers)


@ilarls
def test_8_it_learns_on_the_reset_cliff(learner):
    w = reset_cliff(6, 3, 0.8, seed=1)
    options = {"eta": 1.0, "beta": 0.04 * w.H, "ridge": 0.01}
    *_, mine = run_ilarl(learner, w, 1000, 50, **options)
    gaps = [gap(*w.world, w.r, expert_occupancy(w), pi) for pi in mine.policies]
    assert gaps[-1] < 0.1 * gaps[0]
