"""The regret of the rewards, held against its proof and against simulated descents."""

import itertools
import math
from functools import partial

import numpy as np
import pytest

from optimist.theory import imitation

BOUNDS = imitation.reward_regret_bound, imitation.reward_regret_bound_sharp
USUAL = {"K": 50, "gamma": 0.9, "B": 1.0, "W_max": 1.0, "R_max": 1.0, "tau_E": 20, "delta": 0.1}

close = partial(np.testing.assert_allclose, rtol=1e-12, atol=0)


def test_the_numbers_at_one_point():
    close(imitation.step(K=25, W_max=3.0, B=2.0), 3 / (2 * 5))
    log = math.log(10)
    given = {"K": 25, "gamma": 0.75, "B": 2.0, "W_max": 3.0, "R_max": 5.0, "tau_E": 9, "delta": 0.1}
    stated = 4 * (10 * 11 * 5 * math.sqrt(log) + 24 * 3 * 25 * 2 * math.sqrt(log) / 3)
    close(imitation.reward_regret_bound(**given), stated)
    sharp = (
        2.5 * 6 * 5 + 5 * math.sqrt(8 * 25 * log) + 2 * 3 * 25 * 2 * (1 + math.sqrt(2 * log)) / 3
    )
    close(imitation.reward_regret_bound_sharp(**given), 4 * sharp)


def test_the_theorem_follows_from_the_sharp_bound_wherever_it_says_anything():
    sizes = itertools.product(
        [1, 100, 10**6],
        [0.0, 0.99],
        *[[0.1, 1.0, 10.0]] * 3,
        [1, 50, math.inf],
        [0.499, 0.1, 1e-15],
    )
    for given in sizes:
        K, gamma, B, W_max, *_ = given
        anywhere = 1.5 * B * W_max * math.sqrt(K) / (1 - gamma)  # 4 instead of 5/2
        sharp = imitation.reward_regret_bound_sharp(*given)
        assert sharp + anywhere <= imitation.reward_regret_bound(*given), given


def test_an_expert_known_exactly_costs_nothing_and_more_samples_cost_less():
    for bound in BOUNDS:
        costs = [bound(**{**USUAL, "tau_E": n}) for n in (1, 10, 10**12, math.inf)]
        assert costs == sorted(costs, reverse=True)
        close(costs[2], costs[3], rtol=1e-3)
        known = costs[-1]
        close(bound(**{**USUAL, "tau_E": 5}) - known, 2 * (bound(**USUAL) - known))


def descend(gradients, W, eta):
    """w_0 = 0 and the points after each step, in a ball of radius W."""
    points = [np.zeros(gradients.shape[1])]
    for g in gradients:
        w = points[-1] - eta * g
        points.append(w * min(1, W / max(np.linalg.norm(w), 1e-300)))
    return np.array(points)


@pytest.mark.parametrize("adversary", ["random", "alternating", "steady", "against the step"])
def test_the_descent_and_the_shift_of_the_noise_cost_five_halves(adversary):
    """The first term: sum <g_k, w_k - w> + sum <xi_k, w_k - w_{k-1}> <= (5/2) B W_max sqrt K."""
    K, B, W, rng = 400, 1.5, 2.0, np.random.default_rng(0)
    eta = imitation.step(K, W, B)
    phi = rng.normal(size=(K, 3))
    if adversary == "alternating":
        phi = np.array([[1.0, 0, 0], [-1.0, 0, 0]])[np.arange(K) % 2]
    if adversary in ("steady", "against the step"):
        phi = np.tile([1.0, 0, 0], (K, 1))
    phi = B * phi / np.linalg.norm(phi, axis=1, keepdims=True)
    points = descend(phi + phi[0], W, eta)  # lambda^ = -phi_1
    moves = np.diff(points, axis=0)
    xi = -2 * phi  # lambda(pi_k) = -phi_k, as far as can be
    if adversary == "against the step":
        norms = np.linalg.norm(moves, axis=1, keepdims=True)
        xi = 2 * B * moves / np.maximum(norms, 1e-300)
    direction = -(phi + phi[0]).sum(axis=0)
    best = W * direction / np.linalg.norm(direction)
    cost = ((phi + phi[0]) * (points[1:] - best)).sum() + (xi * moves).sum()
    assert cost <= 2.5 * B * W * math.sqrt(K)


