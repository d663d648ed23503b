"""Appendix E: the closed forms in the proofs of its two theorems, held against exact solves.

The formulas are those of the proofs in the order of the text, with delta_0 = delta_1 = delta.
"""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from reference.refusals import assert_refuses

from optimist.envs import LowerK, LowerTauE
from optimist.mdp import LinearMDP

EXACT = 1e-10
CORNERS = {
    LowerK: [LowerK(2, 0, 0.999, 0.5), LowerK(2, 1, 0.0, 0.5), LowerK(6, 5, 0.001, 0.999)],
    LowerTauE: [
        LowerTauE(0, 2, 0, 1.0, 1.0, 0.5),
        LowerTauE(1, 2, 1, 0.0, 0.3, 0.5),
        LowerTauE(1, 6, 5, 0.001, 1.0, 0.999),
    ],
}


@st.composite
def members(draw, family):
    """Worlds of a family: epsilon is below delta in LowerK, and at most delta in LowerTauE."""
    gamma, n_actions = draw(st.floats(0.5, 0.999)), draw(st.integers(2, 6))
    share = draw(st.floats(0, 0.999 if family is LowerK else 1))
    own = {}
    if family is LowerTauE:
        own = {"member": draw(st.sampled_from([0, 1])), "w_max": draw(st.floats(0.01, 1))}
    special, epsilon = draw(st.integers(0, n_actions - 1)), share * (1 - gamma) / gamma
    return family(n_actions=n_actions, special=special, epsilon=epsilon, gamma=gamma, **own)


def over(*families):
    """A test of worlds of these families, the corners of their parameters among them."""

    def decorate(test):
        for family in families:
            for corner in CORNERS[family]:
                test = example(corner)(test)
        worlds = st.one_of([members(family) for family in families])
        return settings(max_examples=50 * len(families))(given(worlds)(test))

    return decorate


each_family = pytest.mark.parametrize("family", [LowerK, LowerTauE])


def delta_of(world):
    return (1 - world.gamma) / world.gamma


def close(actual, expected, scale=1.0):
    assert_allclose(actual, expected, rtol=EXACT, atol=EXACT * scale)


def random_policies(world, n=20):
    """Policies, the last of them the expert, and the probabilities alpha of a* in x_0."""
    rng = np.random.default_rng(5)
    alpha = np.append(rng.random(n - 2), [0, 1])
    policies = rng.dirichlet(np.ones(world.n_actions), size=(n, 2))
    others = rng.dirichlet(np.ones(world.n_actions - 1), size=n)
    policies[:, 0] = np.insert((1 - alpha)[:, None] * others, world.special, alpha, axis=1)
    policies = np.append(policies, [world.expert], axis=0)
    return policies, policies[:, 0, world.special]


@over(LowerK, LowerTauE)
def test_the_arrays_are_those_of_the_definition(world):
    """LowerK pays 1 in x_0, and member i of LowerTauE pays w_max in x_i, whatever the action."""
    delta, epsilon, special = delta_of(world), world.epsilon, world.special
    P = world.mdp.P
    close(P[1], np.tile([delta, 1 - delta], (world.n_actions, 1)))
    others = np.delete(P[0], special, axis=0)
    close(others, np.tile([1 - delta, delta], (world.n_actions - 1, 1)))
    close(P[0, special], [1 - delta + epsilon, delta - epsilon])
    nu0, rewarded, paid = [1, 0], 0, 1.0
    if isinstance(world, LowerTauE):
        nu0, rewarded, paid = [0.5, 0.5], world.member, world.w_max
    assert_array_equal(world.mdp.nu0, nu0)
    assert_array_equal(world.mdp.r, paid * np.repeat(np.eye(2)[:, [rewarded]], world.n_actions, 1))


@over(LowerK, LowerTauE)
def test_the_expert_is_optimal_and_plays_the_special_action_unless_it_is_the_second(world):
    best = world.mdp.optimal()
    assert abs(world.mdp.suboptimality(world.expert)) <= EXACT * best.value
    assert set(np.unique(world.expert)) == {0, 1}
    assert_array_equal(world.expert.sum(axis=1), [1, 1])
    second = isinstance(world, LowerTauE) and world.member == 1
    assert_array_equal(world.expert[:, world.special], [not second] * 2)


@each_family
def test_they_are_linear_in_features_of_the_state_and_of_the_pair(family):
    for n_actions in (2, 3, 8):
        world = family(n_actions=n_actions)
        assert isinstance(world.mdp, LinearMDP)
        assert world.mdp.d == world.features.dim == 2 + 2 * n_actions
        Phi = world.features.all_actions([0, 1])
        assert_array_equal(Phi[..., :2], np.eye(2)[[[0] * n_actions, [1] * n_actions]])
        pairs = Phi[..., 2:].reshape(2 * n_actions, 2 * n_actions)
        assert_array_equal(pairs, np.eye(2 * n_actions))


