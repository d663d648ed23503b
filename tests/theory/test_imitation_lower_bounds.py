"""No learner beats the lower bounds: best tests, exact values and simulations on their worlds."""

import itertools
import math
from functools import partial

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import binom

from optimist.envs import LowerK, LowerTauE
from optimist.theory.lower_bounds import (
    hardest_epsilon_K,
    hardest_epsilon_tau_E,
    lower_bound_K,
    lower_bound_tau_E,
    printed_bound_K,
    printed_bound_tau_E,
)

close = partial(np.testing.assert_allclose, rtol=1e-12, atol=0)

GAMMAS = 0.5, 0.8, 0.99


def leaving(gamma):
    """Delta, the probability to leave x_0: the largest epsilon."""
    return (1 - gamma) / gamma


# The lower bound on expert samples


def pairs(n_actions, w_max):
    for gamma, share in itertools.product(GAMMAS, [0.1, 0.6, 1.0]):
        yield gamma, LowerTauE.pair(n_actions, share * leaving(gamma), gamma, w_max=w_max)


def test_no_test_of_the_pair_beats_the_bound_and_the_best_meets_it():
    """All thresholds on the number of states x_0, and their converses, by exact probabilities."""
    for gamma, pair in pairs(3, w_max=0.7):
        gaps = np.array(
            [[w.mdp.value(w.expert) - w.mdp.value(v.expert) for v in pair] for w in pair]
        )
        p = [world.mdp.state_occupancy(world.expert)[0] for world in pair]
        for tau_E in (1, 2, 5, 40):
            below = np.array([binom.cdf(np.arange(-1, tau_E + 1), tau_E, q) for q in p])
            above_is_0 = below[0] * gaps[0, 1] + (1 - below[1]) * gaps[1, 0]
            above_is_1 = (1 - below[0]) * gaps[0, 1] + below[1] * gaps[1, 0]
            bound = lower_bound_tau_E(tau_E, gamma, 0.7, epsilon=pair[0].epsilon)
            close(min(above_is_0.min(), above_is_1.min()) / 2, bound, rtol=1e-8)


def test_no_policy_for_each_count_beats_the_bound_even_if_it_hedges():
    """Each count answered by the best of many mixed policies, not only by the two experts."""
    tau_E, alpha = 6, np.linspace(0, 1, 101)
    policies = np.full((101, 2, 2), 0.5)
    policies[:, 0] = np.stack([alpha, 1 - alpha], axis=1)
    for gamma, pair in pairs(2, w_max=1.0):
        gaps = np.array([w.mdp.value(w.expert) - w.mdp.value(policies) for w in pair])
        close(gaps.sum(axis=0).min(), gaps.sum(axis=0).max(), rtol=1e-7)  # g_0 + g_1 is constant
        p = [world.mdp.state_occupancy(world.expert)[0] for world in pair]
        likelihood = np.array([binom.pmf(np.arange(tau_E + 1), tau_E, q) for q in p])
        best = (likelihood.T @ gaps).min(axis=1).sum() / 2
        close(best, lower_bound_tau_E(tau_E, gamma, epsilon=pair[0].epsilon), rtol=1e-7)


def test_no_pair_is_harder_than_the_hardest():
    for tau_E, gamma in itertools.product([1, 6, 8, 30, 1000], [0.5, 0.95]):
        epsilon, curve = hardest_epsilon_tau_E(tau_E, gamma), lower_bound_tau_E(tau_E, gamma)
        close(curve, lower_bound_tau_E(tau_E, gamma, epsilon=epsilon))
        grid = leaving(gamma) * np.linspace(0, 1, 400)
        most = max(lower_bound_tau_E(tau_E, gamma, epsilon=e) for e in grid)
        assert curve * (1 + 1e-9) >= most > 0.99 * curve
        assert LowerTauE(epsilon=epsilon, gamma=gamma).mdp.gamma == gamma  # the world accepts it


def test_the_curve_falls_with_the_root_of_the_samples():
    """In the limit it is max_x x Phi(-x) H W_max / sqrt(tau_E), at Delta = x / sqrt(tau_E)."""
    x = np.linspace(0.7, 0.8, 10_001)
    limit = (x * ndtr(-x)).max()
    for tau_E, error in ((100, 1e-2), (10**4, 1e-3), (10**10, 1e-6)):
        for gamma in (0.5, 0.9, 0.999):
            curve = lower_bound_tau_E(tau_E, gamma, W_max=3.0)
            close(curve, 3 * limit / ((1 - gamma) * math.sqrt(tau_E)), rtol=error)


