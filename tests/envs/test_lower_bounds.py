"""What the two families of Appendix E share: their features and what they refuse."""

import re

import numpy as np
import pytest

from optimist.envs import LowerK, LowerTauE
from optimist.mdp import LinearMDP

FAMILIES = [LowerK, LowerTauE]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("n_actions", [2, 3, 8])
def test_they_are_linear_of_dimension_2_plus_2A(family, n_actions):
    world = family(n_actions=n_actions)
    assert isinstance(world.mdp, LinearMDP)
    assert world.mdp.d == world.features.dim == 2 + 2 * n_actions


@pytest.mark.parametrize("family", FAMILIES)
def test_the_reward_features_show_the_state_alone_and_the_others_the_pair(family):
    Phi = family(n_actions=3).features.all_actions([0, 1])
    np.testing.assert_array_equal(Phi[..., :2], np.eye(2)[[[0] * 3, [1] * 3]])
    np.testing.assert_array_equal(Phi[..., 2:].reshape(6, 6), np.eye(6))


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("gamma", [0, 0.3, 0.4999999])
def test_discounts_below_one_half_are_refused(family, gamma):
    with pytest.raises(ValueError, match=rf"gamma = {gamma:g} must be at least 1/2"):
        family(gamma=gamma)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("gamma", [1.0, 1.5, -0.1, float("nan")])
def test_what_is_no_discount_is_refused(family, gamma):
    with pytest.raises(ValueError, match="gamma"):
        family(gamma=gamma)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("epsilon", [-1e-9, 0.1112, 0.5, float("nan")])
def test_epsilon_must_lie_between_zero_and_delta(family, epsilon):
    with pytest.raises(ValueError, match="epsilon"):  # delta = 0.1 / 0.9 = 0.1111...
        family(epsilon=epsilon, gamma=0.9)


def test_the_error_names_the_interval_of_epsilon():
    with pytest.raises(
        ValueError, match=re.escape("epsilon = 0.5 is outside [0, delta) = [0, 0.1")
    ):
        LowerK(epsilon=0.5)
    with pytest.raises(
        ValueError, match=re.escape("epsilon = 0.5 is outside [0, delta] = [0, 0.1")
    ):
        LowerTauE(epsilon=0.5)


def test_epsilon_may_equal_delta_only_in_the_pair():
    """LowerK takes epsilon from the open (0, delta_0); LowerTauE uses epsilon <= delta."""
    delta = (1 - 0.9) / 0.9
    with pytest.raises(ValueError, match="epsilon"):
        LowerK(epsilon=delta, gamma=0.9)
    assert LowerTauE(epsilon=delta, gamma=0.9).mdp.P[0, 0, 1] == 0


@pytest.mark.parametrize("family", FAMILIES)
def test_at_least_two_actions_are_needed(family):
    with pytest.raises(ValueError, match="n_actions = 1 must be at least 2"):
        family(n_actions=1)
    with pytest.raises(TypeError, match=r"n_actions = 2\.0 is not a whole number"):
        family(n_actions=2.0)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("special", [-1, 3, 4])
def test_the_special_action_must_be_an_action(family, special):
    with pytest.raises(ValueError, match=rf"special = {special} "):
        family(n_actions=3, special=special)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("special", [1.0, None, "1", True, [0, 1]])
def test_the_special_action_must_be_one_whole_number(family, special):
    with pytest.raises((TypeError, ValueError), match="special"):
        family(n_actions=3, special=special)


@pytest.mark.parametrize("member", [2, -1, None])
def test_the_pair_has_two_members(member):
    with pytest.raises((TypeError, ValueError), match=rf"member = {member}"):
        LowerTauE(member=member)


def test_a_member_is_a_whole_number():
    """As 1.0 == 1, it is easily let through, only to fail where the expert is asked for."""
    with pytest.raises((TypeError, ValueError), match="member"):
        LowerTauE(member=1.0)


@pytest.mark.parametrize("w_max", [1.0000001, 2])
def test_w_max_may_not_exceed_one(w_max):
    with pytest.raises(ValueError, match=r"LowerTauE has rewards in \[0.*\], not \[0, 1\]"):
        LowerTauE(w_max=w_max)


@pytest.mark.parametrize("w_max", [0, -0.5])
def test_w_max_must_be_positive(w_max):
    with pytest.raises(ValueError, match=rf"w_max = {w_max:g} must be positive"):
        LowerTauE(w_max=w_max)


def test_the_rewarded_state_is_marked_on_the_board():
    assert LowerK().board == ("$x",)
    assert [LowerTauE(member=i).board for i in (0, 1)] == [("$x",), ("x$",)]