# Theorem LowerK


def diamond(world):
    """The underbraced denominator of the difference of Q-values."""
    gamma, epsilon, delta = world.gamma, world.epsilon, delta_of(world)
    return (1 - gamma * (1 - delta + epsilon)) * (1 - gamma * (1 - delta)) - gamma**2 * delta * (
        delta - epsilon
    )


@over(LowerK)
def test_occupancy_of_the_expert(world):
    """ "which we can rearrange to get" nu(pi_E, x_0), and by normalisation nu(pi_E, x_1)."""
    gamma, epsilon, delta = world.gamma, world.epsilon, delta_of(world)
    denominator = 1 - gamma + gamma * delta + gamma * delta - gamma * epsilon
    expected = np.array([1 - gamma + gamma * delta, gamma * delta - gamma * epsilon]) / denominator
    close(world.mdp.state_occupancy(world.expert), expected)


@over(LowerK)
def test_occupancy_of_a_bad_policy_is_two_thirds_and_the_least(world):
    """nu(pi_bad), "the choice of delta_0 and delta_1 implies nu(pi_bad, x_0) = 2/3"."""
    gamma, delta = world.gamma, delta_of(world)
    bad = np.tile(np.eye(world.n_actions)[(world.special + 1) % world.n_actions], (2, 1))
    denominator = 1 - gamma + gamma * delta + gamma * delta
    nu = world.mdp.state_occupancy(bad)
    close(nu, np.array([1 - gamma + gamma * delta, gamma * delta]) / denominator)
    close(nu, [2 / 3, 1 / 3])
    policies, _ = random_policies(world)
    assert (world.mdp.state_occupancy(policies)[:, 0] >= 2 / 3 - EXACT).all()


@over(LowerK)
def test_values_of_the_expert(world):
    """Equation (q-x0-astar) and the value at (x_1, a*) deduced from it; what other actions lose.

    Q(x_0, a*) - Q(x_0, a) = gamma epsilon (1 - gamma) / diamond, at least gamma eps / 3(1 - gamma).
    """
    gamma, epsilon, delta = world.gamma, world.epsilon, delta_of(world)
    Q = world.mdp.Q(world.expert)
    best = Q[0, world.special]
    close(best, (1 - gamma * (1 - delta)) / diamond(world))
    close(Q[1], np.full(world.n_actions, gamma * delta / diamond(world)))
    gap = best - np.delete(Q[0], world.special)
    expected = gamma * epsilon * (1 - gamma) / diamond(world)
    close(gap, np.full(world.n_actions - 1, expected), scale=Q.max())
    close(gap, gamma * epsilon * (best - Q[1, world.special]), scale=Q.max())
    assert (gap >= gamma * epsilon / (3 * (1 - gamma)) - EXACT * Q.max()).all()


@over(LowerK)
def test_the_denominator_and_its_expansion(world):
    """(diamond) expanded, and (diamond) <= 3 (1 - gamma)^2 with the chosen delta."""
    gamma, epsilon, delta = world.gamma, world.epsilon, delta_of(world)
    expansion = (1 - gamma) ** 2 + (2 * gamma * delta - gamma * epsilon) * (1 - gamma)
    assert_allclose(diamond(world), expansion, rtol=EXACT)
    assert diamond(world) <= 3 * (1 - gamma) ** 2 * (1 + EXACT)
    # And the exact solve agrees: the determinant of I - gamma P_E is (diamond).
    P_expert = world.mdp.P[:, world.special]
    assert_allclose(np.linalg.det(np.eye(2) - gamma * P_expert), diamond(world), rtol=EXACT)


@over(LowerK)
def test_every_policy_loses_in_proportion_to_how_seldom_it_plays_the_special_action(world):
    """The chain ending in (1 - pi(a* | x_0)) epsilon / 9(1 - gamma), with the lemma before it."""
    mdp, (policies, alpha) = world.mdp, random_policies(world)
    lost = (mdp.occupancy(world.expert) - mdp.occupancy(policies)) * mdp.r
    lost = lost.sum(axis=(1, 2))
    Q = mdp.Q(world.expert)
    lemma = mdp.occupancy(policies) * (Q[:, [world.special]] - Q)
    close(lost, lemma.sum(axis=(1, 2)), scale=Q.max())
    assert (lost >= (1 - alpha) * world.epsilon / (9 * (1 - world.gamma)) - EXACT).all()


def test_the_family_has_a_member_for_each_place_of_the_special_action():
    for n_actions in (2, 3, 7):
        family = LowerK.family(n_actions, 0.02, 0.95)
        assert family == [LowerK(n_actions, a, 0.02, 0.95) for a in range(n_actions)]


# Theorem LowerTauE


