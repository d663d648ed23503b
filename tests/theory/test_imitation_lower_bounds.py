"""No learner beats the lower bounds: best tests, exact values and simulations on their worlds."""

import itertools
import math

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import binom

from optimist.envs import LowerK, LowerTauE
from optimist.theory import imitation


def close(actual, expected, rel=1e-12):
    assert actual == pytest.approx(expected, rel=rel, abs=0)


# The lower bound on expert samples.

PAIRS = list(itertools.product([0.5, 0.8, 0.99], [0.1, 0.6, 1.0]))  # gamma, epsilon / delta


def gaps_of_deciding(pair):
    """gaps[i][j]: what member i loses if the expert of member j is played, by exact solves."""
    return np.array([[w.mdp.value(w.expert) - w.mdp.value(v.expert) for v in pair] for w in pair])


@pytest.mark.parametrize(("gamma", "ratio"), PAIRS)
@pytest.mark.parametrize("tau_E", [1, 2, 5, 40])
def test_no_test_of_the_pair_beats_the_bound_and_the_best_meets_it(gamma, ratio, tau_E):
    """All thresholds on the number of states x_0, and their converses, by exact probabilities."""
    pair = LowerTauE.pair(3, ratio * (1 - gamma) / gamma, gamma, w_max=0.7)
    gaps = gaps_of_deciding(pair)
    p = [world.mdp.state_occupancy(world.expert)[0] for world in pair]
    below = np.array([binom.cdf(np.arange(-1, tau_E + 1), tau_E, q) for q in p])  # [2, thresholds]
    above_is_0 = below[0] * gaps[0, 1] + (1 - below[1]) * gaps[1, 0]
    above_is_1 = (1 - below[0]) * gaps[0, 1] + below[1] * gaps[1, 0]
    bound = imitation.lower_bound_tau_E(tau_E, gamma, 0.7, epsilon=pair[0].epsilon)
    close(min(above_is_0.min(), above_is_1.min()) / 2, bound, rel=1e-8)


@pytest.mark.parametrize(("gamma", "ratio"), PAIRS)
def test_no_policy_for_each_count_beats_the_bound_even_if_it_hedges(gamma, ratio):
    """Each count answered by the best of many mixed policies, not only by the two experts."""
    tau_E = 6
    pair = LowerTauE.pair(2, ratio * (1 - gamma) / gamma, gamma)
    alpha = np.linspace(0, 1, 101)
    policies = np.full((101, 2, 2), 0.5)
    policies[:, 0] = np.stack([alpha, 1 - alpha], axis=1)
    gaps = np.array([w.mdp.value(w.expert) - w.mdp.value(policies) for w in pair])
    close(gaps.sum(axis=0).min(), gaps.sum(axis=0).max(), rel=1e-7)  # g_0 + g_1 is constant
    p = [world.mdp.state_occupancy(world.expert)[0] for world in pair]
    likelihood = np.array([binom.pmf(np.arange(tau_E + 1), tau_E, q) for q in p])
    best = (likelihood.T @ gaps).min(axis=1).sum() / 2
    close(best, imitation.lower_bound_tau_E(tau_E, gamma, epsilon=pair[0].epsilon), rel=1e-7)


@pytest.mark.parametrize("tau_E", [1, 6, 8, 30, 1000])
@pytest.mark.parametrize("gamma", [0.5, 0.95])
def test_no_pair_is_harder_than_the_hardest(tau_E, gamma):
    delta = (1 - gamma) / gamma
    epsilon = imitation.hardest_epsilon_tau_E(tau_E, gamma)
    curve = imitation.lower_bound_tau_E(tau_E, gamma)
    close(curve, imitation.lower_bound_tau_E(tau_E, gamma, epsilon=epsilon))
    others = [
        imitation.lower_bound_tau_E(tau_E, gamma, epsilon=e * delta) for e in np.linspace(0, 1, 400)
    ]
    assert curve * (1 + 1e-9) >= max(others) > 0.99 * curve
    assert LowerTauE(epsilon=epsilon, gamma=gamma).mdp.gamma == gamma  # the world accepts it


@pytest.mark.parametrize("gamma", [0.5, 0.9, 0.999])
def test_the_curve_falls_with_the_root_of_the_samples(gamma):
    """In the limit it is max_x x Phi(-x) H W_max / sqrt(tau_E), at Delta = x / sqrt(tau_E)."""
    x = np.linspace(0.7, 0.8, 10_001)
    limit = (x * ndtr(-x)).max()
    for tau_E, error in ((100, 1e-2), (10**4, 1e-3), (10**10, 1e-6)):
        curve = imitation.lower_bound_tau_E(tau_E, gamma, W_max=3.0)
        close(curve, 3 * limit / ((1 - gamma) * math.sqrt(tau_E)), rel=error)


