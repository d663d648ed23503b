"""Properties of the rival learners that see the expert's states only: FAIL and MobILE."""

import numpy as np
import pytest
from as_transcriptions import LibraryMobile, library_fail, library_fail_told
from numpy.testing import assert_allclose, assert_array_equal
from reference.mdps import draw_policies
from transcriptions.common import gap, occupancy, record, uniform
from transcriptions.fail import fail, fail_told, game, play_game, schedule
from transcriptions.mobile import Mobile, practical_bonus, theory_bonus
from transcriptions.worlds import Arrays, random_world, reset_cliff

from optimist import envs
from optimist.imitation.mobile import MobileConfig
from optimist.mdp import match_next_state, match_occupancy, policy_of, state_laws, timed_occupancy


def expert_occupancy(w):
    return occupancy(*w.world, w.expert)


def expert_laws(w, T):
    return state_laws(w.P, w.nu0, np.repeat(w.expert[None], T, axis=0))


# 5. FAIL


@pytest.mark.parametrize("learner", [fail_told, library_fail_told])
def test_5a_with_true_laws_all_laws_agree_and_so_do_values_of_state_rewards(learner):
    T, different = 40, 0
    for seed in range(5):
        w = random_world(seed, kind=("dense", "mixed")[seed % 2], deterministic=False)
        laws = expert_laws(w, T)
        tables, mine = learner(w.P, w.nu0, laws[1:])
        assert_allclose(mine, laws, rtol=0, atol=1e-8)
        mu = timed_occupancy(w.P, w.nu0, tables, w.gamma)
        # the largest gap over rewards of states; after T nothing was matched
        states = (mu - expert_occupancy(w)).sum(axis=1)
        assert np.abs(states).sum() / 2 <= w.gamma**T + 1e-7
        different += np.abs(tables - w.expert).max() > 0.1
    assert different >= 4  # it is not by the same actions


@pytest.mark.parametrize("learner", [fail_told, library_fail_told])
def test_5b_errors_grow_by_at_most_twice_the_sampling_error_a_step(learner):
    largest = 0.0
    for seed in range(10):
        w = random_world(seed, deterministic=seed % 2 == 0)
        states, _ = record(w.P, w.nu0, w.expert, 7, 16, np.random.default_rng(seed))
        m = np.array([np.bincount(x, minlength=5) / 7 for x in states.T[1:]])
        laws = expert_laws(w, 15)
        _, mine = learner(w.P, w.nu0, m)
        error = np.abs(mine - laws).sum(axis=1)
        noise = np.abs(m - laws[1:]).sum(axis=1)
        assert (error[1:] <= error[:-1] + 2 * noise + 1e-9).all()
        largest = max(largest, error.max())
    assert largest > 0.1


def plain_fail(w, states, actions, K, rng, **options):
    return fail(*w.world, states, K, rng, **options)


fails = pytest.mark.parametrize("learner", [plain_fail, library_fail])


@fails
@pytest.mark.parametrize("literal", [False, True])
def test_5c_it_does_not_see_the_actions(learner, literal):
    w = random_world(1)
    states, actions = record(w.P, w.nu0, w.expert, 20, 10, np.random.default_rng(0))
    tables = [
        learner(w, states, a, 200, np.random.default_rng(1), literal=literal)
        for a in (actions, (actions + 1) % 3)
    ]
    assert_array_equal(*tables)


@fails
def test_5_it_learns_from_states_alone(learner):
    w = reset_cliff(4, 2, 0.7, seed=2)
    states, actions = record(w.P, w.nu0, w.expert, 2000, 10, np.random.default_rng(0))
    tables = learner(w, states, actions, 4000, np.random.default_rng(1))
    mu_E = expert_occupancy(w)
    found = policy_of(timed_occupancy(w.P, w.nu0, tables, w.gamma))
    lost = [gap(*w.world, w.r, mu_E, pi) for pi in (found, uniform(4, 2))]
    assert lost[0] < 0.2 * lost[1]


@fails
def test_5_the_law_of_the_next_time_is_matched(learner):
    """On a ring where action 1 goes round and action 0 stays, the expert never stays."""
    P, n = np.zeros((3, 2, 3)), np.arange(3)
    P[n, 0, n] = P[n, 1, (n + 1) % 3] = 1
    w = Arrays(P, np.zeros((3, 2)), np.eye(3)[0], 0.9, np.tile([0.0, 1.0], (3, 1)))
    states, actions = record(P, w.nu0, w.expert, 1, 6, np.random.default_rng(0))
    tables = learner(w, states, actions, 300, np.random.default_rng(1))
    assert_allclose(state_laws(P, w.nu0, tables), expert_laws(w, 5), rtol=0, atol=1e-8)


def test_5_the_games_of_the_paper_come_near_to_the_linear_programme():
    rng = np.random.default_rng(0)
    for _ in range(3):
        C = rng.integers(0, 6, size=(5, 3, 5)).astype(float)
        M, _ = game(C, literal=True)
        m = rng.dirichlet(np.ones(5))
        found = match_next_state(M, m)
        u, pi = play_game(M, m, eta=0.05, rounds=4000)
        assert u == pytest.approx(np.abs(np.einsum("xa,xay->y", pi, M) - m).sum(), abs=1e-12)
        assert found.bound - 1e-12 <= u <= found.objective + 0.013


