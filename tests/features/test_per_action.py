import numpy as np
import pytest

from optimist.features import RBF, OneHotState, PerAction

PSI = RBF(([0.0], [1.0]), centres=3)


def test_each_action_has_its_own_copy_of_the_state_features():
    phi = PerAction(PSI, n_actions=2)
    psi = PSI([0.3])
    zero = np.zeros(3)
    np.testing.assert_array_equal(phi([0.3], 0), np.concatenate([psi, zero]))
    np.testing.assert_array_equal(phi([0.3], 1), np.concatenate([zero, psi]))


def test_all_actions_are_the_kronecker_product():
    phi = PerAction(PSI, n_actions=4)
    every = phi.all_actions([[0.1], [0.8]])
    for features, state in zip(every, [[0.1], [0.8]], strict=True):
        np.testing.assert_array_equal(features, np.kron(np.eye(4), PSI(state)))


def test_it_declares_what_the_state_features_do():
    phi = PerAction(PSI, n_actions=4)
    assert (phi.dim, phi.bound, phi.blocks, phi.n_actions) == (12, PSI.bound, 4, 4)
    assert PerAction(OneHotState(5), n_actions=4).blocks == 20


def test_no_actions_are_refused():
    with pytest.raises(ValueError, match="n_actions = 0 must be at least 1"):
        PerAction(PSI, n_actions=0)
