"""All values move at once as far as further updates are certain to take them."""

import numpy as np
import pytest

from optimist import envs
from optimist.agents import Optimist, VariantAgent, finite_driver
from optimist.agents.driver import RunSettings
from optimist.agents.finite_driver import FiniteDriver
from optimist.core.compiler import entry_point
from optimist.core.learning import update
from optimist.core.shift import shift
from optimist.mdp import FiniteMDP

ADAPTIVE = Optimist.Config().variant()
RANDOM = envs.RandomTabular(12, 3, gamma=0.98, seed=1)


@entry_point
def shifted(me, low, high, most, best):
    return shift(me, low, high, most, best)


@entry_point
def updated(me, eta):
    return update(me, eta)


def driver_in(mdp, seed=0):
    return FiniteDriver(mdp, None, ADAPTIVE, RunSettings(ADAPTIVE, seed, 0))


def learner(gamma=0.9, worth=4.0):
    """A learner of four states with values of 1 to 4, and what heaven is worth."""
    mdp = FiniteMDP(np.full((4, 2, 4), 0.25), np.zeros((4, 2)), np.full(4, 0.25), gamma)
    driver = driver_in(mdp)
    me = driver.learner(driver.rule(0))
    me.states.V[:], me.epoch.prior["worth"] = [1.0, 2.0, 3.0, 4.0], worth
    return me


G = 0.9 / 1.001 / (1 - 0.9 / 1.001)  # g + g^2 + ..., with the ridge of 1e-3


@pytest.mark.parametrize(
    ("low", "high", "most", "best", "by"),
    [
        (0.1, 0.5, 0.6, 5.2, 0.1 * G),
        (0.3, 0.5, 0.6, 5.1, 0.1 * G),  # heaven has risen least
        (-0.2, -0.05, -0.02, 4.9, -0.02 * G),
        (-0.2, -0.15, -0.12, 4.9, -0.1 * G),
        (-0.2, -0.05, 0.01, 4.9, 0.0),  # some policy has a value that rises
        (-0.5, -0.3, -0.3, 4.7, -1.0),  # no value falls below 0
        (1.0, 1.0, 1.0, 6.0, 4.0),  # heaven is worth no more than R_max H = 10
        (-0.1, 0.1, 0.1, 5.0, 0.0),
        (0.0, 0.1, 0.1, 5.1, 0.0),
    ],
)
def test_a_shift_by_hand(low, high, most, best, by):
    me = learner(worth=5.0)
    change, shift_of_all = shifted(me, low, high, most, best)
    assert shift_of_all == pytest.approx(by, abs=1e-12)
    np.testing.assert_allclose(me.states.V, np.array([1.0, 2.0, 3.0, 4.0]) + by, atol=1e-12)
    assert me.epoch.prior["worth"][0] == pytest.approx(best + by)
    least, largest = min(low, best - 5.0), max(high, best - 5.0)
    assert change == pytest.approx(max(largest - by / G, by / G - least))


def fixed_point(driver):
    """V and w that another update would not change, if it were one of a maximum."""
    mdp, states, prior = driver.mdp, driver.states, driver.epoch.prior[0]
    world, counts, gamma = driver.simulator, driver.data.counts, driver.mdp.gamma
    pair = np.repeat(np.arange(mdp.r.size), np.diff(world.first))
    n = np.bincount(pair, counts, mdp.r.size)
    v, V, w = prior["v"], states.V.copy(), prior["worth"]
    for _ in range(int(40 / (1 - gamma))):
        sums = np.bincount(pair, counts * (V[world.after] - v), mdp.r.size)
        PV = (v + sums / (n + driver.ridge)).reshape(mdp.r.shape)
        Q = (1 - states.p) * (mdp.r + states.CB + gamma * PV) + states.p * (mdp.r + gamma * w)
        V, w = Q.max(axis=1), Q.max()
    return V


def test_values_that_are_shifted_are_the_limit_of_updates():
    driver = driver_in(RANDOM.mdp, seed=2)
    while driver.episodes < 40:
        driver.learn_some(40 - driver.episodes)
    V = fixed_point(driver)
    # Changes are below 1e-4 but for a shift of all, so that values are within some gamma H 1e-4.
    assert np.abs(driver.states.V - V).max() < 0.98 / 0.02 * 1e-4
    assert V.max() - V.min() > 0.1


@pytest.mark.parametrize("gamma", [0.99, 0.999, 0.9999])
def test_the_ridge_does_not_make_a_shift_too_large(gamma):
    """After a visit of each pair a constant fades by gamma / 1.001 in an update."""
    mdp = FiniteMDP(
        np.roll(np.eye(5), 1, axis=1)[:, None], np.full((5, 1), 0.3), np.eye(5)[0], gamma
    )
    driver = driver_in(mdp)
    driver.data.counts[:], driver.regression.Lambda[:] = 1.0, 1 + driver.ridge
    driver.states.V[:] = 0.32 / (1 - gamma)
    prior = driver.epoch.prior
    prior["pays"], prior["v"], prior["worth"] = True, 0.3 / (1 - gamma), 0.32 / (1 - gamma)
    me = driver.learner(driver.rule(0))
    for _ in range(3):
        _, change = updated(me, 10.0)
    assert change < 1e-9 / (1 - gamma)
    np.testing.assert_allclose(driver.states.V, 0.3 / (1 - gamma), rtol=1e-9)


def test_few_updates_do_what_took_many(monkeypatch):
    """With rounds and without, values settle long before gamma^n is small."""
    for few in (0, 10**9):
        monkeypatch.setattr(finite_driver, "FEW", few)
        agent, most = VariantAgent(RANDOM, config=ADAPTIVE, seed=2), 0
        agent.learn(40, show_progress=False)
        for _ in range(20):
            before, epoch = agent.policy.updates, agent.diagnostics.epoch
            agent.learn(1, show_progress=False)
            if agent.diagnostics.epoch == epoch:
                most = max(most, agent.policy.updates - before)
        assert 0 < most < 60
        assert 0.98**60 > 0.2