def test_more_samples_help_and_a_pair_without_a_difference_costs_nothing():
    samples = [1, 2, 3, 10, 100, 10**6]
    for epsilon in (0.05, None):
        bounds = [imitation.lower_bound_tau_E(n, 0.9, epsilon=epsilon) for n in samples]
        assert bounds == sorted(bounds, reverse=True)
    assert imitation.lower_bound_tau_E(5, 0.9, epsilon=0.0) == 0
    close(imitation.lower_bound_tau_E(1, 0.9), 10 / 8 * 0.75)  # Delta = 1/4, and TV = 1/4
    assert imitation.lower_bound_tau_E(10**6, 0.9, epsilon=0.1) < 1e-300


# The lower bound on episodes.

FAMILIES = list(
    itertools.product([0.5, 0.8, 0.99], [2, 5], [0.1, 0.9])
)  # gamma, A, epsilon / delta


@pytest.mark.parametrize(("gamma", "n_actions", "ratio"), FAMILIES)
def test_without_play_the_bound_is_the_gap_of_a_guess(gamma, n_actions, ratio):
    family = LowerK.family(n_actions, ratio * (1 - gamma) / gamma, gamma)
    world = family[0]
    gaps = [world.mdp.value(world.expert) - world.mdp.value(guess.expert) for guess in family]
    bound = imitation.lower_bound_K(0, n_actions, gamma, epsilon=world.epsilon)
    close(np.mean(gaps), bound, rel=1e-7)


@pytest.mark.parametrize(("gamma", "n_actions", "ratio"), FAMILIES)
def test_a_policy_that_seldom_plays_the_special_action_loses_in_proportion(gamma, n_actions, ratio):
    world = LowerK(n_actions, 0, ratio * (1 - gamma) / gamma, gamma)
    policies = np.random.default_rng(0).dirichlet(np.ones(n_actions), size=(200, 2))
    lost = world.mdp.value(world.expert) - world.mdp.value(policies)
    loss = imitation.lower_bound_K(0, n_actions, gamma, world.epsilon) / (1 - 1 / n_actions)
    assert (lost >= (1 - policies[:, 0, 0]) * loss * (1 - 1e-7)).all()


@pytest.mark.parametrize(("gamma", "n_actions", "ratio"), FAMILIES)
def test_the_probability_of_the_right_action_solves_its_equation(gamma, n_actions, ratio):
    """With the visits to x_0 counted in the reference world by exact solves."""
    reference = LowerK(n_actions, 0, 0.0, gamma)
    world = LowerK(n_actions, 0, ratio * (1 - gamma) / gamma, gamma)
    visits = reference.mdp.state_occupancy(np.full((2, n_actions), 1 / n_actions))[0] / (1 - gamma)
    p, q = reference.mdp.P[0, 0], world.mdp.P[0, 0]
    kl = sum(a * math.log(a / b) for a, b in zip(p, q, strict=True) if a > 0)
    loss = imitation.lower_bound_K(0, n_actions, gamma, world.epsilon) / (1 - 1 / n_actions)
    for K in (1, 10):
        miss = imitation.lower_bound_K(K, n_actions, gamma, world.epsilon) / loss
        found = math.log(1 / n_actions / (1 - miss)) / n_actions
        found += (1 - 1 / n_actions) * math.log((1 - 1 / n_actions) / miss)
        close(found, K * visits * kl / n_actions, rel=1e-6)


def play_and_commit(world, K, rng):
    """Play all actions alike for K episodes, then the one likeliest to be special, for ever."""
    P, A, gamma, epsilon = world.mdp.P, world.n_actions, world.gamma, world.epsilon
    delta = (1 - gamma) / gamma
    score = np.zeros(A)
    for _ in range(K):
        x = 0
        while True:
            a = int(rng.random() * A)
            after = int(rng.random() >= P[x, a, 0])  # shown even if the episode ends
            if x == 0:
                ratio = (1 - delta + epsilon) / (1 - delta) if after == 0 else 1 - epsilon / delta
                score[a] += math.log(ratio)
            if rng.random() >= gamma:
                break
            x = after
    return rng.choice(np.flatnonzero(score == score.max()))


@pytest.mark.parametrize(("K", "n_actions", "gamma"), [(1, 2, 0.8), (8, 2, 0.8), (8, 4, 0.7)])
def test_a_learner_that_explores_and_commits_does_not_beat_the_bound(K, n_actions, gamma):
    """Its score is the posterior, so that it makes the best of what it has seen."""
    rng, runs = np.random.default_rng(0), 3000
    family = LowerK.family(n_actions, imitation.hardest_epsilon_K(K, n_actions, gamma), gamma)
    gaps = []
    for run in range(runs):
        world = family[run % n_actions]
        out = family[play_and_commit(world, K, rng)].expert
        gaps.append(float(world.mdp.value(world.expert) - world.mdp.value(out)))
    noise = np.std(gaps) / math.sqrt(runs)
    bound = imitation.lower_bound_K(K, n_actions, gamma)
    assert np.mean(gaps) >= bound - 3 * noise
    assert np.mean(gaps) < 2.5 * bound  # and the bound is no small part of what is possible


