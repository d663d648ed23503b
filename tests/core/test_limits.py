"""Parameters and worlds at the ends of their ranges."""

import math

import numpy as np
import pytest
from reference.algorithm_1 import followed
from reference.mdps import random_mdp
from reference.settings import SETTINGS
from reference.variants import variant

from optimist.agents import VariantAgent
from optimist.core import Sigmoid
from optimist.core.arrays import simulator
from optimist.core.linalg import draw
from optimist.features import OneHot, Table
from optimist.mdp import FiniteMDP


def normal(*shape):
    return np.random.default_rng(4).normal(size=shape)


def test_an_infinite_learning_rate_is_greedy(setting):
    agent, _ = followed(*setting, variant(math.inf, updates=2), 100, seed=5)
    pi = agent.policy.probabilities(np.arange(agent.mdp.n_states))
    assert set(np.unique(pi)) == {0.0, 1.0}


def test_a_greedy_policy_breaks_ties_to_the_first_action():
    mdp = FiniteMDP(np.full((1, 3, 1), 1.0), [[0.2, 0.7, 0.7]], [1.0], gamma=0.0)
    agent = VariantAgent(mdp, config=variant(math.inf, 1.0, Sigmoid(1.0, 1.0)), stride=1)
    history = agent.learn(3)
    np.testing.assert_array_equal(history.policies[1:], [[[0, 1, 0]]] * 2)
    np.testing.assert_array_equal(agent.policy.probabilities(0), [0, 1, 0])


def test_large_learning_rates_approach_the_greedy_limit():
    """Over one update after a reset: V is within log A / eta below the maximum."""
    V = []
    for eta in (1e7, math.inf):
        agent = VariantAgent(random_mdp(), config=variant(eta, 0.5, Sigmoid(2.0, 1.0)), seed=3)
        agent.learn(1)
        V.append(agent.diagnostics.V)
    assert (V[1] - V[0] >= -1e-12).all()
    assert (V[1] - V[0] <= np.log(3) / 1e7 + 1e-12).all()


@pytest.mark.parametrize(("beta", "alpha"), [(0.0, 4.0), (0.0, math.inf), (0.3, math.inf)])
def test_an_infinite_slope_is_a_step_and_without_bonuses_every_pair_leaks_alike(
    setting, beta, alpha
):
    agent, _ = followed(*setting, variant(1.0, beta, Sigmoid(alpha, 2.0)), 60, seed=6)
    now = agent.diagnostics
    assert (now.p[now.CB > 0] == 1).all()
    np.testing.assert_allclose(now.p[now.CB == 0], 1 / (1 + np.exp(2.0)), rtol=1e-14)
    assert (now.CB > 0).any() == (beta > 0)


@pytest.mark.parametrize("eta", [1.0, math.inf])
def test_huge_bonuses_stay_in_heaven(setting, eta):
    """Where CB is huge p is 1, and where phi = 0 nothing is added: Q never exceeds R_max H."""
    units = dict.fromkeys(("bonus", "CB"), 1e8)
    agent, _ = followed(*setting, variant(eta, 1e8, r_max=1.5), 60, seed=8, units=units)
    np.testing.assert_allclose(agent.history.sup_q, 1.5 * agent.mdp.horizon, rtol=1e-12)
    assert np.isfinite(agent.policy.probabilities(np.arange(agent.mdp.n_states))).all()


@pytest.mark.parametrize("beta", [0.1, 1.0, 10.0, 1000.0])
@pytest.mark.parametrize("name", ["river", "grid", "deep sea", "random"])
def test_values_obey_the_bound_of_the_lemma(name, beta):
    """Q_max = H (R_max + 2 omega / alpha) for omega >= 2; one-hot means are valid for any beta."""
    mdp, features = SETTINGS[name]()
    config = variant(2.0, beta, Sigmoid(8.0, 4.0), updates=5)
    history = VariantAgent(mdp, features, config=config, seed=9).learn(300)
    assert history.sup_q.max() <= mdp.horizon * (1 + 2 * 4.0 / 8.0)


@pytest.mark.parametrize("observe_last", [False, True])
@pytest.mark.parametrize("features", [OneHot(6, 3), Table(normal(6, 3, 4))])
def test_without_a_future_episodes_have_one_step(features, observe_last):
    config = variant(1.0, 0.5, observe_last=observe_last)
    agent, other = followed(random_mdp(gamma=0.0), features, config, 100)
    assert (agent.history.steps == 1).all()
    assert len(other.D) == (100 if observe_last else 0)
    assert (other.e > 1) == observe_last


@pytest.mark.parametrize("features", [None, Table(normal(6, 3, 4))])
def test_a_distant_horizon(features):
    """Values are of the order of H = 10^4, and agree to 12 digits."""
    mdp = random_mdp(gamma=0.9999)
    agent, _ = followed(mdp, features, variant(0.1, 0.5, updates=3), 6, atol=1e-12 * mdp.horizon)
    assert agent.history.steps.sum() > 20_000


@pytest.mark.parametrize(
    ("size", "features"),
    [
        ({"n_actions": 1}, None),
        ({"n_states": 1}, None),
        ({"n_states": 1}, Table(np.ones((1, 3, 2)))),
        ({}, Table(normal(6, 3, 1) * (np.arange(18) != 7).reshape(6, 3, 1))),
    ],
    ids=["one action", "one state", "one state, dense", "one feature, zero for a pair"],
)
def test_one_action_one_state_and_one_feature(size, features):
    followed(random_mdp(**size), features, variant(1.0, 0.5, updates=2), 150)


def test_a_state_in_which_no_episode_starts_is_never_drawn_first():
    """Even where nu0 sums to a little less than one, as it may: the rest goes to those before."""
    P, r = np.full((3, 1, 3), 1 / 3), np.zeros((3, 1))
    world = simulator(FiniteMDP(P, r, [0.5, 0.5 - 9e-9, 0.0], gamma=0.0))
    assert draw(world.start, np.nextafter(1, 0)) == 1
