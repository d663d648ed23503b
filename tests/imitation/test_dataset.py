"""What a feature dataset holds, and what it refuses to hold."""

import dataclasses
import math
import pickle

import numpy as np
import pytest

from optimist.envs import RandomLinear, RiverSwim
from optimist.features import OneHot, OneHotState, StateOnly, Table
from optimist.imitation.dataset import FeatureDataset
from optimist.mdp import FiniteMDP

ROWS = np.array([[3.0, 4.0], [1.0, 0.0], [0.0, -2.0]])


@pytest.fixture
def dataset():
    return FeatureDataset(ROWS, bound=6, gamma=0.9)


def test_what_it_tells(dataset):
    assert (len(dataset), dataset.size, dataset.dim) == (3, 3, 2)
    assert (dataset.bound, dataset.gamma, dataset.exact) == (6.0, 0.9, False)
    np.testing.assert_allclose(dataset.mean, [4 / 3, 2 / 3])
    assert repr(dataset) == "FeatureDataset(size=3, dim=2, bound=6, gamma=0.9)"


def test_the_bound_is_the_largest_norm_unless_declared():
    assert FeatureDataset(ROWS).bound == 5.0


def test_an_exact_dataset_is_infinite():
    exact = FeatureDataset([[0.25, 0.75]], exact=True)
    assert (len(exact), exact.size) == (1, math.inf)
    assert exact.mean.tolist() == [0.25, 0.75]
    assert repr(exact).startswith("FeatureDataset(exact, dim=2")


def test_whole_numbers_become_floats():
    assert FeatureDataset([[1, 0], [0, 1]]).features.dtype == np.float64


def test_it_cannot_be_changed(dataset):
    for array in (dataset.features, dataset.mean):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    with pytest.raises(dataclasses.FrozenInstanceError):
        dataset.gamma = 0.5


def test_it_is_not_changed_from_outside():
    rows = ROWS.copy()
    dataset = FeatureDataset(rows)
    rows[0, 0] = 7.0
    assert dataset.features[0, 0] == 3.0


def test_a_pickled_one_is_equal_and_read_only(dataset):
    other = pickle.loads(pickle.dumps(dataset))
    assert other == dataset
    assert not other.features.flags.writeable


@pytest.mark.parametrize(
    "change",
    [{"features": ROWS[:2]}, {"features": -ROWS}, {"bound": 7.0}, {"gamma": None}, {"gamma": 0.5}],
)
def test_equality_is_that_of_everything(dataset, change):
    assert dataset == FeatureDataset(ROWS, bound=6, gamma=0.9)
    assert dataset != dataclasses.replace(dataset, **change)
    assert dataset != ROWS.tolist()


def test_exactness_is_part_of_equality():
    assert FeatureDataset([[1.0]]) != FeatureDataset([[1.0]], exact=True)


# What is refused


@pytest.mark.parametrize(
    ("features", "kind", "message"),
    [
        ([], ValueError, "features has no rows"),
        (np.empty((0, 3)), ValueError, "features has no rows"),
        (np.empty((3, 0)), ValueError, r"shape \(3, 0\): its rows must not be empty"),
        ([[], []], ValueError, "its rows must not be empty"),
        ([1.0, 2.0], ValueError, r"shape \(2,\); it must be \[n, d\]"),
        (5.0, ValueError, r"shape \(\)"),
        (np.ones((2, 2, 2)), ValueError, r"it must be \[n, d\]"),
        (
            [[1, 2], [3, 4], [5]],
            ValueError,
            r"features\[2\] has 1 entries, and features\[0\] has 2",
        ),
        ([np.ones(2), np.ones(3)], ValueError, r"features\[1\] has 3 entries"),
        ([[1, 2], [3, math.nan]], ValueError, r"features\[1, 1\] is nan"),
        ([[1, -math.inf], [3, 4]], ValueError, r"features\[0, 1\] is -inf"),
        ([["a", "b"]], TypeError, "not real numbers"),
        ([[1j, 2]], TypeError, "complex128, not real numbers"),
        ([[None, 1.0]], TypeError, "object, not real numbers"),
        ([[1e200, 0.0], [1.0, 1.0]], ValueError, r"features\[0\] is too long"),
    ],
)
def test_what_are_no_rows(features, kind, message):
    with pytest.raises(kind, match=message):
        FeatureDataset(features)


def test_a_row_longer_than_the_bound():
    with pytest.raises(ValueError, match=r"features\[2\] has norm 2, above bound = 1.5"):
        FeatureDataset(ROWS[1:][[0, 0, 1]], bound=1.5)


def test_rounding_beyond_the_bound_is_no_mistake():
    assert FeatureDataset([[1 + 0.9e-8]], bound=1.0).bound == 1.0
    with pytest.raises(ValueError, match="above bound = 1;"):
        FeatureDataset([[1 + 1.1e-8]], bound=1.0)


