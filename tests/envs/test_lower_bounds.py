"""What the two families of Appendix E share: their features and what they refuse."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from reference.refusals import assert_refuses

from optimist.envs import LowerK, LowerTauE
from optimist.mdp import LinearMDP

each_family = pytest.mark.parametrize("family", [LowerK, LowerTauE])


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


@each_family
def test_bad_parameters_are_refused(family):
    interval = r"\[0, delta\) = \[0, 0.1" if family is LowerK else r"\[0, delta\] = \[0, 0.1"
    nan = float("nan")
    gammas = [({"gamma": gamma}, "gamma") for gamma in (1.0, 1.5, -0.1, nan)]
    gammas += [
        ({"gamma": gamma}, f"gamma = {gamma:g} must be at least 1/2")
        for gamma in (0, 0.3, 0.4999999)
    ]
    epsilons = [({"epsilon": 0.5}, f"epsilon = 0.5 is outside {interval}")]
    epsilons += [({"epsilon": e, "gamma": 0.9}, "epsilon") for e in (-1e-9, 0.1112, nan)]
    specials = [({"n_actions": 3, "special": a}, f"special = {a} ") for a in (-1, 3, 4)]
    few = [({"n_actions": 1}, "n_actions = 1 must be at least 2")]
    not_whole = [({"n_actions": 2.0}, r"n_actions = 2\.0 is not a whole number")]
    not_whole += [({"n_actions": 3, "special": a}, "special") for a in (1.0, None, "1", True, [0])]
    bad_values = gammas + epsilons + specials + few
    assert_refuses(
        lambda parameters: family(**parameters),
        *(
            [(parameters, ValueError, message) for parameters, message in bad_values]
            + [(parameters, TypeError, message) for parameters, message in not_whole]
        ),
    )


def test_bad_members_and_rewards_of_the_pair_are_refused():
    too_large = r"rewards of LowerTauE must lie in \[0, 1\]; got \[0.*\]"
    assert_refuses(
        lambda parameters: LowerTauE(**parameters),
        ({"member": 2}, ValueError, "member = 2"),
        ({"member": -1}, ValueError, "member = -1"),
        ({"member": None}, TypeError, "member = None"),
        ({"member": 1.0}, TypeError, "member"),  # although 1.0 == 1
        ({"w_max": 1.0000001}, ValueError, too_large),
        ({"w_max": 2}, ValueError, too_large),
        ({"w_max": 0}, ValueError, "w_max = 0 must be positive"),
        ({"w_max": -0.5}, ValueError, r"w_max = -0\.5 must be positive"),
    )


def test_epsilon_may_equal_delta_only_in_the_pair():
    """LowerK takes epsilon from the open (0, delta_0); LowerTauE uses epsilon <= delta."""
    delta = (1 - 0.9) / 0.9
    with pytest.raises(ValueError, match="epsilon"):
        LowerK(epsilon=delta, gamma=0.9)
    assert LowerTauE(epsilon=delta, gamma=0.9).mdp.P[0, 0, 1] == 0


def test_the_rewarded_state_is_marked_on_the_board():
    assert LowerK().board == ("$x",)
    assert [LowerTauE(member=i).board for i in (0, 1)] == [("$x",), ("x$",)]
