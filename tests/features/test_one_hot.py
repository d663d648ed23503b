import numpy as np
from numpy.testing import assert_array_equal
from reference.refusals import assert_refuses

from optimist.features import OneHot, OneHotState


def test_states_and_pairs_are_numbered_in_order():
    assert_array_equal(OneHotState(4)(range(4)), np.eye(4))
    phi = OneHot(3, 2)
    pairs = [phi(x, a) for x in range(3) for a in range(2)]
    assert_array_equal(pairs, np.eye(6))
    assert_array_equal(phi.all_actions([0, 1, 2]), np.eye(6).reshape(3, 2, 6))
    assert (phi.n_states, phi.n_actions, phi.dim, phi.bound, phi.blocks) == (3, 2, 6, 1.0, 6)


def test_bad_states_are_refused():
    phi, outside = OneHot(3, 2), r"state\[1\] = {} is outside {{0, ..., 2}}"
    for call in (OneHotState(3), lambda states: phi(states, [0, 0]), phi.all_actions):
        for state in (-1, 3):
            assert_refuses(call, ([0, state], ValueError, outside.format(state)))
    message = r"state holds .*, not whole numbers"
    assert_refuses(
        OneHotState(3), *((state, TypeError, message) for state in (1.0, "1", True, None, 1j))
    )


def test_bad_sizes_are_refused():
    assert_refuses(
        lambda sizes: OneHot(*sizes) if len(sizes) == 2 else OneHotState(*sizes),
        ((0, 2), ValueError, "n_states = 0 must be at least 1"),
        ((2, 0), ValueError, "n_actions = 0 must be at least 1"),
        ((2.0,), TypeError, r"n_states = 2\.0 is not a whole number"),
    )