@over(LowerTauE)
def test_occupancies_of_any_policy(world):
    """nu(pi) of an arbitrary policy, by alpha = pi(a* | x_0) alone.

    For the experts, with alpha = 1 and 0: "solving these linear systems using Cramer's rule".
    """
    gamma, epsilon, delta = world.gamma, world.epsilon, delta_of(world)
    policies, alpha = random_policies(world)
    denominator = 2 * (1 - gamma - gamma * alpha * epsilon + 2 * gamma * delta)
    nu = world.mdp.state_occupancy(policies)
    close(nu[:, 0], (1 - gamma + 2 * gamma * delta) / denominator)
    close(nu[:, 1], (1 - gamma - 2 * gamma * alpha * epsilon + 2 * gamma * delta) / denominator)


@over(LowerTauE)
def test_values_lost_are_occupancies_lacking(world):
    """Equations (appE2-diffx0) for member 0, (appE2-diffx1) for member 1, and for the values lost
    (appE2-average-return).
    """
    gamma, epsilon = world.gamma, world.epsilon
    policies, alpha = random_policies(world)
    nu = world.mdp.state_occupancy(policies)
    lacking = world.mdp.state_occupancy(world.expert)[world.member] - nu[:, world.member]
    lost = world.mdp.value(world.expert) - world.mdp.value(policies)
    close((1 - gamma) * lost, world.w_max * lacking)
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


def test_the_pair_shares_its_dynamics_and_differs_in_the_reward_alone():
    first, second = LowerTauE.pair(3, 0.04, 0.95, w_max=0.7)
    assert (first.member, second.member) == (0, 1)
    assert (first.n_actions, first.epsilon, first.gamma, first.w_max) == (3, 0.04, 0.95, 0.7)
    assert_array_equal(first.mdp.P, second.mdp.P)
    assert_array_equal(first.mdp.nu0, second.mdp.nu0)
    assert first.mdp.gamma == second.mdp.gamma == 0.95
    assert_array_equal(first.mdp.r, second.mdp.r[::-1])
    assert (first.mdp.r != second.mdp.r).all()
    assert [world.w_max for world in LowerTauE.pair(2, 0.01, 0.9)] == [1.0, 1.0]


# What they refuse


@each_family
def test_bad_parameters_are_refused(family):
    interval = r"\[0, delta\) = \[0, 0.1" if family is LowerK else r"\[0, delta\] = \[0, 0.1"
    nan = float("nan")
    bad = [({"gamma": gamma}, "gamma") for gamma in (1.0, 1.5, -0.1, nan)]
    bad += [
        ({"gamma": gamma}, f"gamma must be at least 1/2, .*; got {gamma:g}")
        for gamma in (0, 0.3, 0.4999999)
    ]
    bad += [({"epsilon": 0.5}, f"epsilon must be in {interval}.*; got 0.5")]
    bad += [({"epsilon": e, "gamma": 0.9}, "epsilon") for e in (-1e-9, 0.1112, nan)]
    bad += [({"n_actions": 3, "special": a}, f"special must be .*; got {a}$") for a in (-1, 3, 4)]
    bad += [({"n_actions": 1}, "n_actions must be at least 2; got 1")]
    not_whole = [({"n_actions": 2.0}, r"n_actions must be a whole number; got 2\.0")]
    not_whole += [({"n_actions": 3, "special": a}, "special") for a in (1.0, None, "1", True, [0])]
    assert_refuses(
        lambda parameters: family(**parameters),
        *((parameters, ValueError, message) for parameters, message in bad),
        *((parameters, TypeError, message) for parameters, message in not_whole),
    )


def test_bad_members_and_rewards_of_the_pair_are_refused():
    too_large = r"rewards of LowerTauE must lie in \[0, 1\]; got \[0.*\]"
    assert_refuses(
        lambda parameters: LowerTauE(**parameters),
        ({"member": 2}, ValueError, "member must be 0 or 1; got 2"),
        ({"member": -1}, ValueError, "member must be at least 0; got -1"),
        ({"member": None}, TypeError, "member must be a whole number; got None"),
        ({"member": 1.0}, TypeError, "member"),  # although 1.0 == 1
        ({"w_max": 1.0000001}, ValueError, too_large),
        ({"w_max": 2}, ValueError, too_large),
        ({"w_max": 0}, ValueError, "w_max must be positive; got 0"),
        ({"w_max": -0.5}, ValueError, r"w_max must be positive; got -0\.5"),
    )


def test_epsilon_may_equal_delta_only_in_the_pair():
    """LowerK takes epsilon from the open (0, delta_0); LowerTauE uses epsilon <= delta."""
    delta = (1 - 0.9) / 0.9
    with pytest.raises(ValueError, match="epsilon"):
        LowerK(epsilon=delta, gamma=0.9)
    assert LowerTauE(epsilon=delta, gamma=0.9).mdp.P[0, 0, 1] == 0
