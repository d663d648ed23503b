"""Parameters and worlds at the ends of their ranges."""

import numpy as np
import pytest

from optimist.agents import VariantAgent
from optimist.core import FixedBonus, Sigmoid, Variant
from optimist.core.arrays import simulator
from optimist.core.linalg import draw
from optimist.features import OneHot, Table
from optimist.mdp import FiniteMDP

INFINITY = float("inf")


def test_an_infinite_learning_rate_is_greedy(setting, transcribe, follow):
    config = Variant(eta=INFINITY, bonus=FixedBonus(0.3), ascension=Sigmoid(4.0, 2.0), updates=2)
    agent = VariantAgent(*setting, config=config, seed=5)
    other = follow(agent, transcribe(agent, seed=5), 100)
    np.testing.assert_allclose(agent.diagnostics.V, other.Q[:-1].max(axis=1), rtol=0, atol=1e-9)
    pi = agent.policy.probabilities(np.arange(agent.mdp.n_states))
    assert set(np.unique(pi)) == {0.0, 1.0}


def test_a_greedy_policy_breaks_ties_to_the_first_action():
    mdp = FiniteMDP(np.full((1, 3, 1), 1.0), [[0.2, 0.7, 0.7]], [1.0], gamma=0.0)
    config = Variant(eta=INFINITY, bonus=FixedBonus(1.0), ascension=Sigmoid(1.0, 1.0))
    agent = VariantAgent(mdp, config=config, stride=1)
    history = agent.learn(3)
    np.testing.assert_array_equal(history.policies[1:], [[[0, 1, 0]]] * 2)
    np.testing.assert_array_equal(agent.policy.probabilities(0), [0, 1, 0])


def test_large_learning_rates_approach_the_greedy_limit(make_random):
    """Over one update after a reset: V is within log A / eta below the maximum."""
    mdp = make_random()
    runs = [
        VariantAgent(
            mdp, config=Variant(eta=eta, bonus=FixedBonus(0.5), ascension=Sigmoid(2.0, 1.0)), seed=3
        )
        for eta in (1e7, INFINITY)
    ]
    for agent in runs:
        agent.learn(1)
    gap = runs[1].diagnostics.V - runs[0].diagnostics.V
    assert (gap >= -1e-12).all()
    assert (gap <= np.log(3) / 1e7 + 1e-12).all()


@pytest.mark.parametrize("beta", [0.0, 0.3])
def test_an_infinite_slope_is_a_step(setting, beta, transcribe, follow):
    config = Variant(eta=1.0, bonus=FixedBonus(beta), ascension=Sigmoid(INFINITY, 2.0))
    agent = VariantAgent(*setting, config=config, seed=6)
    follow(agent, transcribe(agent, seed=6), 60)
    uncertain = agent.diagnostics.CB > 0
    if not uncertain.any():
        assert beta == 0
    assert (agent.diagnostics.p[uncertain] == 1).all()
    np.testing.assert_allclose(agent.diagnostics.p[~uncertain], 1 / (1 + np.exp(2.0)), rtol=1e-14)


def test_without_bonuses_every_pair_leaks_alike(setting, transcribe, follow):
    config = Variant(eta=1.0, bonus=FixedBonus(0.0), ascension=Sigmoid(4.0, 3.0))
    agent = VariantAgent(*setting, config=config, seed=7)
    follow(agent, transcribe(agent, seed=7), 60)
    assert (agent.diagnostics.CB == 0).all()
    np.testing.assert_allclose(agent.diagnostics.p, 1 / (1 + np.exp(3.0)), rtol=1e-14)


@pytest.mark.parametrize("eta", [1.0, INFINITY])
def test_huge_bonuses_stay_in_heaven(setting, eta, transcribe, follow):
    """Where CB is huge p is 1, and where phi = 0 nothing is added: Q never exceeds R_max H."""
    config = Variant(eta=eta, bonus=FixedBonus(100000000.0), ascension=Sigmoid(4.0, 2.0), r_max=1.5)
    agent = VariantAgent(*setting, config=config, seed=8)
    follow(agent, transcribe(agent, seed=8), 60)
    heaven = 1.5 * agent.mdp.horizon
    assert agent.history.sup_q.max() <= heaven * (1 + 1e-12)
    assert (agent.history.sup_q >= heaven * (1 - 1e-12)).all()
    assert np.isfinite(agent.policy.probabilities(np.arange(agent.mdp.n_states))).all()


