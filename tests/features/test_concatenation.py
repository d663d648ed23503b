import numpy as np
import pytest
from numpy.testing import assert_array_equal

from optimist.features import Concatenation, OneHot, OneHotState, Table

RNG = np.random.default_rng(0)
PHI_R = Table(RNG.normal(size=(4, 3, 2)))
PHI_P = Table(RNG.normal(size=(4, 3, 5)))


def test_reward_features_come_first():
    phi = Concatenation(PHI_R, PHI_P)
    features, every = phi([0, 2], [1, 1]), phi.all_actions([0, 2])
    assert_array_equal(features[:, :2], PHI_R.array[[0, 2], 1])
    assert_array_equal(features[:, 2:], PHI_P.array[[0, 2], 1])
    assert_array_equal(every[..., :2], PHI_R.array[[0, 2]])
    assert_array_equal(every[..., 2:], PHI_P.array[[0, 2]])


def test_it_declares_the_sum_of_both():
    phi = Concatenation(PHI_R, PHI_P)
    assert (phi.dim, phi.n_actions, phi.blocks) == (7, 3, 1)
    assert phi.bound**2 == pytest.approx(PHI_R.bound**2 + PHI_P.bound**2)
    assert phi.phi_r is PHI_R
    assert phi.phi_P is PHI_P


def test_the_maps_must_be_of_pairs_and_have_the_same_actions():
    with pytest.raises(ValueError, match="phi_r has 3 actions and phi_P has 2"):
        Concatenation(PHI_R, OneHot(4, 2))
    with pytest.raises(TypeError, match=r"phi_r must be a FeatureMap; got .* StateOnly"):
        Concatenation(OneHotState(4), PHI_P)
