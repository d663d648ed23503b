import numpy as np
import pytest

from optimist.features import OneHot, OneHotState


def test_the_state_action_pairs_are_numbered_state_by_state():
    phi = OneHot(3, 2)
    pairs = [phi(x, a) for x in range(3) for a in range(2)]
    np.testing.assert_array_equal(pairs, np.eye(6))
    np.testing.assert_array_equal(phi.all_actions([0, 1, 2]), np.eye(6).reshape(3, 2, 6))


def test_the_states_are_numbered_in_order():
    np.testing.assert_array_equal(OneHotState(4)(range(4)), np.eye(4))


def test_sizes():
    phi = OneHot(3, 2)
    assert (phi.n_states, phi.n_actions, phi.dim, phi.bound, phi.blocks) == (3, 2, 6, 1.0, 6)


@pytest.mark.parametrize("state", [-1, 3])
def test_states_out_of_range_are_refused(state):
    message = rf"state\[1\] = {state} is outside {{0, ..., 2}}"
    with pytest.raises(ValueError, match=message):
        OneHotState(3)([0, state])
    with pytest.raises(ValueError, match=message):
        OneHot(3, 2)([0, state], [0, 0])
    with pytest.raises(ValueError, match=message):
        OneHot(3, 2).all_actions([0, state])


@pytest.mark.parametrize("state", [1.0, "1", True, None, 1j])
def test_states_that_are_not_whole_numbers_are_refused(state):
    with pytest.raises(TypeError, match=r"state holds .*, not whole numbers"):
        OneHotState(3)(state)


def test_sizes_below_one_are_refused():
    with pytest.raises(ValueError, match="n_states = 0 must be at least 1"):
        OneHot(0, 2)
    with pytest.raises(ValueError, match="n_actions = 0 must be at least 1"):
        OneHot(2, 0)
    with pytest.raises(TypeError, match=r"n_states = 2\.0 is not a whole number"):
        OneHotState(2.0)
