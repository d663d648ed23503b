import numpy as np
from numpy.testing import assert_array_equal

from optimist.features import RBF, OneHotState, StateOnly


def test_the_action_does_not_matter():
    phi = StateOnly(OneHotState(4), n_actions=3)
    for action in range(3):
        assert_array_equal(phi([2, 0], action), np.eye(4)[[2, 0]])
    assert_array_equal(phi.all_actions(2), np.eye(4)[[2, 2, 2]])


def test_it_declares_what_the_state_features_do():
    psi = RBF(([0.0], [1.0]), centres=3)
    phi = StateOnly(psi, n_actions=4)
    assert (phi.dim, phi.bound, phi.blocks, phi.n_actions) == (3, psi.bound, 1, 4)


def test_actions_of_one_state_share_no_memory():
    features = StateOnly(OneHotState(4), n_actions=3)(2, [0, 1])
    features[0] = 7.0
    assert_array_equal(features[1], np.eye(4)[2])