def test_5_the_schedule_spends_all_episodes_and_no_nearby_schedule_is_better():
    K, T, gamma = 5000, 12, 0.9
    K_t, times = schedule(K, T, gamma), np.arange(T)
    assert K_t.sum() == K
    assert (np.diff(K_t) <= 1).all()

    def objective(K_t):
        return (gamma**times / np.sqrt(K_t * gamma**times)).sum()

    for i, j in np.ndindex(T, T):
        other = K_t.astype(float)
        other[i] += 10
        other[j] -= 10
        assert objective(other) >= objective(K_t) - 1e-6


# 6. MobILE

mobiles = pytest.mark.parametrize("learner", [Mobile, LibraryMobile])


def told_run(learner, seed, one_start, sampled):
    """A run with sigma told: the world, the target m and the learner after some episodes."""
    w = random_world(seed, kind=("dense", "mixed")[seed % 2], gamma=0.8)
    nu0 = np.eye(5)[0] if one_start else w.nu0
    rng = np.random.default_rng(seed)
    m = occupancy(w.P, nu0, w.gamma, w.expert).sum(axis=1)
    m = rng.multinomial(30, m / m.sum()) / 30 if sampled else m
    mine = learner(w.P, nu0, w.gamma, m, rng, told=True)
    for _ in range(40):
        mine.episode()
    return w, nu0, m, mine


@mobiles
@pytest.mark.parametrize("sampled", [False, True])
@pytest.mark.parametrize("one_start", [True, False])
def test_6a_6b_6c_with_the_error_of_the_model_told_it_is_optimistic_and_certified(
    learner, one_start, sampled
):
    for seed in range(4):
        w, nu0, m, mine = told_run(learner, seed, one_start, sampled)
        assert len(mine.solutions) > 3
        for found, b, P, start, certificate in mine.solutions:
            shift = np.abs(start - nu0).sum()  # 0 if there is one start
            assert one_start <= (shift == 0)
            sigma = np.abs(P - w.P).sum(axis=2)
            assert_allclose(b, w.gamma * w.H * sigma, rtol=0, atol=1e-12)
            # (a) optimism of costs for every policy
            rng = np.random.default_rng(seed)
            for pi in draw_policies(rng, 5, 5, 3):
                f = rng.random((5, 3))
                model = occupancy(P, start, w.gamma, pi)
                true = occupancy(w.P, start, w.gamma, pi)
                assert (model * (f - b / 2)).sum() <= (true * f).sum() + 1e-12
            # (b) the expert is feasible; a wrong start costs ||nu^ - nu0||_1
            mu_E = occupancy(w.P, nu0, w.gamma, w.expert).sum(axis=1)
            assert found.objective <= np.abs(mu_E - m).sum() + shift + 1e-9
            # (c) the certificate
            assert certificate == pytest.approx(found.objective + 2 * (b * found.mu).sum())
            mu = occupancy(w.P, nu0, w.gamma, found.policy).sum(axis=1)
            assert np.abs(mu - m).sum() <= certificate + shift + 1e-9
        assert mine.certificate == min(solution[-1] for solution in mine.solutions)


def test_6d_with_the_true_model_and_law_the_objective_is_zero():
    for seed in range(5):
        w = random_world(seed, deterministic=False)
        m = expert_occupancy(w).sum(axis=1)
        assert match_occupancy(*w.world[:2], m, w.gamma, states=True).objective <= 1e-9


@mobiles
def test_6_without_a_bonus_it_never_leaves_the_start_of_river_swim(learner):
    mdp = envs.RiverSwim().mdp
    w = Arrays(np.array(mdp.P), mdp.r, mdp.nu0, mdp.gamma, mdp.optimal().policy)
    mu_E, gaps = expert_occupancy(w), []
    for bonus in (practical_bonus(w.gamma), lambda n, k: np.zeros(n.shape)):
        mine = learner(*w.world, mu_E.sum(axis=1), np.random.default_rng(0), bonus=bonus)
        for _ in range(400):
            mine.episode()
        gaps.append(gap(*w.world, w.r, mu_E, mine.pi))
    V_E = w.H * (mu_E * w.r).sum()
    assert gaps[0] < 0.1 * V_E
    assert gaps[1] > 0.9 * V_E


@pytest.mark.parametrize("X", [4, 25])
def test_6_the_sigma_of_the_theory_bounds_the_error_of_frequencies(X):
    # Weissman et al.: ||P^ - P||_1 >= sqrt(X L / n) with probability at most (2 exp(-L / 2))^X.
    rng, delta, H = np.random.default_rng(X), 0.5, 10.0
    rare = (2 * np.exp(-np.log(X / delta) / 2)) ** X
    assert rare < (0.3 if X == 4 else 1e-10)
    for n in (1, 10, 100, 1000):
        P = rng.dirichlet(np.full(X, 0.5), size=2000)
        error = np.abs(rng.multinomial(n, P) / n - P).sum(axis=1)
        config = MobileConfig.theory(delta)
        sigma = config.bonus(np.full((X, 1), n), k=1, gamma=1 - 1 / H).max() / H
        assert (error > sigma + 1e-12).mean() <= rare
        assert np.median(error) > sigma / 10  # nor is it much larger than the error


def test_6_the_bonuses_at_some_counts():
    n = np.array([0, 1, 9])
    assert_allclose(practical_bonus(0.9)(n, 5), [9, 2.7, 0.9], rtol=1e-12)
    found = theory_bonus(10.0, 4, 2, delta=0.1)(np.array([0, 1, 10**4]), 10)
    assert_allclose(found, [20, 20, 10 * np.sqrt(4 * np.log(8000) / 10**4)], rtol=1e-12)