def test_more_samples_help_and_a_pair_without_a_difference_costs_nothing():
    for epsilon in (0.05, None):
        bounds = [lower_bound_tau_E(n, 0.9, epsilon=epsilon) for n in (1, 2, 3, 10, 100, 10**6)]
        assert bounds == sorted(bounds, reverse=True)
    assert lower_bound_tau_E(5, 0.9, epsilon=0.0) == 0
    close(lower_bound_tau_E(1, 0.9), 10 / 8 * 0.75)  # Delta = 1/4, and TV = 1/4
    assert lower_bound_tau_E(10**6, 0.9, epsilon=0.1) < 1e-300


# The lower bound on episodes


def families():
    """Gamma, and a family of worlds that differ in their special action alone."""
    for gamma, n_actions, share in itertools.product(GAMMAS, [2, 5], [0.1, 0.9]):
        yield gamma, LowerK.family(n_actions, share * leaving(gamma), gamma)


def test_without_play_the_bound_is_the_gap_of_a_guess():
    """And a policy that seldom plays the special action loses in proportion."""
    for gamma, family in families():
        world, A = family[0], len(family)
        value = world.mdp.value(world.expert)
        bound = lower_bound_K(0, A, gamma, epsilon=world.epsilon)
        gaps = [value - world.mdp.value(guess.expert) for guess in family]
        close(np.mean(gaps), bound, rtol=1e-7)
        policies = np.random.default_rng(0).dirichlet(np.ones(A), size=(200, 2))
        least = (1 - policies[:, 0, 0]) * bound / (1 - 1 / A)
        assert (value - world.mdp.value(policies) >= least * (1 - 1e-7)).all()


def test_the_probability_of_the_right_action_solves_its_equation():
    """With the visits to x_0 counted in the reference world by exact solves."""
    for gamma, (world, *others) in families():
        A = 1 + len(others)
        reference = LowerK(A, 0, 0.0, gamma).mdp
        visits = reference.state_occupancy(reference.uniform_policy)[0] / (1 - gamma)
        p, q = reference.P[0, 0], world.mdp.P[0, 0]
        kl = sum(a * math.log(a / b) for a, b in zip(p, q, strict=True) if a > 0)
        loss = lower_bound_K(0, A, gamma, world.epsilon) / (1 - 1 / A)
        for K in (1, 10):
            miss = lower_bound_K(K, A, gamma, world.epsilon) / loss
            found = math.log(1 / A / (1 - miss)) / A + (1 - 1 / A) * math.log((1 - 1 / A) / miss)
            close(found, K * visits * kl / A, rtol=1e-6)


def play_and_commit(world, K, rng):
    """Play all actions alike for K episodes, then the one likeliest to be special, for ever."""
    P, A, gamma, epsilon = world.mdp.P, world.n_actions, world.gamma, world.epsilon
    delta = leaving(gamma)
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
    family = LowerK.family(n_actions, hardest_epsilon_K(K, n_actions, gamma), gamma)
    gaps = []
    for run in range(runs):
        world = family[run % n_actions]
        out = family[play_and_commit(world, K, rng)].expert
        gaps.append(float(world.mdp.value(world.expert) - world.mdp.value(out)))
    noise = np.std(gaps) / math.sqrt(runs)
    bound = lower_bound_K(K, n_actions, gamma)
    assert np.mean(gaps) >= bound - 3 * noise
    assert np.mean(gaps) < 2.5 * bound  # and the bound is no small part of what is possible


def test_no_family_has_a_larger_bound_than_the_hardest():
    for K, gamma in itertools.product([1, 30, 10**4], [0.5, 0.95]):
        epsilon, curve = hardest_epsilon_K(K, 3, gamma), lower_bound_K(K, 3, gamma)
        close(curve, lower_bound_K(K, 3, gamma, epsilon=epsilon))
        grid = leaving(gamma) * np.geomspace(1e-6, 0.999, 1000)
        most = max(lower_bound_K(K, 3, gamma, epsilon=e) for e in grid)
        assert curve * (1 + 1e-9) >= most > 0.99 * curve
        assert LowerK(3, epsilon=epsilon, gamma=gamma).mdp.gamma == gamma  # the world accepts it


def test_with_two_actions_the_curve_falls_with_the_root_of_the_episodes():
    """kl(1/2, q) = y^2 has 1 - q = (1 - sqrt(1 - exp(-2 y^2))) / 2, and epsilon is small."""
    y = np.linspace(0.01, 2, 10_001)
    best = (y * (1 - np.sqrt(1 - np.exp(-2 * y**2))) / 2).max()
    for gamma in (0.7, 0.9, 0.999):
        limit = 2 / 9 * math.sqrt(3 * 2 * (2 * gamma - 1)) * best / (1 - gamma)
        for K, error in ((10**6, 2e-2), (10**10, 2e-4), (10**14, 1e-5)):
            close(lower_bound_K(K, 2, gamma) * math.sqrt(K), limit, rtol=error)
    # At gamma = 1/2 the curve falls as 1 / K, for one stay gives the special action away.
    close(lower_bound_K(10**6, 2, 0.5) / lower_bound_K(10**8, 2, 0.5), 100, rtol=1e-2)