@pytest.mark.parametrize("beta", [0.1, 1.0, 10.0, 1000.0])
@pytest.mark.parametrize("name", ["river", "grid", "deep sea", "random"])
def test_values_obey_the_bound_of_the_lemma(name, beta, settings_by_name):
    """Q_max = H (R_max + 2 omega / alpha) for omega >= 2; one-hot means are valid for any beta."""
    mdp, features = settings_by_name[name]()
    config = Variant(eta=2.0, bonus=FixedBonus(beta), ascension=Sigmoid(8.0, 4.0), updates=5)
    history = VariantAgent(mdp, features, config=config, seed=9).learn(300)
    assert history.sup_q.max() <= mdp.horizon * (1 + 2 * 4.0 / 8.0)


@pytest.mark.parametrize("observe_last", [False, True])
@pytest.mark.parametrize("name", ["random", "random linear"])
def test_without_a_future_episodes_have_one_step(
    name, observe_last, make_random, transcribe, follow
):
    mdp = make_random(gamma=0.0)
    Phi = np.random.default_rng(1).normal(size=(6, 3, 4))
    features = OneHot(6, 3) if name == "random" else Table(Phi)
    config = Variant(
        eta=1.0, bonus=FixedBonus(0.5), ascension=Sigmoid(4.0, 2.0), observe_last=observe_last
    )
    agent = VariantAgent(mdp, features, config=config, seed=1)
    other = follow(agent, transcribe(agent, seed=1), 100)
    assert (agent.history.steps == 1).all()
    assert len(other.D) == (100 if observe_last else 0)
    assert (other.e > 1) == observe_last


@pytest.mark.parametrize("features", [None, Table(np.random.default_rng(2).normal(size=(6, 3, 4)))])
def test_a_distant_horizon(features, make_random, transcribe, follow):
    """Values are of the order of H = 10^4, and agree to 12 digits."""
    config = Variant(eta=0.1, bonus=FixedBonus(0.5), ascension=Sigmoid(4.0, 2.0), updates=3)
    agent = VariantAgent(make_random(gamma=0.9999), features, config=config, seed=1)
    follow(agent, transcribe(agent, seed=1), 6, tolerance=1e-12 * agent.mdp.horizon)
    assert agent.history.steps.sum() > 20_000


def test_one_action(make_random, transcribe, follow):
    mdp = make_random(n_actions=1)
    agent = VariantAgent(
        mdp, config=Variant(eta=1.0, bonus=FixedBonus(0.5), ascension=Sigmoid(4.0, 2.0)), seed=1
    )
    follow(agent, transcribe(agent, seed=1), 100)
    np.testing.assert_array_equal(agent.policy.probabilities(np.arange(6)), np.ones((6, 1)))


@pytest.mark.parametrize("features", [None, Table(np.ones((1, 3, 2)))])
def test_one_state(features, make_random, transcribe, follow):
    mdp = make_random(n_states=1)
    agent = VariantAgent(
        mdp,
        features,
        config=Variant(eta=1.0, bonus=FixedBonus(0.5), ascension=Sigmoid(4.0, 2.0)),
        seed=1,
    )
    follow(agent, transcribe(agent, seed=1), 100)


def test_one_feature(make_random, transcribe, follow):
    """Of either sign, and zero for one pair."""
    Phi = np.random.default_rng(4).normal(size=(6, 3, 1))
    Phi[2, 1] = 0
    config = Variant(eta=1.0, bonus=FixedBonus(0.5), ascension=Sigmoid(4.0, 2.0), updates=2)
    agent = VariantAgent(make_random(), Table(Phi), config=config, seed=1)
    other = follow(agent, transcribe(agent, seed=1), 150)
    assert other.CB[2, 1] == 0 < other.e


def test_a_state_in_which_no_episode_starts_is_never_drawn_first():
    """Even where nu0 sums to a little less than one, as it may: the rest goes to those before."""
    P, r = np.full((3, 1, 3), 1 / 3), np.zeros((3, 1))
    world = simulator(FiniteMDP(P, r, [0.5, 0.5 - 9e-9, 0.0], gamma=0.0))
    assert draw(world.start, np.nextafter(1, 0)) == 1
