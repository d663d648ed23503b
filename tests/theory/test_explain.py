"""`explain`: the numbers of the theorem for one world."""

import dataclasses
import json

import numpy as np
import pytest

import optimist as opt
from optimist.theory import explain, parameters, regret, sample_complexity

RIVER = opt.envs.RiverSwim(6, gamma=0.9)


def test_a_tabular_world():
    found = explain(RIVER, 1000, delta=0.05)
    assert (found.world, found.d, found.n_actions, found.gamma) == ("RiverSwim", 12, 2, 0.9)
    assert (found.B, found.R_max) == (1.0, 1.0)
    assert found.W_max == pytest.approx(np.sqrt((RIVER.mdp.r**2).sum()))
    sizes = (12, 2, 0.9, 1.0, found.W_max, 1.0, 0.05)
    assert found.bound == regret.regret_bound(1000, *sizes)
    assert found.excess == found.bound.mended / found.bound.trivial
    assert found.nontrivial_from == sample_complexity.nontrivial_from(*sizes)
    assert found.beta == parameters.beta(1000, 12, 0.9, 1.0, found.W_max, 1.0, 0.05)
    assert found.eta == parameters.eta(1000, 12, 2, 0.9, 1.0, 1.0, 0.05)
    assert found.optimum == RIVER.mdp.optimal().value
    assert found.epsilon == pytest.approx(0.1 * found.optimum)
    assert found.episodes_for_epsilon == sample_complexity.episodes_needed(found.epsilon, *sizes)
    assert found.steps_for_epsilon == pytest.approx(10 * found.episodes_for_epsilon)
    assert found.L_max == pytest.approx(10 * np.log(20_000))
    np.testing.assert_allclose([found.T, found.Q_max], [1000 * found.L_max, 20])
    assert found.epochs == pytest.approx(60 * np.log(1 + found.T / 12))
    assert not found.notes
    assert dataclasses.replace(explain(RIVER.mdp, 1000, delta=0.05), world="RiverSwim") == found


def test_a_linear_world_has_its_own_features():
    world = opt.envs.RandomLinear()
    found = explain(world, 1000)
    assert found.d == world.mdp.d < world.mdp.n_states * world.mdp.n_actions
    assert found.W_max <= world.mdp.W_max * (1 + 1e-9)  # the shortest w
    assert found.W_max == pytest.approx(world.mdp.W_max)  # the features span R^d
    one_hot = opt.features.OneHot(world.mdp.n_states, world.mdp.n_actions)
    tabular = explain(world, 1000, features=one_hot)
    assert tabular.d == one_hot.dim
    assert tabular.bound.total > found.bound.total


def test_the_shortest_weights_are_taken():
    """Twice the same feature: w = (1/2, 1/2) instead of (1, 0)."""
    mdp = opt.FiniteMDP([[[1.0]]], [[5.0]], [1.0], gamma=0.5)
    found = explain(mdp, 100, features=opt.features.Table([[[1.0, 1.0]]]))
    np.testing.assert_allclose([found.W_max, found.B], [5 / np.sqrt(2), np.sqrt(2)])
    assert found.R_max == 5
    assert not found.notes


def test_sizes_below_one_are_raised_to_one_with_a_note():
    mdp = RIVER.mdp.with_rewards(RIVER.mdp.r / 4)
    found = explain(mdp, 100, features=opt.features.Table(0.5 * np.eye(12).reshape(6, 2, 12)))
    assert (found.B, found.W_max, found.R_max) == (1, 1, 1)
    assert found.notes == (
        "B = 0.5: the theorem assumes at least 1, and 1 is used.",
        "W_max = 0.5: the theorem assumes at least 1, and 1 is used.",
        "R_max = 0.25: the theorem assumes at least 1, and 1 is used.",
    )


def test_a_world_that_is_not_linear_has_notes():
    constant = opt.features.Table(np.ones((6, 2, 1)))
    notes = explain(RIVER, 100, features=constant).notes
    assert "Rewards are not linear in the features: the theorem does not apply." in notes
    assert "Transitions are not linear in the features: the theorem does not apply." in notes


def test_it_is_plain_data():
    data = explain(RIVER, 1000).as_data()
    assert json.loads(json.dumps(data)) == {**data, "notes": []}
    others = ("trivial", "total", "dominant", "epoch_starts", "mended")
    terms = [v for k, v in data["bound"].items() if k not in others]
    assert sum(terms) == pytest.approx(data["bound"]["total"])
    assert data["bound"]["dominant"] == "heaven_chance"


def test_a_world_without_rewards_has_no_accuracy_to_reach():
    found = explain(RIVER.mdp.with_rewards(np.zeros((6, 2))), 100)
    assert found.episodes_for_epsilon is found.steps_for_epsilon is None


def test_mistakes_are_named():
    costs = RIVER.mdp.with_rewards(RIVER.mdp.r - 1)
    three = opt.features.OneHot(6, 3)
    for error, given, message in (
        (ValueError, (RIVER, 7), "K must be at least 8; got 7"),
        (ValueError, (costs, 100), r"rewards must be at least 0; got -1\. Map them onto"),
        (TypeError, ("RiverSwim", 100), "must be a World, FiniteMDP or LinearMDP; got str"),
        (TypeError, (RIVER, 100, 0.1, np.eye(3)), r"must be a FeatureMap, .* got ndarray"),
        (ValueError, (RIVER, 100, 0.1, three), "must be of 2 actions, as the world; got 3"),
    ):
        with pytest.raises(error, match=message):
            explain(*given)


def test_theory_is_an_attribute_of_the_package():
    assert opt.theory.explain is explain
    assert "theory" in dir(opt)
