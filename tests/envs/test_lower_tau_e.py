"""Appendix E, proof of Theorem LowerTauE: its closed forms, held against exact solves."""

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from optimist.envs import LowerTauE

EXACT = 1e-10


@st.composite
def members(draw):
    gamma = draw(st.floats(0.5, 0.999))
    epsilon = draw(st.floats(0, 1)) * (1 - gamma) / gamma
    n_actions = draw(st.integers(2, 6))
    special = draw(st.integers(0, n_actions - 1))
    w_max = draw(st.floats(0.01, 1))
    return LowerTauE(draw(st.sampled_from([0, 1])), n_actions, special, epsilon, w_max, gamma)


def over_members(test):
    corners = [
        LowerTauE(0, 2, 0, 1.0, 1.0, 0.5),
        LowerTauE(1, 2, 1, 0.0, 0.3, 0.5),
        LowerTauE(1, 6, 5, 0.001, 1.0, 0.999),
    ]
    for corner in corners:
        test = example(corner)(test)
    return settings(max_examples=50)(given(members())(test))


def delta_of(world):
    return (1 - world.gamma) / world.gamma


def close(actual, expected):
    assert_allclose(actual, expected, rtol=EXACT, atol=EXACT)


def random_policies(world, n=20):
    """Policies, and how often each plays a* in x_0: the alpha of the proof."""
    rng = np.random.default_rng(5)
    alpha = np.append(rng.random(n - 2), [0, 1])
    policies = rng.dirichlet(np.ones(world.n_actions), size=(n, 2))
    others = rng.dirichlet(np.ones(world.n_actions - 1), size=n)
    policies[:, 0] = np.insert((1 - alpha)[:, None] * others, world.special, alpha, axis=1)
    return policies, alpha


@over_members
def test_the_arrays_are_those_of_the_definition(world):
    """Member i pays w_max in x_i, whatever the action."""
    delta, epsilon, special = delta_of(world), world.epsilon, world.special
    P = world.mdp.P
    close(P[1], np.tile([delta, 1 - delta], (world.n_actions, 1)))
    others = np.delete(P[0], special, axis=0)
    close(others, np.tile([1 - delta, delta], (world.n_actions - 1, 1)))
    close(P[0, special], [1 - delta + epsilon, delta - epsilon])
    assert_array_equal(world.mdp.nu0, [0.5, 0.5])
    r = np.zeros((2, world.n_actions))
    r[world.member] = world.w_max
    assert_array_equal(world.mdp.r, r)


@over_members
def test_occupancies_of_both_experts(world):
    """ "Solving these linear systems using Cramer's rule, we obtain"."""
    gamma, epsilon, delta = world.gamma, world.epsilon, delta_of(world)
    denominator = 2 * (1 - gamma - gamma * epsilon + 2 * gamma * delta)
    of_first = [
        (1 - gamma + 2 * gamma * delta) / denominator,
        (1 - gamma - 2 * gamma * epsilon + 2 * gamma * delta) / denominator,
    ]
    expected = of_first if world.member == 0 else [0.5, 0.5]
    close(world.mdp.state_occupancy(world.expert), expected)


@over_members
def test_occupancies_of_any_policy(world):
    """nu(pi) of an arbitrary policy, by alpha = pi(a* | x_0) alone."""
    gamma, epsilon, delta = world.gamma, world.epsilon, delta_of(world)
    policies, alpha = random_policies(world)
    denominator = 2 * (1 - gamma - gamma * alpha * epsilon + 2 * gamma * delta)
    nu = world.mdp.state_occupancy(policies)
    close(nu[:, 0], (1 - gamma + 2 * gamma * delta) / denominator)
    close(nu[:, 1], (1 - gamma - 2 * gamma * alpha * epsilon + 2 * gamma * delta) / denominator)


@over_members
def test_what_a_policy_lacks_of_its_expert(world):
    """Equation (appE2-diffx0) for member 0, (appE2-diffx1) for member 1."""
    gamma, epsilon = world.gamma, world.epsilon
    policies, alpha = random_policies(world)
    nu = world.mdp.state_occupancy(policies)
    lacking = world.mdp.state_occupancy(world.expert)[world.member] - nu[:, world.member]
    if world.member == 0:
        numerator = 3 * (1 - gamma) * gamma * epsilon * (1 - alpha)
        denominator = (3 * (1 - gamma) - gamma * epsilon) * (
            3 * (1 - gamma) - gamma * alpha * epsilon
        )
        bound = epsilon * (1 - alpha) / (12 * (1 - gamma))
    else:
        numerator = gamma * alpha * epsilon
        denominator = 3 * (1 - gamma) - gamma * alpha * epsilon
        bound = epsilon * alpha / (12 * (1 - gamma))
    close(lacking, numerator / (2 * denominator))
    assert (lacking >= bound - EXACT).all()


@over_members
def test_values_lost_are_occupancies_lacking(world):
    """Equation (appE2-average-return), for one member."""
    policies, _ = random_policies(world)
    nu = world.mdp.state_occupancy(policies)
    lacking = world.mdp.state_occupancy(world.expert)[world.member] - nu[:, world.member]
    lost = world.mdp.value(world.expert) - world.mdp.value(policies)
    assert_allclose((1 - world.gamma) * lost, world.w_max * lacking, rtol=EXACT, atol=EXACT)


@over_members
def test_each_expert_is_optimal_and_only_the_first_plays_the_special_action(world):
    best = world.mdp.optimal()
    assert abs(world.mdp.suboptimality(world.expert)) <= EXACT * best.value
    assert set(np.unique(world.expert)) == {0, 1}
    assert_array_equal(world.expert.sum(axis=1), [1, 1])
    assert_array_equal(world.expert[:, world.special], [world.member == 0] * 2)


def test_the_pair_shares_its_dynamics_and_differs_in_the_reward_alone():
    first, second = LowerTauE.pair(3, 0.04, 0.95, w_max=0.7)
    assert (first.member, second.member) == (0, 1)
    assert (first.n_actions, first.epsilon, first.gamma, first.w_max) == (3, 0.04, 0.95, 0.7)
    assert_array_equal(first.mdp.P, second.mdp.P)
    assert_array_equal(first.mdp.nu0, second.mdp.nu0)
    assert first.mdp.gamma == second.mdp.gamma == 0.95
    assert_array_equal(first.mdp.r, second.mdp.r[::-1])
    assert (first.mdp.r != second.mdp.r).all()


def test_the_first_expert_is_seen_a_little_more_often_in_x0():
    """The Delta of the proof's idea: nu(pi_E^0, x_0) = 1/2 + Delta, nu(pi_E^1, x_0) = 1/2."""
    first, second = LowerTauE.pair(2, 0.01, 0.9)
    assert first.w_max == second.w_max == 1.0
    excess = 0.9 * 0.01 / (2 * (3 * 0.1 - 0.9 * 0.01))
    close(first.mdp.state_occupancy(first.expert)[0], 0.5 + excess)
    close(second.mdp.state_occupancy(second.expert)[0], 0.5)
