"""Appendix E, proof of Theorem LowerK: its closed forms, held against exact solves.

The formulas are those of the proof in the order of the text, with delta_0 = delta_1 = delta.
"""

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from optimist.envs import LowerK

EXACT = 1e-10


@st.composite
def members(draw):
    gamma = draw(st.floats(0.5, 0.999))
    epsilon = draw(st.floats(0, 0.999)) * (1 - gamma) / gamma
    n_actions = draw(st.integers(2, 6))
    return LowerK(n_actions, draw(st.integers(0, n_actions - 1)), epsilon, gamma)


def over_members(test):
    corners = [LowerK(2, 0, 0.999, 0.5), LowerK(2, 1, 0.0, 0.5), LowerK(6, 5, 0.001, 0.999)]
    for corner in corners:
        test = example(corner)(test)
    return settings(max_examples=50)(given(members())(test))


def delta_of(world):
    return (1 - world.gamma) / world.gamma


def diamond(world):
    """The underbraced denominator of the difference of Q-values."""
    gamma, epsilon, delta = world.gamma, world.epsilon, delta_of(world)
    return (1 - gamma * (1 - delta + epsilon)) * (1 - gamma * (1 - delta)) - gamma**2 * delta * (
        delta - epsilon
    )


def close(actual, expected, scale=1.0):
    assert_allclose(actual, expected, rtol=EXACT, atol=EXACT * scale)


def random_policies(world, n=20):
    return np.random.default_rng(5).dirichlet(np.ones(world.n_actions), size=(n, 2))


@over_members
def test_the_transitions_are_those_of_the_definition(world):
    delta, epsilon, special = delta_of(world), world.epsilon, world.special
    P = world.mdp.P
    close(P[1], np.tile([delta, 1 - delta], (world.n_actions, 1)))
    others = np.delete(P[0], special, axis=0)
    close(others, np.tile([1 - delta, delta], (world.n_actions - 1, 1)))
    close(P[0, special], [1 - delta + epsilon, delta - epsilon])
    assert_array_equal(world.mdp.r, [[1] * world.n_actions, [0] * world.n_actions])
    assert_array_equal(world.mdp.nu0, [1, 0])


@over_members
def test_occupancy_of_the_expert(world):
    """ "which we can rearrange to get" nu(pi_E, x_0), and by normalisation nu(pi_E, x_1)."""
    gamma, epsilon, delta = world.gamma, world.epsilon, delta_of(world)
    denominator = 1 - gamma + gamma * delta + gamma * delta - gamma * epsilon
    expected = np.array([1 - gamma + gamma * delta, gamma * delta - gamma * epsilon]) / denominator
    close(world.mdp.state_occupancy(world.expert), expected)


@over_members
def test_occupancy_of_a_bad_policy_is_two_thirds_and_the_least(world):
    """nu(pi_bad), "the choice of delta_0 and delta_1 implies nu(pi_bad, x_0) = 2/3"."""
    gamma, delta = world.gamma, delta_of(world)
    bad = np.tile(np.eye(world.n_actions)[(world.special + 1) % world.n_actions], (2, 1))
    denominator = 1 - gamma + gamma * delta + gamma * delta
    nu = world.mdp.state_occupancy(bad)
    close(nu, np.array([1 - gamma + gamma * delta, gamma * delta]) / denominator)
    close(nu, [2 / 3, 1 / 3])
    assert (world.mdp.state_occupancy(random_policies(world))[:, 0] >= 2 / 3 - EXACT).all()


@over_members
def test_values_of_the_expert(world):
    """Equation (q-x0-astar) and the value at (x_1, a*) deduced from it."""
    gamma, delta = world.gamma, delta_of(world)
    Q = world.mdp.Q(world.expert)
    close(Q[0, world.special], (1 - gamma * (1 - delta)) / diamond(world))
    close(Q[1, world.special], gamma * delta / diamond(world))
    close(Q[1], np.full(world.n_actions, Q[1, world.special]))


@over_members
def test_the_other_actions_lose_what_the_proof_says(world):
    """Q(x_0, a*) - Q(x_0, a) = gamma epsilon (1 - gamma) / diamond, at least gamma eps / 3(1-g)."""
    gamma, epsilon = world.gamma, world.epsilon
    Q = world.mdp.Q(world.expert)
    gap = Q[0, world.special] - np.delete(Q[0], world.special)
    expected = gamma * epsilon * (1 - gamma) / diamond(world)
    close(gap, np.full(world.n_actions - 1, expected), scale=Q.max())
    close(gap, gamma * epsilon * (Q[0, world.special] - Q[1, world.special]), scale=Q.max())
    assert (gap >= gamma * epsilon / (3 * (1 - gamma)) - EXACT * Q.max()).all()


@over_members
def test_the_denominator_and_its_expansion(world):
    """(diamond) expanded, and (diamond) <= 3 (1 - gamma)^2 with the chosen delta."""
    gamma, epsilon, delta = world.gamma, world.epsilon, delta_of(world)
    expansion = (1 - gamma) ** 2 + (2 * gamma * delta - gamma * epsilon) * (1 - gamma)
    assert_allclose(diamond(world), expansion, rtol=EXACT)
    assert diamond(world) <= 3 * (1 - gamma) ** 2 * (1 + EXACT)
    # And the exact solve agrees: the determinant of I - gamma P_E is (diamond).
    P_expert = world.mdp.P[:, world.special]
    assert_allclose(np.linalg.det(np.eye(2) - gamma * P_expert), diamond(world), rtol=EXACT)


@over_members
def test_every_policy_loses_in_proportion_to_how_seldom_it_plays_the_special_action(world):
    """The chain ending in (1 - pi(a* | x_0)) epsilon / 9(1 - gamma), with the lemma before it."""
    gamma, epsilon, mdp = world.gamma, world.epsilon, world.mdp
    policies = random_policies(world)
    lost = (mdp.occupancy(world.expert) - mdp.occupancy(policies)) * mdp.r
    lost = lost.sum(axis=(1, 2))
    Q = mdp.Q(world.expert)
    lemma = mdp.occupancy(policies) * (Q[:, [world.special]] - Q)
    close(lost, lemma.sum(axis=(1, 2)), scale=Q.max())
    others = 1 - policies[:, 0, world.special]
    assert (lost >= others * epsilon / (9 * (1 - gamma)) - EXACT).all()


@over_members
def test_the_expert_always_plays_the_special_action_and_is_optimal(world):
    expected = np.zeros((2, world.n_actions))
    expected[:, world.special] = 1
    assert_array_equal(world.expert, expected)
    best = world.mdp.optimal()
    assert abs(world.mdp.suboptimality(world.expert)) <= EXACT * best.value


def test_the_special_action_is_the_only_optimal_one_in_x0():
    for world in LowerK.family(5, 0.05, 0.9):
        Q = world.mdp.optimal().Q
        assert np.flatnonzero(Q[0] > Q[0].max() - EXACT).tolist() == [world.special]


def test_the_family_has_a_member_for_each_place_of_the_special_action():
    for n_actions in (2, 3, 7):
        family = LowerK.family(n_actions, 0.02, 0.95)
        assert family == [LowerK(n_actions, a, 0.02, 0.95) for a in range(n_actions)]
        stays = np.array([world.mdp.P[0, :, 0] for world in family])
        close(stays, 1 - 0.05 / 0.95 + 0.02 * np.eye(n_actions))


def test_without_epsilon_all_actions_are_alike():
    P = LowerK(3, 1, 0.0, 0.9).mdp.P
    assert_array_equal(P[:, 0], P[:, 1])
    assert_array_equal(P[:, 0], P[:, 2])
