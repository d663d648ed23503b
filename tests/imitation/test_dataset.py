"""What a feature dataset holds, and what it refuses to hold."""

import dataclasses
import math
import pickle

import numpy as np
import pytest
from reference.refusals import assert_refuses

from optimist.core import TablePolicy
from optimist.envs import RandomLinear, RiverSwim
from optimist.features import OneHot, OneHotState, StateOnly, Table
from optimist.imitation.dataset import FeatureDataset
from optimist.mdp import FiniteMDP

ROWS = np.array([[3.0, 4.0], [1.0, 0.0], [0.0, -2.0]])


@pytest.fixture
def dataset():
    return FeatureDataset(ROWS, bound=6, gamma=0.9)


def test_the_repr_and_sizes(dataset):
    assert (len(dataset), dataset.size, dataset.dim) == (3, 3, 2)
    assert (dataset.bound, dataset.gamma, dataset.exact) == (6.0, 0.9, False)
    np.testing.assert_allclose(dataset.mean, [4 / 3, 2 / 3])
    assert repr(dataset) == "FeatureDataset(size=3, dim=2, bound=6, gamma=0.9)"
    assert FeatureDataset(ROWS).bound == 5.0  # the largest norm
    assert FeatureDataset([[1, 0], [0, 1]]).features.dtype == np.float64


def test_an_exact_dataset_is_infinite():
    exact = FeatureDataset([[0.25, 0.75]], exact=True)
    assert (len(exact), exact.size) == (1, math.inf)
    assert exact.mean.tolist() == [0.25, 0.75]
    assert repr(exact).startswith("FeatureDataset(exact, dim=2")


def test_it_cannot_be_changed():
    rows = ROWS.copy()
    dataset = FeatureDataset(rows)
    rows[0, 0] = 7.0
    assert dataset.features[0, 0] == 3.0
    for made in (dataset, pickle.loads(pickle.dumps(dataset))):
        assert made == dataset
        for array in (made.features, made.mean):
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0
        with pytest.raises(dataclasses.FrozenInstanceError):
            made.gamma = 0.5


def test_equality_is_that_of_everything(dataset):
    assert dataset == FeatureDataset(ROWS, bound=6, gamma=0.9)
    assert dataset != ROWS.tolist()
    for change in (
        *({"features": ROWS[:2]}, {"features": -ROWS}),
        *({"bound": 7.0}, {"gamma": None}, {"gamma": 0.5}),
    ):
        assert dataset != dataclasses.replace(dataset, **change)
    assert FeatureDataset([[1.0]]) != FeatureDataset([[1.0]], exact=True)


def test_invalid_rows_are_refused():
    shape = r"features must be \[n, d\] with n, d >= 1; got shape "
    table = [
        ([], ValueError, shape + r"\(0,\)"),
        (np.empty((0, 3)), ValueError, shape + r"\(0, 3\)"),
        (np.empty((3, 0)), ValueError, shape + r"\(3, 0\)"),
        ([[], []], ValueError, shape + r"\(2, 0\)"),
        ([1.0, 2.0], ValueError, shape + r"\(2,\)"),
        (5.0, ValueError, shape + r"\(\)"),
        (np.ones((2, 2, 2)), ValueError, shape + r"\(2, 2, 2\)"),
        ([[1, 2], [3, 4], [5]], ValueError, r"got 2 entries in features\[0\] and 1 in features\[2"),
        ([np.ones(2), np.ones(3)], ValueError, r"and 3 in features\[1\]"),
        ([[1, 2], [3, math.nan]], ValueError, r"features\[1, 1\] must be a finite number; got nan"),
        (
            [[1, -math.inf], [3, 4]],
            ValueError,
            r"features\[0, 1\] must be a finite number; got -inf",
        ),
        ([["a", "b"]], TypeError, "must hold real numbers"),
        ([[1j, 2]], TypeError, "must hold real numbers; got complex128"),
        ([[None, 1.0]], TypeError, "must hold real numbers; got object"),
        ([[1e200, 0.0], [1.0, 1.0]], ValueError, r"features\[0\] must have a finite norm"),
    ]
    assert_refuses(FeatureDataset, *table)


