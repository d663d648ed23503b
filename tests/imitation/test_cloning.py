"""Behavioural cloning: the policy under which the expert's actions are most likely."""

import numpy as np
import pytest
import scipy.optimize as so
from reference.refusals import assert_refuses

from optimist import load_policy
from optimist.core import SoftmaxPolicy, TablePolicy
from optimist.envs import RiverSwim
from optimist.features import Fourier, OneHot, OneHotState, PerAction, StateOnly, Table
from optimist.imitation.cloning import RIDGE, BehaviouralCloning
from optimist.imitation.dataset import FeatureDataset
from optimist.imitation.recording import record_pairs

# Tables


def test_frequencies():
    clone = BehaviouralCloning([2, 0, 2, 2, 2], [1, 0, 1, 0, 2], OneHot(3, 3))
    third = 1 / 3
    expected = [[1, 0, 0], [third, third, third], [0.25, 0.5, 0.25]]
    np.testing.assert_allclose(clone.policy.table, expected, rtol=0, atol=1e-15)
    assert isinstance(clone.policy, TablePolicy)
    assert repr(clone) == "BehaviouralCloning(size=5, policy=TablePolicy)"


def test_rollouts_are_those_that_are_recorded_of_an_environment_too():
    world = RiverSwim(4, gamma=0.9)
    pi = world.mdp.uniform_policy
    for there, gamma in ((world, None), (world.make(), 0.9)):
        pairs = record_pairs(there, pi, 50, np.random.default_rng(3), gamma)
        clone = BehaviouralCloning.from_rollouts(
            there, pi, world.features, 50, np.random.default_rng(3), gamma
        )
        expected = BehaviouralCloning(*pairs, world.features)
        np.testing.assert_array_equal(clone.policy.table, expected.policy.table)


# Linear softmax policies


def loss(theta, states, actions, phi):
    """The penalised likelihood, written out pair by pair."""
    total = RIDGE * phi.bound**2 * (theta @ theta) / 2
    for x, a in zip(states, actions, strict=True):
        logits = phi.all_actions(x) @ theta
        total += np.log(np.exp(logits - logits.max()).sum()) + logits.max() - logits[a]
    return total


@pytest.fixture(params=[1.0, 100.0], ids=["short features", "long features"])
def problem(request):
    """Pairs of a known softmax policy on a table of features."""
    rng = np.random.default_rng(0)
    phi = Table(request.param * rng.normal(size=(8, 3, 4)))
    theta = rng.normal(size=4) / request.param
    policy = softmax(phi, theta)
    states = rng.integers(8, size=60)
    actions = np.array([rng.choice(3, p=policy[x]) for x in states])
    return states, actions, phi


def softmax(phi, theta):
    weights = np.exp(phi.array @ theta)
    return weights / weights.sum(axis=-1, keepdims=True)


def test_the_likelihood_is_at_its_maximum(problem):
    """By central differences: they are off by h^2, and by rounding of a loss of about 60 over h.

    And another method finds the same maximum.
    """
    states, actions, phi = problem
    theta = BehaviouralCloning(states, actions, phi).policy.Theta
    h = 1e-4 / phi.bound
    slopes = [
        (loss(theta + step, *problem) - loss(theta - step, *problem)) / (2 * h)
        for step in h * np.eye(4)
    ]
    np.testing.assert_allclose(slopes, 0, rtol=0, atol=1e-5 * phi.bound * len(states))
    for step in 0.01 / phi.bound * np.vstack([np.eye(4), -np.eye(4)]):
        assert loss(theta + step, *problem) > loss(theta, *problem)
    other = so.minimize(
        lambda scaled: loss(scaled / phi.bound, *problem),
        np.zeros(4),
        method="Nelder-Mead",
        options={"xatol": 1e-7, "fatol": 1e-10, "maxiter": 10_000, "maxfev": 10_000},
    )
    assert other.success
    np.testing.assert_allclose(theta * phi.bound, other.x, rtol=0, atol=1e-4)


def test_the_penalty_matches_its_formula():
    """One pair and one feature of size B: theta B = u solves RIDGE u = 1 - pi(u)."""
    phi = Table([[[3.0], [0.0]]])
    u = so.brentq(lambda u: RIDGE * u - 1 / (1 + np.exp(u)), 0, 100, xtol=1e-14)
    theta = BehaviouralCloning([0], [0], phi).policy.Theta
    np.testing.assert_allclose(theta, u / 3, rtol=1e-5)


def test_actions_that_can_be_told_apart_still_have_a_maximum():
    """The likelihood alone would send theta to infinity."""
    phi = PerAction(OneHotState(3), n_actions=2)
    states, actions = [0, 1, 2] * 20, [0, 1, 1] * 20
    policy = BehaviouralCloning(states, actions, phi).policy
    assert np.isfinite(policy.Theta).all()
    chosen = policy.probabilities([0, 1, 2])[np.arange(3), [0, 1, 1]]
    assert (chosen > 0.999).all()
    assert [policy.predict(x) for x in range(3)] == [0, 1, 1]


