import numpy as np
import pytest

from optimist.envs import SixArms

REACH = [1, 0.15, 0.1, 0.05, 0.03, 0.01]
PAID = [50, 133, 300, 800, 1660, 6000]


def test_an_action_reaches_its_arm_or_stays():
    P = SixArms().mdp.P
    assert P.shape == (7, 6, 7)
    for i, reach in enumerate(REACH):
        expected = np.zeros(7)
        expected[i + 1] = reach
        expected[0] = 1 - reach
        np.testing.assert_allclose(P[0, i], expected, rtol=0, atol=1e-15)


def test_an_arm_is_kept_by_its_own_action_and_left_by_every_other():
    P = SixArms().mdp.P
    for arm in range(6):
        for action in range(6):
            after = arm + 1 if action == arm else 0
            np.testing.assert_array_equal(P[arm + 1, action], np.eye(7)[after])


def test_rewards_are_those_of_the_arms_over_the_largest():
    r = SixArms().mdp.r
    np.testing.assert_array_equal(r[0], np.zeros(6))
    np.testing.assert_allclose(r[1:], np.diag(PAID) / 6000, rtol=0, atol=1e-15)


def test_the_optimum_by_hand():
    """The last arm at gamma = 0.95: V(arm) = 20, V(0) = 0.95 (0.01 * 20 + 0.99 V(0))."""
    best = SixArms(gamma=0.95).mdp.optimal()
    np.testing.assert_allclose(best.value, 0.19 / 0.0595, rtol=1e-10)
    np.testing.assert_array_equal(best.policy[0], np.eye(6)[5])


@pytest.mark.parametrize("gamma", [0.1, 0.5, 0.9, 0.999])
@pytest.mark.parametrize("arm", range(6))
def test_going_for_one_arm(arm, gamma):
    """V(0) = gamma (reach V(arm) + (1 - reach) V(0)) with V(arm) = paid / 6000 (1 - gamma)."""
    mdp = SixArms(gamma).mdp
    going = np.tile(np.eye(6)[arm], (7, 1))
    expected = gamma * REACH[arm] * PAID[arm] / 6000 / (1 - gamma)
    expected /= 1 - gamma * (1 - REACH[arm])
    np.testing.assert_allclose(mdp.value(going), expected, rtol=1e-10)


def test_episodes_start_in_the_middle():
    np.testing.assert_array_equal(SixArms().mdp.nu0, np.eye(7)[0])
    assert SixArms().board == ("s.....$",)
