"""Properties of the rival learners that see the expert's actions, by closed forms and certificates.

Each test takes the learner as an argument, so that a fast version can be added to the plain one.
For two occupancies the largest gap over rewards in [0, 1] is (H/2) ||mu_E - mu(pi)||_1.
"""

import numpy as np
import pytest
from as_transcriptions import (
    LibraryMbTail,
    library_mimic_md,
    library_mimic_md_indexed,
    library_rollouts_in,
    library_unknown_part,
)
from numpy.testing import assert_allclose, assert_array_equal
from reference.algorithm_1 import Interaction
from reference.mdps import random_mdp
from transcriptions.common import Play, gap, occupancy, record, uniform
from transcriptions.linear_cloning import clone, linear_cloning
from transcriptions.mb_tail import (
    MbTail,
    practical_bonus,
    rollouts_in,
    theory_bonus,
    uncertainty,
)
from transcriptions.mimic_md import known_part, mimic_md, mimic_md_indexed, unknown_part
from transcriptions.worlds import random_world, reset_cliff, standard_imitation

from optimist.features import OneHot, Table
from optimist.imitation import BehaviouralCloning
from optimist.imitation.linear_cloning import LinearCloning
from optimist.mdp import match_occupancy, state_laws


def expert_occupancy(w):
    return occupancy(*w.world, w.expert)


def worst_gap(w, pi):
    """The largest gap over rewards in [0, 1]."""
    return w.H / 2 * np.abs(expert_occupancy(w) - occupancy(*w.world, pi)).sum()


def test_episodes_draw_in_the_order_of_the_compiled_loop():
    mdp = random_mdp()
    pi = mdp.uniform_policy
    other = Interaction(mdp, 3, observe_last=False)
    rng = np.random.default_rng(np.random.SeedSequence(3).spawn(2)[0])
    mine = Play(np.array(mdp.P), mdp.nu0, mdp.gamma, rng)
    for _ in range(50):
        assert mine.episode(pi) == other.episode(pi)


# 1. Behavioural cloning


def library_clone(states, actions, X, A):
    table = BehaviouralCloning(states, actions, OneHot(X, A)).policy
    return table.probabilities(np.arange(X))


@pytest.mark.parametrize("learner", [clone, library_clone])
@pytest.mark.parametrize("hard", [0, 12])
def test_1a_cloning_on_the_reset_cliff_loses_what_the_closed_form_says(learner, hard):
    for seed, pairs in ((0, False), (1, False), (2, True), (3, True)):
        w = reset_cliff(8, 3, 0.9, seed, m=hard, pairs=pairs)
        rng = np.random.default_rng(seed)
        states = rng.choice(8, p=w.nu0, size=6)  # the view "last": mu_E is rho
        pi = learner(states, w.expert.argmax(axis=1)[states], 8, 3)
        q = (1 - 1 / 3) * w.nu0[np.setdiff1d(np.arange(7), states)].sum()
        assert q > 0
        lost = (1 if pairs else w.gamma) * q * w.H**2 / (1 + w.gamma * q * w.H)
        found = gap(*w.world, w.r, expert_occupancy(w), pi)
        assert found == pytest.approx(lost, abs=1e-12)


def library_linear_cloning(Phi, states, actions):
    clone = LinearCloning(states, actions, Table(Phi))
    return clone.theta, clone.margin, clone.policy.probabilities(np.arange(len(Phi)))


linear = pytest.mark.parametrize("learner", [linear_cloning, library_linear_cloning])


@linear
def test_1b_linear_cloning_has_no_training_error_and_the_error_of_a_vertex(learner):
    d, n, errors = 5, 60, []
    for seed in range(25):
        rng = np.random.default_rng(seed)
        Phi = rng.standard_normal((500, 3, d))
        expert = (Phi @ rng.uniform(-1, 1, d)).argmax(axis=1)
        states = rng.integers(500, size=n)
        _, margin, pi = learner(Phi, states, expert[states])
        assert margin > 0
        assert_array_equal(pi[states].argmax(axis=1), expert[states])
        errors.append(1 - pi[np.arange(500), expert].mean())
    assert 0 < np.mean(errors) <= (d + 1) / (n + 1)


@linear
def test_1b_an_expert_that_is_not_linear_is_refused(learner):
    Phi = np.array([[[1.0], [-1.0]], [[1.0], [-1.0]]])
    with pytest.raises(ValueError, match=r"the expert must be greedy in phi\.theta"):
        learner(Phi, [0, 1], [0, 1])


# 2. Mimic-MD

mimics = pytest.mark.parametrize("learner", [mimic_md, library_mimic_md])


