import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from optimist.envs import RiverSwim

LEFT, RIGHT = 0, 1


def test_every_row_and_reward_is_that_of_the_description():
    for n in (2, 3, 6, 12):
        mdp = RiverSwim(n).mdp
        P, r = np.zeros((n, 2, n)), np.zeros((n, 2))
        for x in range(n):
            P[x, LEFT, max(x - 1, 0)] = 1
            if x == 0:
                P[x, RIGHT, [0, 1]] = 0.4, 0.6
            elif x == n - 1:
                P[x, RIGHT, [n - 2, n - 1]] = 0.4, 0.6
            else:
                P[x, RIGHT, [x - 1, x, x + 1]] = 0.05, 0.6, 0.35
        r[0, LEFT], r[n - 1, RIGHT] = 0.005, 1
        assert_array_equal(mdp.P, P)
        assert_array_equal(mdp.r, r)
        assert_array_equal(mdp.nu0, np.eye(n)[0])


def test_defaults():
    assert RiverSwim() == RiverSwim(n=6, gamma=0.99)


@pytest.mark.parametrize("gamma", [0.5, 0.9, 0.99])
def test_two_policies_by_hand(gamma):
    mdp = RiverSwim(6, gamma).mdp
    expected = 0.005 * gamma ** np.arange(6) / (1 - gamma)  # the small reward for ever
    assert_allclose(mdp.V(np.tile([1.0, 0.0], (6, 1))), expected, rtol=1e-10)
    # In the shortest river, swimming: V0 = gamma (0.4 V0 + 0.6 V1), and V1 = 1 + V0.
    first = 0.6 * gamma / (1 - gamma)
    V = RiverSwim(2, gamma).mdp.V([[0, 1], [0, 1]])
    assert_allclose(V, [first, 1 + first], rtol=1e-10)


def test_the_patient_swim_and_the_impatient_let_go():
    assert_array_equal(RiverSwim(6, 0.99).mdp.optimal().policy[:, RIGHT], np.ones(6))
    assert RiverSwim(6, 0.5).mdp.optimal().policy[0, LEFT] == 1


def test_a_river_of_one_state_is_refused():
    with pytest.raises(ValueError, match="n = 1 must be at least 2"):
        RiverSwim(1)
    with pytest.raises(TypeError, match=r"n = 6\.0 is not a whole number"):
        RiverSwim(6.0)


def test_the_board():
    assert RiverSwim(6).board == ("s....$",)
    assert RiverSwim(2).board == ("s$",)
