"""E19 and E20: what PAPER.md says of the proofs of both lower bounds, in numbers."""

import itertools
import math

import numpy as np
import pytest
from scipy.special import kl_div
from scipy.stats import binom

from optimist.envs import LowerK, LowerTauE
from optimist.theory import lower_bounds, parameters


def kl(p, q):
    return kl_div(p, q).sum()


def bernoulli(p):
    return np.array([p, 1 - p])


def test_e19_the_divergence_of_the_hard_family():
    delta, epsilon = 0.1, 0.09
    exact = kl(bernoulli(delta), bernoulli(delta - epsilon))
    assert exact == pytest.approx(0.1445, abs=5e-5)
    assert epsilon**2 / (delta * math.log(2)) == pytest.approx(0.1169, abs=5e-5)
    assert exact <= epsilon**2 / ((delta - epsilon) * (1 - delta + epsilon))
    for gamma, holds in ((0.6, False), (0.61, True)):  # as epsilon goes to 0
        delta = (1 - gamma) / gamma
        epsilon = 1e-3 * delta
        exact = kl(bernoulli(delta), bernoulli(delta - epsilon))
        assert (exact <= epsilon**2 / (delta * math.log(2))) == holds


def test_e19_at_one_half_the_family_is_easier_than_the_theorem_says():
    """All other actions leave x_0 for sure: whoever tries each T / A times knows a* by a stay."""
    gamma, A, T = 0.5, 2, 1e7
    epsilon = np.exp(np.linspace(-25, -1e-3, 20_000))
    worth = 2 * gamma * epsilon / (3 * (1 - gamma) * (3 * (1 - gamma) - gamma * epsilon))
    mistaken = np.exp(T / A * np.log1p(-epsilon))
    printed = math.sqrt(A * math.log(2) / ((1 - gamma) ** 3 * T)) / 144
    assert (worth * mistaken).max() < printed / 100
    member = LowerK(A, 0, 0.3, gamma)
    bad = np.roll(member.expert, 1, axis=1)
    gap = member.mdp.value(member.expert) - member.mdp.value(bad)
    assert gap == pytest.approx(np.interp(0.3, epsilon, worth), rel=1e-4)
    fall = [lower_bounds.lower_bound_K(K, A, gamma) for K in (10**4, 4 * 10**4)]
    assert fall[0] / fall[1] == pytest.approx(4, rel=0.01)


def test_e19_near_one_half_it_fails_too():
    """Two actions, each tried T / 2 times; the one that stayed more often is kept."""
    gamma, T = 0.505, 10**6
    delta, n = (1 - gamma) / gamma, T // 2
    stays = np.arange(9_000, 11_000)  # of the 9,901 that are expected
    lost = []
    for epsilon in math.sqrt(delta * (1 - delta) / T) * np.linspace(0.2, 5, 25):
        other = binom(n, 1 - delta)
        mistaken = binom.pmf(stays, n, 1 - delta + epsilon) @ (
            other.sf(stays) + other.pmf(stays) / 2
        )
        worth = 2 * gamma * epsilon / (3 * (1 - gamma) * (3 * (1 - gamma) - gamma * epsilon))
        lost.append(worth * mistaken)
    printed = math.sqrt(2 * math.log(2) / ((1 - gamma) ** 3 * T)) / 144
    assert 0.9 * printed < max(lost) < 0.93 * printed


def test_e19_elsewhere_it_stands():
    """`lower_bound_K` over the printed bound, with (2/3) H K transitions from x_0 in K episodes."""
    gammas, found = [0.52, 0.53, 0.55, 0.6, 2 / 3, 0.9, 0.99], []
    for gamma in gammas:
        reference = LowerK(2, 0, 0.0, gamma).mdp
        assert reference.state_occupancy(reference.uniform_policy)[0] == pytest.approx(2 / 3)
        ratios = []
        for A in (2, 3, 20, 1000):
            few = math.ceil(3 * gamma**2 * A * math.log(2) / 32)  # where the printed bound begins
            for K in (few, 10 * few, 100 * few, 10**8):
                printed = lower_bounds.printed_bound_K(2 / 3 * reference.horizon * K, A, gamma)
                ratios.append(lower_bounds.lower_bound_K(K, A, gamma) / printed)
        found.append(min(ratios))
    assert (np.array(found) > np.array([1.04, 1.27, 1.64, 2.19, 2.40, 3.12, 3.37]) - 0.005).all()