def test_what_the_features_do_not_tell_apart_stays_uniform():
    phi = StateOnly(OneHotState(2), n_actions=3)
    policy = BehaviouralCloning([0, 0, 1], [2, 2, 1], phi).policy
    np.testing.assert_array_equal(policy.probabilities([0, 1]), np.full((2, 3), 1 / 3))
    zero = BehaviouralCloning([0, 0], [1, 1], Table(np.zeros((1, 2, 3)))).policy
    np.testing.assert_array_equal(zero.probabilities(0), [0.5, 0.5])


def test_observations_that_are_arrays():
    phi = PerAction(
        Fourier(([-1, -1], [1, 1]), pairs=20, rng=np.random.default_rng(1)), n_actions=2
    )
    rng = np.random.default_rng(0)
    states = rng.uniform(-1, 1, size=(500, 2))
    actions = (states[:, 0] > 0).astype(int)
    policy = BehaviouralCloning(states, actions, phi).policy
    fresh = rng.uniform(-1, 1, size=(500, 2))
    right = policy.probabilities(fresh).argmax(axis=1) == (fresh[:, 0] > 0)
    assert right.mean() > 0.95


def test_policies_can_be_stored(tmp_path, problem):
    states, actions, phi = problem
    for features in (phi, OneHot(8, 3)):
        policy = BehaviouralCloning(states, actions, features).policy
        policy.save(tmp_path / "clone.safetensors")
        loaded = load_policy(tmp_path / "clone.safetensors", features)
        x = np.arange(8)
        np.testing.assert_array_equal(loaded.probabilities(x), policy.probabilities(x))
    assert isinstance(BehaviouralCloning(states, actions, phi).policy, SoftmaxPolicy)


# What is refused


def test_wrong_input_is_refused():
    data, one, table = FeatureDataset([[1.0, 0.0]]), OneHot(1, 2), Table(np.ones((3, 2, 1)))
    features_only = "no actions, so there is nothing to clone; FraIL can"
    no_map = "features must be a FeatureMap"
    cases = [
        ((data,), TypeError, features_only),
        ((data, [0], one), TypeError, features_only),
        (([0], data, one), TypeError, features_only),
        (([0], [0], None), TypeError, no_map),
        (([0], [0], OneHotState(3)), TypeError, no_map),
        (([0], [0], "one-hot"), TypeError, no_map),
        (
            ([[0], [1]], [0, 1], OneHot(2, 2)),
            ValueError,
            r"states must have shape .*; got \(2, 1\)",
        ),
    ]
    for phi in (OneHot(3, 2), table):
        cases += [
            (([0, 1], None, phi), TypeError, "actions must be given"),
            (([], [], phi), TypeError, "actions must hold .* numbers; got float64"),
            (([], np.empty(0, int), phi), ValueError, r"actions must be \[n\] with n >= 1"),
            (([0, 1], [[0, 1]], phi), ValueError, r"got shape \(1, 2\)"),
            (([0, 1], [0], phi), ValueError, r"one row for each of 1 actions; got \(2,\)"),
            ((0, [0], phi), ValueError, r"one row for each of 1 actions; got \(\)"),
            (([0, 1], [0, 2], phi), ValueError, r"actions\[1\] must be in {0, ..., 1}; got 2"),
            (([0, 1], [0, 0.5], phi), TypeError, "actions must hold whole numbers; got float64"),
            (
                ([1, 0, 3], [0, 1, 1], phi),
                ValueError,
                r"states?\[2\] must be in {0, ..., 2}; got 3",
            ),
            (([0.0, 1.0], [0, 1], phi), TypeError, "states? must hold whole numbers; got float64"),
            (
                ([0, np.nan], [0, 1], phi),
                ValueError,
                r"states\[1\] must be a finite number; got nan",
            ),
            ((["a", "b"], [0, 1], phi), TypeError, "must hold real numbers"),
        ]
    assert_refuses(lambda given: BehaviouralCloning(*given), *cases)


def test_a_search_that_does_not_arrive_is_an_error(problem, monkeypatch):
    """Also if it has arrived in some coordinate, here in that of a feature that is always zero."""
    monkeypatch.setattr("optimist.imitation.cloning.GRADIENT_TOLERANCE", 0.0)
    states, actions, phi = problem
    padded = Table(np.pad(phi.array, ((0, 0), (0, 0), (0, 1))))
    with pytest.raises(RuntimeError, match="the likelihood was not maximised"):
        BehaviouralCloning(states, actions, padded)
