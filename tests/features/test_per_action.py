import numpy as np
from numpy.testing import assert_array_equal

from optimist.features import RBF, OneHotState, PerAction

PSI = RBF(([0.0], [1.0]), centres=3)


def test_each_action_has_its_own_copy_of_the_state_features():
    phi, psi, zero = PerAction(PSI, n_actions=2), PSI([0.3]), np.zeros(3)
    assert_array_equal(phi([0.3], 0), np.concatenate([psi, zero]))
    assert_array_equal(phi([0.3], 1), np.concatenate([zero, psi]))
    assert_array_equal(phi.all_actions([0.3]), np.kron(np.eye(2), psi))


def test_it_declares_what_the_state_features_do():
    phi = PerAction(PSI, n_actions=4)
    assert (phi.dim, phi.bound, phi.blocks, phi.n_actions) == (12, PSI.bound, 4, 4)
    assert PerAction(OneHotState(5), n_actions=4).blocks == 20