def test_e19_the_limit_of_many_transitions_for_two_actions():
    """The ratio is 4 sqrt((2 gamma - 1) / log 2) by Pinsker, and 4.32 instead of 4 by kl."""
    for gamma in (0.52, 0.6, 0.9):
        H, K = parameters.horizon(gamma), 10**10
        printed = lower_bounds.printed_bound_K(2 / 3 * H * K, 2, gamma)
        falls = math.sqrt((2 * gamma - 1) / math.log(2))
        ratio = lower_bounds.lower_bound_K(K, 2, gamma) / printed
        assert ratio == pytest.approx(4.323 * falls, rel=1e-3)
        delta = (1 - gamma) / gamma
        epsilon = math.sqrt(delta * (1 - delta) / K) * np.linspace(0.01, 2, 2000)
        kl = epsilon**2 / (2 * delta * (1 - delta))
        by_pinsker = 0.5 - np.sqrt(2 / 3 * H * K * kl / 4)
        gap = (2 * gamma * epsilon * H**2 / 9 * by_pinsker).max()
        assert gap / printed == pytest.approx(4 * falls, rel=1e-3)


def test_e19_the_reference_world_has_another_expert():
    """Its own expert is in x_0 with probability 2/3; those of all members more often, and alike."""
    seen = [m.mdp.state_occupancy(m.expert)[0] for m in LowerK.family(3, 0.05, 0.9)]
    assert seen == pytest.approx([0.784] * 3, abs=5e-4)


def test_e20_the_pair_is_closer_than_printed():
    gamma, epsilon = 0.8, 0.1
    first, second = LowerTauE.pair(2, epsilon, gamma)
    delta = (1 - gamma) / gamma
    stay = 1 - gamma + gamma * delta
    flow = np.array([[stay - gamma * epsilon, -gamma * delta], [-gamma * (delta - epsilon), stay]])
    exact = first.mdp.state_occupancy(first.expert)
    system = np.linalg.solve(flow, first.mdp.nu0)  # as printed, and its solution as printed:
    printed = 3 * (1 - gamma) / (2 * (3 * (1 - gamma) - gamma * epsilon))
    assert system.sum() == pytest.approx(5)
    assert exact == pytest.approx([printed, 1 - printed])
    assert exact == pytest.approx([0.577, 0.423], abs=5e-4)
    np.testing.assert_allclose(np.linalg.solve(flow, (1 - gamma) * first.mdp.nu0), exact)
    shift = gamma * epsilon / (3 * (1 - gamma) - gamma * epsilon)
    assert 0.5 + shift == pytest.approx(0.6538, abs=5e-5)  # as printed in the divergence
    assert exact[0] == pytest.approx(0.5 + shift / 2)
    assert second.mdp.state_occupancy(second.expert)[0] == pytest.approx(0.5)


def test_e20_bretagnolle_and_huber_need_their_half():
    p, q = bernoulli(0.6), bernoulli(0.5)
    overlap = np.minimum(p, q).sum()  # the least of P(A) + Q(not A)
    assert math.exp(-kl(p, q)) / 2 <= overlap < math.exp(-kl(p, q))
    assert math.exp(-1 / 4) / 2 > math.exp(-1)  # the two slips cancel where the proof ends


def test_e20_the_theorem_stands():
    for gamma, part in itertools.product([0.5, 0.9, 0.99], [1, 3, 30]):
        epsilon = 1 / (24 * math.e * gamma * (1 - gamma)) / part
        few = int(lower_bounds.printed_bound_tau_E(epsilon, gamma))
        if few:
            assert lower_bounds.lower_bound_tau_E(few, gamma) > epsilon
