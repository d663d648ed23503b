import numpy as np
import pytest

from optimist.envs import RiverSwim

LEFT, RIGHT = 0, 1


@pytest.mark.parametrize("n", [2, 3, 6, 12])
def test_every_row_is_that_of_the_description(n):
    P = RiverSwim(n).mdp.P
    for x in range(n):
        left = np.zeros(n)
        left[max(x - 1, 0)] = 1
        np.testing.assert_array_equal(P[x, LEFT], left)
        right = np.zeros(n)
        if x == 0:
            right[0], right[1] = 0.4, 0.6
        elif x == n - 1:
            right[n - 2], right[n - 1] = 0.4, 0.6
        else:
            right[x - 1], right[x], right[x + 1] = 0.05, 0.6, 0.35
        np.testing.assert_array_equal(P[x, RIGHT], right)


@pytest.mark.parametrize("n", [2, 6])
def test_only_the_two_ends_pay(n):
    expected = np.zeros((n, 2))
    expected[0, LEFT] = 0.005
    expected[n - 1, RIGHT] = 1
    np.testing.assert_array_equal(RiverSwim(n).mdp.r, expected)


def test_episodes_start_at_the_first_state():
    np.testing.assert_array_equal(RiverSwim(4).mdp.nu0, [1, 0, 0, 0])


def test_defaults():
    assert RiverSwim() == RiverSwim(n=6, gamma=0.99)


@pytest.mark.parametrize("gamma", [0.5, 0.9, 0.99])
def test_letting_go_earns_the_small_reward_for_ever(gamma):
    mdp = RiverSwim(6, gamma).mdp
    expected = 0.005 * gamma ** np.arange(6) / (1 - gamma)
    np.testing.assert_allclose(mdp.V(np.tile([1.0, 0.0], (6, 1))), expected, rtol=1e-10)


@pytest.mark.parametrize("gamma", [0.5, 0.9, 0.99])
def test_swimming_on_in_the_shortest_river_by_hand(gamma):
    """V0 = gamma (0.4 V0 + 0.6 V1) and V1 = 1 + gamma (0.4 V0 + 0.6 V1), so V1 = 1 + V0."""
    first = 0.6 * gamma / (1 - gamma)
    mdp = RiverSwim(2, gamma).mdp
    V = mdp.V([[0, 1], [0, 1]])
    np.testing.assert_allclose(V, [first, 1 + first], rtol=1e-10)


def test_the_patient_swim_and_the_impatient_let_go():
    np.testing.assert_array_equal(RiverSwim(6, 0.99).mdp.optimal().policy[:, RIGHT], np.ones(6))
    assert RiverSwim(6, 0.5).mdp.optimal().policy[0, LEFT] == 1


def test_a_river_of_one_state_is_refused():
    with pytest.raises(ValueError, match="n = 1 must be at least 2"):
        RiverSwim(1)
    with pytest.raises(TypeError, match=r"n = 6\.0 is not a whole number"):
        RiverSwim(6.0)


def test_the_board():
    assert RiverSwim(6).board == ("s....$",)
    assert RiverSwim(2).board == ("s$",)
