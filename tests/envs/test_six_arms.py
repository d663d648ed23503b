import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from optimist.envs import SixArms

REACH = [1, 0.15, 0.1, 0.05, 0.03, 0.01]
PAID = [50, 133, 300, 800, 1660, 6000]


def test_the_arrays_are_those_of_the_description():
    """An action reaches its arm or stays; an arm is kept by its own action alone, and pays."""
    P = np.zeros((7, 6, 7))
    P[1:, :, 0] = 1
    for i, reach in enumerate(REACH):
        P[0, i, [0, i + 1]] = 1 - reach, reach
        P[i + 1, i] = np.eye(7)[i + 1]
    mdp = SixArms().mdp
    assert_allclose(mdp.P, P, rtol=0, atol=1e-15)
    assert_array_equal(mdp.r[0], np.zeros(6))
    assert_allclose(mdp.r[1:], np.diag(PAID) / 6000, rtol=0, atol=1e-15)
    assert_array_equal(mdp.nu0, np.eye(7)[0])
    assert SixArms().board == ("s.....$",)


def test_the_optimum_by_hand():
    """The last arm at gamma = 0.95: V(arm) = 20, V(0) = 0.95 (0.01 * 20 + 0.99 V(0))."""
    best = SixArms(gamma=0.95).mdp.optimal()
    assert_allclose(best.value, 0.19 / 0.0595, rtol=1e-10)
    assert_array_equal(best.policy[0], np.eye(6)[5])


def test_going_for_one_arm():
    """V(0) = gamma (reach V(arm) + (1 - reach) V(0)) with V(arm) = paid / 6000 (1 - gamma)."""
    reach, paid = np.array(REACH), np.array(PAID)
    going = np.tile(np.eye(6)[:, None], (1, 7, 1))  # a policy for each arm
    for gamma in (0.1, 0.5, 0.9, 0.999):
        expected = gamma * reach * paid / 6000 / (1 - gamma) / (1 - gamma * (1 - reach))
        assert_allclose(SixArms(gamma).mdp.value(going), expected, rtol=1e-10)