@mimics
@pytest.mark.parametrize("tau", [1, 2, 5])
def test_2a_2b_where_all_states_are_known_the_target_is_the_expert_whatever_the_rest(learner, tau):
    for seed in range(4):
        w = random_world(seed, kind="dense")
        rng = np.random.default_rng(seed)
        found = learner(*w.world, *record(w.P, w.nu0, w.expert, tau, 300, rng), rng)
        assert (found.kappa >= 0).all()
        mu_E = expert_occupancy(w)
        assert_allclose(found.target, mu_E, rtol=0, atol=1e-13)
        assert found.matching.objective <= 1e-9
        assert_allclose(occupancy(*w.world, found.policy), mu_E, rtol=0, atol=1e-9)


@mimics
def test_2c_the_gap_is_at_most_the_distance_of_the_target(learner):
    positive = 0
    for seed in range(60):
        w = random_world(seed, n=8, gamma=(0.8, 0.95)[seed % 2])
        rng = np.random.default_rng(seed)
        found = learner(*w.world, *record(w.P, w.nu0, w.expert, 1 + seed % 5, 12, rng), rng)
        bound = w.H * np.abs(found.target - expert_occupancy(w)).sum()
        assert worst_gap(w, found.policy) <= bound + 1e-9
        positive += worst_gap(w, found.policy) > 1e-6
    assert positive > 10


@pytest.mark.parametrize("learner", [mimic_md_indexed, library_mimic_md_indexed])
def test_2c_the_same_by_time_for_experts_that_depend_on_time(learner):
    T, X, A = 15, 5, 3
    for seed in range(12):
        w = random_world(seed, X, A)
        rng = np.random.default_rng(seed)
        expert = np.eye(A)[rng.integers(A, size=(T, X))]
        found = learner(*w.world, *record(w.P, w.nu0, expert, 2 + seed % 4, T, rng), rng)
        mu_E = state_laws(w.P, w.nu0, expert)[:-1, :, None] * expert
        mu = state_laws(w.P, w.nu0, found.policy)[:-1, :, None] * found.policy
        weights = w.gamma ** np.arange(T)
        lost = weights @ np.abs(mu - mu_E).sum(axis=(1, 2)) / 2  # after T at most gamma^T H more
        assert lost <= weights @ np.abs(found.target - mu_E).sum(axis=(1, 2)) + 1e-9


@mimics
def test_2d_one_path_of_a_deterministic_world_is_followed(learner):
    for seed, T in ((s, T) for s in range(6) for T in (2, 4, 30)):
        w = random_world(seed, n=10, kind="deterministic")
        start = np.eye(10)[seed]
        rng = np.random.default_rng(seed)
        found = learner(w.P, start, 0.9, *record(w.P, start, w.expert, 1, T, rng), rng)
        mus = [occupancy(w.P, start, 0.9, pi) for pi in (w.expert, found.policy)]
        assert np.abs(mus[0] - mus[1]).sum() / 2 <= 0.9**T + 1e-9


@mimics
def test_2_if_no_path_left_what_is_known_all_continuations_tie(learner):
    for seed in range(5):
        w = reset_cliff(8, 3, 0.9, seed)
        rng = np.random.default_rng(seed)
        found = learner(*w.world, *record(w.P, w.nu0, w.expert, 1, 4, rng), rng)
        missing = 1 - found.mu_in.sum()
        assert missing > 0.1
        assert found.matching.objective == pytest.approx(missing, abs=1e-9)
        p = w.nu0[found.kappa < 0].sum()
        worst = np.where(found.kappa[:, None] >= 0, np.eye(3)[found.kappa], 1 - w.expert)
        worst /= worst.sum(axis=1, keepdims=True)
        mu = occupancy(*w.world, worst)
        assert np.abs(mu - found.target).sum() == pytest.approx(missing, abs=1e-12)
        lost = gap(*w.world, w.r, expert_occupancy(w), worst)
        assert lost == pytest.approx(w.gamma * p * w.H**2 / (1 + w.gamma * p * w.H), abs=1e-12)


@pytest.mark.parametrize("part", [unknown_part, library_unknown_part])
def test_2_the_mean_of_what_is_seen_after_leaving_is_the_rest_of_the_expert(part):
    w = reset_cliff(6, 3, 0.7, seed=1)
    kappa = w.expert.argmax(axis=1)
    kappa[[1, 4, 5]] = -1
    states, actions = record(w.P, w.nu0, w.expert, 2000, 30, np.random.default_rng(0))
    each = np.array([
        part(x[None], a[None], w.gamma, kappa, w.shape)
        for x, a in zip(states, actions, strict=True)
    ])  # fmt: skip
    assert_allclose(part(states, actions, w.gamma, kappa, w.shape), each.mean(axis=0), atol=1e-12)
    error = each.mean(axis=0) - (expert_occupancy(w) - known_part(*w.world, kappa))
    assert (np.abs(error) <= 4.5 * each.std(axis=0) / np.sqrt(2000) + w.gamma**30).all()