def test_wrong_declarations_are_refused():
    longer = r"features\[2\] must have a norm of at most bound = 1.5; got 2. The longest row has 2"
    table = [
        ({"features": ROWS[1:][[0, 0, 1]], "bound": 1.5}, ValueError, longer),
        ({"features": [[1 + 1.1e-8]], "bound": 1.0}, ValueError, "at most bound = 1;"),
        ({"bound": -1.0}, ValueError, "bound must be non-negative; got -1"),
        ({"bound": math.nan}, ValueError, "^bound must be a finite number; got nan"),
        ({"bound": math.inf}, ValueError, "^bound must be a finite number; got inf"),
        ({"gamma": 1.0}, ValueError, "gamma"),
        ({"gamma": -0.1}, ValueError, "gamma"),
        ({"gamma": math.nan}, ValueError, "gamma"),
        ({"exact": True}, ValueError, "an exact dataset must have one row, .*; got 3"),
        ({"features": ROWS[:1], "exact": "yes"}, TypeError, "exact must be True or False; got 'y"),
    ]
    assert_refuses(lambda given: FeatureDataset(**{"features": ROWS, **given}), *table)
    assert FeatureDataset([[1 + 0.9e-8]], bound=1.0).bound == 1.0  # rounding is no mistake


def test_a_dataset_fits_the_map_it_was_recorded_with_and_no_other(dataset):
    dataset.check_fits(Table(ROWS[None]))
    short, shorter = (StateOnly(OneHotState(n), n_actions=2) for n in (3, 2))
    table = [
        (short, ValueError, "phi must have d = 2, as the rows of the dataset; got d = 3"),
        (shorter, ValueError, r"features\[0\] must have a norm of at most the bound B = 1 of phi"),
        (OneHotState(2), TypeError, "must be a FeatureMap"),
    ]
    assert_refuses(dataset.check_fits, *table)


# Exactly, from a policy


def test_an_exact_expert_is_its_feature_expectations(monkeypatch):
    world = RandomLinear(4, 12, 3, gamma=0.9)
    pi = world.mdp.optimal().policy
    exact = FeatureDataset.from_policy(world, pi, world.features)
    expected = world.mdp.feature_expectations(pi, world.features.array)
    np.testing.assert_allclose(exact.mean, expected, rtol=0, atol=1e-14)
    assert exact.exact
    assert (exact.gamma, exact.bound) == (0.9, world.features.bound)
    assert exact == FeatureDataset.from_policy(world.mdp, TablePolicy(pi), world.features)
    for numbers in (1, 60, 61):  # summed up in pieces of 1, 5 and 5 states of the 12
        monkeypatch.setattr("optimist.imitation.recording.NUMBERS_AT_ONCE", numbers)
        pieces = FeatureDataset.from_policy(world, pi, world.features)
        np.testing.assert_allclose(pieces.mean, exact.mean, rtol=0, atol=1e-15)


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


def test_invalid_experts_are_refused():
    world, other = RiverSwim(4), StateOnly(OneHotState(4), n_actions=3)
    actions = "phi must have the world's 2 actions; got 3"
    good = {"world": world, "policy": np.full((4, 2), 0.5), "phi": world.features}
    table = [
        (
            {"policy": np.full((4, 2), 0.4)},
            ValueError,
            r"policy\[0\] must sum to 1 within 1e-08; got 0.8",
        ),
        ({"policy": np.full((3, 4, 2), 0.5)}, ValueError, "one policy .*; got a batch of 3"),
        ({"policy": np.full((3, 2), 0.5)}, ValueError, r"policy must have shape \(4, 2\)"),
        ({"phi": other}, ValueError, actions),
        ({"world": world.make(), "phi": OneHot(4, 2)}, TypeError, "must be a World or a FiniteMDP"),
    ]
    assert_refuses(lambda given: FeatureDataset.from_policy(**{**good, **given}), *table)
    with pytest.raises(ValueError, match=actions):
        FeatureDataset.from_rollouts(world, good["policy"], other, 10, np.random.default_rng(0))