def test_fewer_episodes_than_actions_have_a_bound():
    """Its equation is steep there: nearly all of the gap of a guess is left."""
    for K, A in ((1, 20), (2, 20), (1, 100), (1300, 10**5)):
        for gamma in (0.52, 0.9, 0.99):
            epsilon = 0.3 * leaving(gamma)
            bound, guess = (lower_bound_K(n, A, gamma, epsilon) for n in (K, 0))
            assert 0.85 * guess < bound < guess
            assert lower_bound_K(K, A, gamma) >= bound


def test_more_episodes_help_and_more_actions_do_not():
    for epsilon in (0.05, None):
        bounds = [lower_bound_K(K, 4, 0.9, epsilon) for K in (1, 2, 10, 100, 10**4)]
        assert bounds == sorted(set(bounds), reverse=True)
        bounds = [lower_bound_K(20, A, 0.9, epsilon) for A in (2, 3, 10, 100)]
        assert bounds == sorted(set(bounds))
    assert lower_bound_K(100, 4, 0.9, epsilon=0.0) == 0
    assert lower_bound_K(10**9, 4, 0.9, epsilon=0.1) == 0


# The bounds as printed


def test_the_printed_lower_bounds_are_below_the_sharp_ones():
    for gamma in (0.52, 0.67, 0.9, 0.99):
        for K, A in itertools.product([10, 1000, 10**6], [2, 20]):
            T = 2 / 3 * K / (1 - gamma)
            if gamma**2 * A * math.log(2) / (16 * (1 - gamma)) <= T:
                printed = printed_bound_K(T, A, gamma)
                close(printed, math.sqrt(A * math.log(2) / (1 - gamma) ** 3 / T) / 144)
                assert printed < lower_bound_K(K, A, gamma)
        for epsilon in (1e-3, 1e-2):
            tau = printed_bound_tau_E(epsilon, gamma)
            close(tau, 1 / (24 * math.e * (1 - gamma) * epsilon) ** 2)
            assert lower_bound_tau_E(math.ceil(100 * tau), gamma) > epsilon


def test_units():
    """Rewards times c: gaps times c, and as many samples for c times epsilon."""
    close(lower_bound_tau_E(50, 0.9, W_max=4.0), 4 * lower_bound_tau_E(50, 0.9))
    close(printed_bound_tau_E(0.4, 0.9, W_max=4.0), printed_bound_tau_E(0.1, 0.9))


def test_what_the_bounds_assume_is_checked():
    of_samples = partial(lower_bound_tau_E, tau_E=10, gamma=0.9)
    of_episodes = partial(lower_bound_K, K=10, n_actions=3, gamma=0.9)
    of_printed_K = partial(printed_bound_K, T=100, n_actions=2, gamma=0.9)
    of_printed_tau_E = partial(printed_bound_tau_E, epsilon=0.01, gamma=0.9)
    for bound, change, message in (
        (of_samples, {"gamma": 0.4}, "gamma must be at least 1/2.*; got 0.4"),
        (of_samples, {"gamma": 1.0}, r"gamma must be in \[0, 1\); got 1"),
        (of_samples, {"tau_E": 0}, "tau_E must be at least 1; got 0"),
        (of_samples, {"W_max": 0.0}, "W_max must be positive; got 0"),
        (of_samples, {"epsilon": 0.12}, r"epsilon must be in \[0, delta\] = \[0, 0.11.*got 0.12"),
        (of_episodes, {"gamma": 0.4}, "gamma must be at least 1/2"),
        (of_episodes, {"K": -1}, "K must be at least 0; got -1"),
        (of_episodes, {"K": 0}, "K must be at least 1; got 0"),  # there is no hardest epsilon
        (of_episodes, {"n_actions": 1}, "n_actions must be at least 2; got 1"),
        (of_episodes, {"epsilon": 1 / 9}, r"epsilon must be in \[0, delta\).*; got 0.111111"),
        (of_printed_K, {"T": 0.5}, r"T must be at least .* = 0\.7018.*; got 0\.5"),
        (of_printed_K, {"gamma": 0.51}, r"gamma must be at least 0\.52; got 0\.51"),
        (of_printed_tau_E, {"gamma": 0.4}, r"gamma must be at least 0\.5; got 0\.4"),
        (of_printed_tau_E, {"epsilon": 0.2}, r"epsilon must be at most .* = 0\.170.*; got 0\.2"),
    ):
        with pytest.raises(ValueError, match=message):
            bound(**change)
