"""Maps of state-action pairs: one-hot, tables, and those made of other maps."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from reference.refusals import assert_refuses

from optimist.features import (
    RBF,
    Concatenation,
    OneHot,
    OneHotState,
    PerAction,
    StateOnly,
    Table,
)

RNG = np.random.default_rng(0)
PHI_R, PHI_P = Table(RNG.normal(size=(4, 3, 2))), Table(RNG.normal(size=(4, 3, 5)))
BUMPS = RBF(([0.0], [1.0]), centres=3)


def test_one_hot_numbers_states_and_pairs_in_order():
    assert_array_equal(OneHotState(4)(range(4)), np.eye(4))
    phi = OneHot(3, 2)
    pairs = [phi(x, a) for x in range(3) for a in range(2)]
    assert_array_equal(pairs, np.eye(6))
    assert_array_equal(phi.all_actions([0, 1, 2]), np.eye(6).reshape(3, 2, 6))
    assert (phi.n_states, phi.n_actions, phi.dim, phi.bound, phi.blocks) == (3, 2, 6, 1.0, 6)


def test_a_table_holds_the_features_and_its_bound_is_their_largest_norm():
    array = RNG.normal(size=(4, 3, 5))
    phi = Table(array)
    assert (phi.n_states, phi.n_actions, phi.dim, phi.blocks) == (4, 3, 5, 1)
    assert_array_equal(phi([[0, 3], [1, 1]], 2), array[[[0, 3], [1, 1]], 2])
    assert_array_equal(phi.all_actions([3, 0]), array[[3, 0]])
    assert phi.bound == pytest.approx(np.sqrt((array**2).sum(axis=-1)).max(), rel=1e-14)


def test_the_array_of_a_table_is_a_read_only_copy():
    array = np.ones((2, 2, 2))
    phi = Table(array)
    array[...] = 7.0
    assert_array_equal(phi.array, np.ones((2, 2, 2)))
    with pytest.raises(ValueError, match="read-only"):
        phi.array[0, 0, 0] = 7.0


def test_per_action_gives_each_action_its_own_copy_of_the_state_features():
    phi, psi, zero = PerAction(BUMPS, n_actions=2), BUMPS([0.3]), np.zeros(3)
    assert_array_equal(phi([0.3], 0), np.concatenate([psi, zero]))
    assert_array_equal(phi([0.3], 1), np.concatenate([zero, psi]))
    assert_array_equal(phi.all_actions([0.3]), np.kron(np.eye(2), psi))
    assert (phi.dim, phi.bound, phi.blocks, phi.n_actions) == (6, BUMPS.bound, 2, 2)
    assert PerAction(OneHotState(5), n_actions=4).blocks == 20


def test_state_only_ignores_the_action():
    phi = StateOnly(OneHotState(4), n_actions=3)
    for action in range(3):
        assert_array_equal(phi([2, 0], action), np.eye(4)[[2, 0]])
    assert_array_equal(phi.all_actions(2), np.eye(4)[[2, 2, 2]])
    phi = StateOnly(BUMPS, n_actions=4)
    assert (phi.dim, phi.bound, phi.blocks, phi.n_actions) == (3, BUMPS.bound, 1, 4)
    features = phi([0.3], [0, 1])
    features[0] = 7.0  # the actions of a state share no memory
    assert_array_equal(features[1], BUMPS([0.3]))


def test_a_concatenation_has_the_reward_features_first():
    phi = Concatenation(PHI_R, PHI_P)
    features, every = phi([0, 2], [1, 1]), phi.all_actions([0, 2])
    assert_array_equal(features[:, :2], PHI_R.array[[0, 2], 1])
    assert_array_equal(features[:, 2:], PHI_P.array[[0, 2], 1])
    assert_array_equal(every[..., :2], PHI_R.array[[0, 2]])
    assert_array_equal(every[..., 2:], PHI_P.array[[0, 2]])
    assert (phi.dim, phi.n_actions, phi.blocks) == (7, 3, 1)
    assert phi.bound**2 == pytest.approx(PHI_R.bound**2 + PHI_P.bound**2)
    assert (phi.phi_r, phi.phi_P) == (PHI_R, PHI_P)


def test_bad_states_are_refused():
    phi, outside = OneHot(3, 2), r"state\[1\] must be in {{0, ..., 2}}; got {}"
    for call in (OneHotState(3), lambda states: phi(states, [0, 0]), phi.all_actions):
        for state in (-1, 3):
            assert_refuses(call, ([0, state], ValueError, outside.format(state)))
    message = r"state must hold whole numbers; got .*"
    assert_refuses(
        OneHotState(3), *((state, TypeError, message) for state in (1.0, "1", True, None, 1j))
    )


def test_bad_arguments_are_refused():
    missing = np.zeros((2, 2, 2))
    missing[1, 0, 1] = np.nan
    one_hot, no_actions = OneHotState(2), "n_actions must be at least 1; got 0"
    assert_refuses(
        lambda given: given[0](*given[1:]),
        ((OneHot, 0, 2), ValueError, "n_states must be at least 1; got 0"),
        ((OneHot, 2, 0), ValueError, no_actions),
        ((OneHotState, 2.0), TypeError, r"n_states must be a whole number; got 2\.0"),
        ((PerAction, OneHot(2, 2), 2), TypeError, "must be StateFeatures"),
        ((StateOnly, OneHot(2, 2), 2), TypeError, "must be StateFeatures"),
        ((PerAction, one_hot, 0), ValueError, no_actions),
        ((StateOnly, one_hot, 0), ValueError, no_actions),
        ((Concatenation, PHI_R, OneHot(4, 2)), ValueError, "phi_r has 3 actions and phi_P has 2"),
        ((Concatenation, one_hot, PHI_P), TypeError, "phi_r must be a FeatureMap; .* StateOnly"),
        ((Table, missing), ValueError, r"array\[1, 0, 1\] must be a finite number; got nan"),
        ((Table, np.zeros((2, 2))), ValueError, r"array must have shape .*; got \(2, 2\)"),
        ((Table, np.zeros((0, 2, 2))), ValueError, "n_states must be at least 1; got 0"),
        ((Table, np.zeros((2, 0, 2))), ValueError, no_actions),
        ((Table, np.zeros((2, 2, 0))), ValueError, "dim must be at least 1; got 0"),
    )
