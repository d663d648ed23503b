"""The plain FRA-IL: its projections, its draws and its rewards, each against something simpler."""

from functools import partial

import numpy as np
import pytest
from scipy.optimize import minimize

from optimist.mdp import FiniteMDP

X, A, GAMMA = 4, 3, 0.8
ALGORITHM_1 = {"eta": 1.0, "beta": 0.3, "alpha": 4.0, "omega": 2.0}
both_ways = pytest.mark.parametrize("fresh", [False, True])


def random_mdp(reward_seed=0):
    rng = np.random.default_rng(1)
    P = rng.dirichlet(np.full(X, 0.5), size=(X, A))
    nu0 = rng.dirichlet(np.ones(X))
    return FiniteMDP(P, np.random.default_rng(reward_seed).random((X, A)), nu0, GAMMA)


ONE_HOT = np.eye(X * A).reshape(X, A, -1)


@pytest.fixture(scope="module")
def imitate(plain):
    """An imitator on one-hot features, by rewards in [0, 1] unless told."""

    def make(mdp=None, lambda_E=None, project=None, **changes):
        mdp = mdp or random_mdp()
        lambda_E = np.full(X * A, 1 / (X * A)) if lambda_E is None else lambda_E
        project = project or partial(plain.project_box, low=0.0, high=1.0)
        options = {"step": 0.2, "shift": 0.0, "R_max": 1.0, "seed": 3, **ALGORITHM_1, **changes}
        return plain.FraILTranscription(mdp, ONE_HOT, ONE_HOT, lambda_E, project, **options)

    return make


def test_projections_are_inside_and_nearest_and_those_of_a_solver(plain):
    """<w - point, v - point> <= 0 for every v of a convex class, and so for its vertices."""
    rng = np.random.default_rng(0)
    given = [np.zeros(3), np.full(3, 5.0), np.array([0.2, 0.3, 0.5]), np.array([-1.0, -2.0, -3.0])]
    vectors = given + [rng.normal(size=3) * scale for scale in np.geomspace(0.1, 10, 40)]
    corners = np.array(np.meshgrid(*[[-0.5, 0.7]] * 3)).reshape(3, -1).T
    for w in vectors:
        point = plain.project_ball(w, 0.7)
        away = w - point
        assert np.linalg.norm(point) <= 0.7 + 1e-12
        assert 0.7 * np.linalg.norm(away) - point @ away <= 1e-9  # the worst v = 0.7 away / |away|
        point = plain.project_box(w, -0.5, 0.7)
        assert point.min() >= -0.5
        assert point.max() <= 0.7
        assert ((corners - point) @ (w - point) <= 1e-9).all()
        for total in (1.0, 2.5):
            point = plain.project_simplex(w, total)
            assert point.min() >= 0
            assert point.sum() == pytest.approx(total, abs=1e-12)
            assert ((total * np.eye(3) - point) @ (w - point) <= 1e-9).all()
    ball = {"constraints": {"type": "ineq", "fun": lambda v: 0.49 - v @ v}}
    simplex = {"constraints": {"type": "eq", "fun": lambda v: v.sum() - 1}, "bounds": [(0, 1)] * 3}
    for project, class_of_weights in (
        (partial(plain.project_ball, radius=0.7), ball),
        (partial(plain.project_box, low=-0.5, high=0.7), {"bounds": [(-0.5, 0.7)] * 3}),
        (plain.project_simplex, simplex),
    ):
        for w in given + vectors[4::5]:
            start, how = np.array([0.2, 0.3, 0.4]), {"method": "SLSQP", "tol": 1e-12}
            found = minimize(lambda v, w=w: ((v - w) ** 2).sum(), start, **how, **class_of_weights)
            np.testing.assert_allclose(project(w), found.x, atol=2e-5)


@both_ways
def test_it_learns_as_algorithm_1_does_from_the_same_rewards(plain, imitate, fresh):
    """The rewards that were chosen, given to Algorithm 1 in advance; it plays the same stream."""
    for observe_last in (False, True):
        options = {"updates": 2, "ridge": 0.5, "observe_last": observe_last}
        ours = imitate(fresh=fresh, **options)
        if fresh:
            ours.rollout = lambda: ((1, 2), 1)  # which takes nothing from the stream
        rewards, seen = [], []
        for _ in range(60):
            ours.episode()
            rewards.append(ours.r[:-1].copy())
            seen.append((ours.V, ours.pi, ours.reward, ours.steps, ours.e, ours.value, ours.sup_q))
        theirs = plain.plain.Transcription(
            random_mdp(), ONE_HOT, rewards=rewards, seed=3, **options, **ALGORITHM_1
        )
        for V, pi, *rest in seen:
            theirs.episode()
            np.testing.assert_array_equal(V, theirs.V)
            np.testing.assert_array_equal(pi, theirs.pi)
            assert rest == [theirs.reward, theirs.steps, theirs.e, theirs.value, theirs.sup_q]
        assert np.ptp(rewards, axis=0).max() > 0.3  # and the rewards did change