def test_an_expert_is_estimated_as_well_as_the_third_term_says():
    """On orthogonal features, which are the hardest in the mean, and on two opposite ones."""
    rng, runs = np.random.default_rng(0), 20_000
    for tau_E, delta in itertools.product([1, 7, 100], [0.3, 0.01]):
        counts = rng.multinomial(tau_E, np.full(30, 1 / 30), size=runs)
        orthogonal = np.linalg.norm(counts / tau_E - 1 / 30, axis=1)
        opposite = np.abs(2 * rng.binomial(tau_E, 0.5, size=runs) / tau_E - 1)
        known, sampled = (
            imitation.reward_regret_bound_sharp(**{**USUAL, "tau_E": n, "delta": delta})
            for n in (math.inf, tau_E)
        )
        radius = (sampled - known) / (2 * 50 * 10)
        noise = 4 * math.sqrt(delta / runs)
        assert (orthogonal > radius).mean() <= delta + noise
        assert (opposite > radius).mean() <= delta + noise
        assert radius < 5 * np.quantile(np.maximum(orthogonal, opposite), 1 - delta)


def test_a_game_of_noisy_features_keeps_to_the_sharp_bound():
    """Features +B or -B; policies drift with the weights, as those of a learner do."""
    K, B, W, tau_E, delta, rng = 300, 1.5, 2.0, 50, 0.2, np.random.default_rng(1)
    eta, regrets = imitation.step(K, W, B), []
    bound = imitation.reward_regret_bound_sharp(K, 0.0, B, W, B * W, tau_E, delta)
    for _ in range(200):
        estimate = B * (2 * rng.binomial(tau_E, 0.5) / tau_E - 1)  # of lambda(pi_E) = 0
        w, policy, terms = 0.0, 0.0, []
        for _ in range(K):
            phi = B if rng.random() < (1 + policy) / 2 else -B  # lambda(pi_k) = policy B
            w = min(max(w + eta * (estimate - phi), -W), W)
            terms.append((policy * B, w))
            policy = min(max(policy + 0.1 * w / W, -1), 1)
        gains, weights = np.array(terms).T
        regrets.append(max((gains * (weights - true)).sum() for true in (-W, W)))
    assert np.mean(np.array(regrets) > bound) <= 2 * delta
    assert max(regrets) > bound / 20  # the bound is not met by being absurd


def test_what_the_theorem_on_rewards_assumes_is_checked():
    for change, message in (
        ({"delta": 0.5}, r"delta must be in \(0, 1/2\).*; got 0.5"),
        ({"delta": 0.0}, r"delta must be in \(0, 1/2\).*; got 0"),
        ({"K": 0}, "K must be at least 1; got 0"),
        ({"tau_E": 0}, "tau_E must be at least 1; got 0"),
        ({"gamma": 1.0}, r"gamma must be in \[0, 1\); got 1"),
        ({"B": 0.0}, "B must be positive; got 0"),
        ({"W_max": -1.0}, "W_max must be positive; got -1"),
        ({"R_max": 0.0}, "R_max must be positive; got 0"),
    ):
        for bound in BOUNDS:
            with pytest.raises(ValueError, match=message):
                bound(**{**USUAL, **change})
    with pytest.raises(ValueError, match="K must be at least 1; got 0"):
        imitation.step(0, 1.0, 1.0)
    with pytest.raises(ValueError, match="B must be positive; got 0"):
        imitation.step(10, 1.0, 0.0)