@mimics
def test_an_expert_that_is_not_deterministic_is_refused(learner):
    w = random_world(0, kind="dense", deterministic=False)
    rng = np.random.default_rng(0)
    data = record(w.P, w.nu0, uniform(*w.shape), 2, 50, rng)
    with pytest.raises(ValueError, match="expert must be deterministic"):
        learner(*w.world, *data, rng)


def test_11_matching_may_lose_on_visited_states_exactly_what_frequencies_miss():
    w = standard_imitation(6, 3)
    rng = np.random.default_rng(0)
    freq = rng.multinomial(20, w.nu0) / 20
    target = freq[:, None] * w.expert
    objective = match_occupancy(w.P, w.nu0, target, w.gamma).objective
    assert objective == pytest.approx(np.abs(w.nu0 - freq).sum(), abs=1e-9)
    # the worst minimiser plays a* with mass min(rho, rho^) and another action with the rest
    share = (np.minimum(w.nu0, freq) / w.nu0)[:, None]
    pi = share * w.expert + (1 - share) * np.roll(w.expert, 1, axis=1)
    mu = occupancy(*w.world, pi)
    assert np.abs(mu - target).sum() == pytest.approx(objective, abs=1e-9)
    lost = gap(*w.world, w.r, expert_occupancy(w), pi)
    assert lost == pytest.approx(w.H * np.maximum(w.nu0 - freq, 0).sum(), abs=1e-12)


# 4. MB-TAIL

tails = pytest.mark.parametrize("learner", [MbTail, LibraryMbTail])


@pytest.mark.parametrize(
    ("mimic_md", "learner"), [(mimic_md, MbTail), (library_mimic_md, LibraryMbTail)]
)
def test_4a_with_the_true_model_the_target_is_that_of_mimic_md(mimic_md, learner):
    for seed in range(10):
        w = random_world(seed, n=8)
        data = record(w.P, w.nu0, w.expert, 3, 10, np.random.default_rng(seed))
        mimic = mimic_md(*w.world, *data, np.random.default_rng(seed))
        told = (w.P, w.nu0, mimic.mu_in)
        rng = np.random.default_rng(seed)
        tail = learner(*w.world, *data, 0, rng, B=practical_bonus(w.H), told=told).found
        assert_array_equal(tail.target, mimic.target)
        assert tail.matching.objective <= mimic.matching.objective + 1e-9


@tails
def test_4b_the_gap_is_at_most_the_errors_of_target_and_model(learner):
    for seed in range(40):
        w = random_world(seed, n=6)
        rng = np.random.default_rng(seed)
        data = record(w.P, w.nu0, w.expert, 4, 20, rng)
        tail = learner(*w.world, *data, 50, rng, B=practical_bonus(w.H))
        mu_E = expert_occupancy(w)

        def error(pi, w=w, tail=tail):
            model = occupancy(tail.P, tail.nu0, w.gamma, pi)
            return np.abs(model - occupancy(*w.world, pi)).sum()

        of_target = 2 * np.abs(tail.found.target - mu_E).sum()
        bound = w.H / 2 * (of_target + error(w.expert) + error(tail.policy))
        assert worst_gap(w, tail.policy) <= bound + 1e-9


@pytest.mark.parametrize("rollouts", [rollouts_in, library_rollouts_in])
def test_4c_the_mean_of_the_rollouts_is_the_known_part(rollouts):
    w = reset_cliff(6, 3, 0.8, seed=1)
    kappa = w.expert.argmax(axis=1)
    kappa[[1, 4, 5]] = -1
    play = Play(*w.world, np.random.default_rng(0))
    each = np.array([rollouts(play, kappa, 3, 1) for _ in range(3000)])
    error = each.mean(axis=0) - known_part(*w.world, kappa)
    assert (each.sum(axis=(1, 2)) > 0).any()
    assert (np.abs(error) <= 4.5 * each.std(axis=0) / np.sqrt(3000) + 1e-12).all()


def test_4_the_bonus_of_theory_is_at_its_cap_for_91_000_visits():
    B = theory_bonus(H=20, X=20, A=5)
    assert B(np.array(90_000)) > 20 > B(np.array(92_000))


def test_4_uncertainty_is_a_fixed_point_below_its_cap_and_by_steps_it_grows():
    rng = np.random.default_rng(0)
    w, n = random_world(0), rng.integers(0, 400, size=(5, 3))
    B = practical_bonus(w.H)
    W = uncertainty(w.P, n, w.gamma, B)
    backup = np.minimum(w.H, B(n) + w.gamma * w.P @ W.max(axis=1))
    assert_allclose(W, backup, rtol=0, atol=1e-4 * w.H)
    steps = [uncertainty(w.P, n, w.gamma, B, steps=T) for T in (1, 40)]
    assert_allclose(steps[0], np.minimum(w.H, B(n)), rtol=0, atol=1e-12)
    assert (steps[1] >= W - 0.02 * w.H).all()  # F >= 1, and gamma^40 is left
    assert (W[n == 0] == w.H).all()