@both_ways
def test_the_reward_of_the_mdp_is_never_read(imitate, fresh):
    one, other = imitate(random_mdp(0), fresh=fresh), imitate(random_mdp(9), fresh=fresh)
    for _ in range(30):
        one.episode()
        other.episode()
        np.testing.assert_array_equal(one.pi, other.pi)
        assert one.pair == other.pair


@both_ways
def test_without_a_class_the_weights_are_a_sum_of_differences(imitate, fresh):
    lambda_E = np.linspace(0, 0.1, X * A)
    ours = imitate(
        lambda_E=lambda_E, project=lambda w: w, fresh=fresh, step=0.01, shift=2.0, R_max=4.0
    )
    counts, total = np.zeros((X, A)), np.zeros(X * A)
    for k in range(1, 50):
        ours.episode()
        counts[ours.pair] += 1
        w = 0.01 * (k * lambda_E - counts.ravel())
        total += w
        np.testing.assert_allclose(ours.w, w, atol=1e-14)
        np.testing.assert_allclose(ours.w_sum, total, atol=1e-12)
        np.testing.assert_allclose(ours.r[:-1].ravel(), w + 2, atol=1e-14)  # one-hot features
        assert (ours.r[-1] == 4).all()


def test_the_first_weights_start_from_the_projection_of_zero(plain, imitate):
    ours = imitate(project=plain.project_simplex, fresh=False, step=0.0)
    ours.episode()
    np.testing.assert_allclose(ours.w, np.full(X * A, 1 / (X * A)), atol=1e-15)


def test_the_last_pair_of_the_episode_is_the_draw_unless_a_fresh_one_is_asked_for(imitate):
    ours = imitate(fresh=False)
    for _ in range(20):
        ours.episode()
        assert ours.pair == ours.pairs[-1]
        assert ours.rollout_steps == 0


def test_a_fresh_rollout_leaves_data_and_state_alone_and_draws_in_this_order(imitate):
    """A start, then for each step an action, a coin and a state."""
    ours = imitate(fresh=True)
    ours.episode()
    x, data = ours.interaction.x, list(ours.D)
    ours.rollout()
    assert ours.interaction.x == x
    assert data == ours.D
    ours = imitate(fresh=True)
    stream = np.random.default_rng(np.random.SeedSequence(3).spawn(2)[0])
    stream.random()  # the first state of episode 1
    for _ in range(30):
        before = ours.interaction.x
        pair, steps = ours.rollout()
        numbers = stream.random(3 * steps)  # 1 + 2 a step + 1 for each but the last
        assert (numbers[2::3] < GAMMA).tolist() == [True] * (steps - 1) + [False]
        last = numbers[-2]
        assert pair[1] == min(int(last * A), A - 1)  # pi_1 is uniform
        assert before == ours.interaction.x
    assert ours.interaction.rng.random() == stream.random()


@both_ways
def test_the_pairs_are_drawn_from_the_occupancy_of_the_policy(imitate, fresh):
    """A tiny eta leaves the policy uniform."""
    mdp, n = random_mdp(), 3000
    ours = imitate(mdp, fresh=fresh, eta=1e-9)
    counts, steps = np.zeros((X, A)), 0
    for _ in range(n):
        ours.D.clear()  # which would only make it slow
        ours.episode()
        counts[ours.pair] += 1
        steps += ours.rollout_steps
    mu = mdp.occupancy(np.full((X, A), 1 / A))
    deviations = (counts - n * mu) / np.sqrt(n * mu * (1 - mu))
    assert np.abs(deviations).max() < 4
    if fresh:  # geometric lengths of mean H and variance gamma H^2
        assert abs(steps / n - 5) < 4 * np.sqrt(0.8 * 25 / n)


def test_a_reward_out_of_range_is_not_let_through(imitate):
    with pytest.raises(AssertionError, match="is negative"):
        imitate(fresh=False, project=lambda w: w - 1).episode()
    with pytest.raises(AssertionError, match="exceeds R_max"):
        imitate(fresh=False, shift=1.5).episode()


@both_ways
def test_it_comes_to_play_as_often_as_the_expert_what_the_expert_plays(plain, imitate, fresh):
    mdp = random_mdp()
    expert = mdp.optimal().policy
    mu_E = mdp.occupancy(expert)
    ball = partial(plain.project_ball, radius=0.5)
    ours = imitate(mdp, mu_E.ravel(), ball, shift=0.5, fresh=fresh, step=0.05)
    distances = []
    for _ in range(600):
        distances.append(np.abs(mdp.occupancy(ours.pi[:-1]) - mu_E).sum())
        ours.episode()
    assert np.mean(distances[-200:]) < 0.4 * distances[0]