@pytest.mark.parametrize("K", [1, 30, 10**4])
@pytest.mark.parametrize("gamma", [0.5, 0.95])
def test_no_family_has_a_larger_bound_than_the_hardest(K, gamma):
    delta = (1 - gamma) / gamma
    epsilon = imitation.hardest_epsilon_K(K, 3, gamma)
    curve = imitation.lower_bound_K(K, 3, gamma)
    close(curve, imitation.lower_bound_K(K, 3, gamma, epsilon=epsilon))
    grid = delta * np.geomspace(1e-6, 0.999, 1000)
    others = [imitation.lower_bound_K(K, 3, gamma, epsilon=e) for e in grid]
    assert curve * (1 + 1e-9) >= max(others) > 0.99 * curve
    assert LowerK(3, epsilon=epsilon, gamma=gamma).mdp.gamma == gamma  # the world accepts it


@pytest.mark.parametrize("gamma", [0.7, 0.9, 0.999])
def test_with_two_actions_the_curve_falls_with_the_root_of_the_episodes(gamma):
    """kl(1/2, q) = y^2 has 1 - q = (1 - sqrt(1 - exp(-2 y^2))) / 2, and epsilon is small."""
    y = np.linspace(0.01, 2, 10_001)
    best = (y * (1 - np.sqrt(1 - np.exp(-2 * y**2))) / 2).max()
    limit = 2 / 9 * math.sqrt(3 * 2 * (2 * gamma - 1)) * best / (1 - gamma)
    for K, error in ((10**6, 2e-2), (10**10, 2e-4), (10**14, 1e-5)):
        close(imitation.lower_bound_K(K, 2, gamma) * math.sqrt(K), limit, rel=error)


def test_at_one_half_the_bound_falls_faster_for_one_stay_gives_the_action_away():
    first, second = (imitation.lower_bound_K(K, 2, 0.5) for K in (10**6, 10**8))
    close(first / second, 100, rel=1e-2)


@pytest.mark.parametrize(("K", "A"), [(1, 20), (2, 20), (1, 100), (1300, 10**5)])
def test_fewer_episodes_than_actions_have_a_bound(K, A):
    """Its equation is steep there: nearly all of the gap of a guess is left."""
    for gamma in (0.52, 0.9, 0.99):
        epsilon = 0.3 * (1 - gamma) / gamma
        bound = imitation.lower_bound_K(K, A, gamma, epsilon)
        guess = imitation.lower_bound_K(0, A, gamma, epsilon)
        assert 0.85 * guess < bound < guess
        assert imitation.lower_bound_K(K, A, gamma) >= bound


def test_more_episodes_help_and_more_actions_do_not():
    for epsilon in (0.05, None):
        bounds = [imitation.lower_bound_K(K, 4, 0.9, epsilon) for K in (1, 2, 10, 100, 10**4)]
        assert bounds == sorted(set(bounds), reverse=True)
        bounds = [imitation.lower_bound_K(20, A, 0.9, epsilon) for A in (2, 3, 10, 100)]
        assert bounds == sorted(set(bounds))
    assert imitation.lower_bound_K(100, 4, 0.9, epsilon=0.0) == 0
    assert imitation.lower_bound_K(10**9, 4, 0.9, epsilon=0.1) == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"gamma": 0.4}, "gamma = 0.4 must be at least 1/2"),
        ({"gamma": 1.0}, "gamma = 1 is outside"),
        ({"tau_E": 0}, "tau_E = 0 must be at least 1"),
        ({"W_max": 0.0}, "W_max = 0 must be positive"),
        ({"epsilon": 0.12}, r"epsilon = 0.12 is outside \[0, delta\] = \[0, 0.111111\]"),
    ],
)
def test_what_the_bound_on_expert_samples_assumes_is_checked(change, message):
    with pytest.raises(ValueError, match=message):
        imitation.lower_bound_tau_E(**{"tau_E": 10, "gamma": 0.9, **change})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"gamma": 0.4}, "gamma = 0.4 must be at least 1/2"),
        ({"K": -1}, "K = -1 must be at least 0"),
        ({"K": 0}, "K = 0 must be at least 1"),  # without play there is no hardest epsilon
        ({"n_actions": 1}, "n_actions = 1 must be at least 2"),
        ({"epsilon": 1 / 9}, r"epsilon = 0.111111 is outside \[0, delta\) = \[0, 0.111111\)"),
    ],
)
def test_what_the_bound_on_episodes_assumes_is_checked(change, message):
    with pytest.raises(ValueError, match=message):
        imitation.lower_bound_K(**{"K": 10, "n_actions": 3, "gamma": 0.9, **change})