@pytest.mark.parametrize(
    ("bound", "message"), [(-1.0, "-1 is negative"), (math.nan, "is nan"), (math.inf, "is inf")]
)
def test_what_is_no_bound(bound, message):
    with pytest.raises(ValueError, match=f"^bound .*{message}"):
        FeatureDataset([[0.0]], bound=bound)


@pytest.mark.parametrize("gamma", [1.0, -0.1, math.nan])
def test_what_is_no_discount_factor(gamma):
    with pytest.raises(ValueError, match="gamma"):
        FeatureDataset(ROWS, gamma=gamma)


def test_an_exact_dataset_has_one_row():
    with pytest.raises(ValueError, match="features has 3 rows; an exact dataset has one"):
        FeatureDataset(ROWS, exact=True)
    with pytest.raises(TypeError, match="exact = 'yes' must be True or False"):
        FeatureDataset(ROWS[:1], exact="yes")


# Against a feature map


def test_a_dataset_fits_the_map_it_was_recorded_with(dataset):
    dataset.check_fits(Table(ROWS[None]))


def test_another_dimension_does_not_fit(dataset):
    with pytest.raises(ValueError, match="rows of d = 2 features, and phi has d = 3"):
        dataset.check_fits(StateOnly(OneHotState(3), n_actions=2))


def test_a_longer_row_does_not_fit(dataset):
    with pytest.raises(ValueError, match=r"features\[0\] has norm 5, above the bound B = 1 of phi"):
        dataset.check_fits(StateOnly(OneHotState(2), n_actions=2))


def test_only_a_feature_map_can_be_fitted(dataset):
    with pytest.raises(TypeError, match="must be a FeatureMap"):
        dataset.check_fits(OneHotState(2))


# Exactly, from a policy


class Expert:
    def __init__(self, table):
        self.table = table

    def probabilities(self, states):
        return self.table[states]


def test_an_exact_expert_is_its_feature_expectations():
    world = RandomLinear(4, 12, 3, gamma=0.9)
    pi = world.mdp.optimal().policy
    exact = FeatureDataset.from_policy(world, pi, world.features)
    expected = world.mdp.feature_expectations(pi, world.features.array)
    np.testing.assert_allclose(exact.mean, expected, rtol=0, atol=1e-14)
    assert exact.exact
    assert (exact.gamma, exact.bound) == (0.9, world.features.bound)
    assert exact == FeatureDataset.from_policy(world.mdp, Expert(pi), world.features)


@pytest.mark.parametrize("numbers", [1, 60, 61])
def test_many_pairs_are_summed_up_in_pieces(numbers, monkeypatch):
    """Of 1, 5 and 5 states of the 12."""
    world = RandomLinear(4, 12, 3, gamma=0.9)
    pi, phi = world.mdp.uniform_policy, world.features
    whole = FeatureDataset.from_policy(world, pi, phi)
    monkeypatch.setattr("optimist.imitation.recording.NUMBERS_AT_ONCE", numbers)
    pieces = FeatureDataset.from_policy(world, pi, phi)
    np.testing.assert_allclose(pieces.mean, whole.mean, rtol=0, atol=1e-15)


def test_rewards_are_not_looked_at():
    world = RiverSwim(4, gamma=0.9)
    pi, phi = world.mdp.uniform_policy, world.features
    seen = FeatureDataset.from_policy(world, pi, phi)
    drawn = FeatureDataset.from_rollouts(world, pi, phi, 50, np.random.default_rng(0))
    blind = FiniteMDP(world.mdp.P, world.mdp.r, world.mdp.nu0, 0.9)
    blind.__dict__["r"] = np.full((4, 2), np.nan)
    assert FeatureDataset.from_policy(blind, pi, phi) == seen
    again = FeatureDataset.from_rollouts(blind, pi, phi, 50, np.random.default_rng(0))
    assert again == drawn


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (np.full((4, 2), 0.4), r"policy\[0\] sums to 0.8"),
        (np.full((3, 4, 2), 0.5), "a batch of 3 policies"),
        (np.full((3, 2), 0.5), r"one policy is \(4, 2\)"),
    ],
)
def test_what_is_no_policy(policy, message):
    world = RiverSwim(4)
    with pytest.raises(ValueError, match=message):
        FeatureDataset.from_policy(world, policy, world.features)


def test_a_map_for_other_actions_is_refused():
    world = RiverSwim(4)
    phi = StateOnly(OneHotState(4), n_actions=3)
    pi = world.mdp.uniform_policy
    with pytest.raises(ValueError, match="phi has 3 actions, and the world has 2"):
        FeatureDataset.from_policy(world, pi, phi)
    with pytest.raises(ValueError, match="phi has 3 actions, and the world has 2"):
        FeatureDataset.from_rollouts(world, pi, phi, 10, np.random.default_rng(0))


def test_only_a_world_is_known_exactly():
    with pytest.raises(TypeError, match="must be a World or a FiniteMDP"):
        FeatureDataset.from_policy(RiverSwim(4).make(), np.full((4, 2), 0.5), OneHot(4, 2))
