"""All values move at once as far as further updates are certain to take them."""

import numpy as np
import pytest

from optimist import envs
from optimist.agents import Optimist, VariantAgent, finite_driver
from optimist.agents.driver import RunSettings
from optimist.agents.finite_driver import FiniteDriver
from optimist.core.compiler import entry_point
from optimist.core.shift import shift
from optimist.mdp import FiniteMDP

ADAPTIVE = Optimist.Config().variant()
RANDOM = envs.RandomTabular(12, 3, gamma=0.98, seed=1)


@entry_point
def shifted(me, low, high):
    return shift(me, low, high)


def driver_in(mdp, seed=0):
    return FiniteDriver(mdp, None, ADAPTIVE, RunSettings(ADAPTIVE, seed, 0))


def learner(gamma=0.9, worth=4.0):
    """A learner of four states with values of 1 to 4, and what heaven is worth."""
    mdp = FiniteMDP(np.full((4, 2, 4), 0.25), np.zeros((4, 2)), np.full(4, 0.25), gamma)
    driver = driver_in(mdp)
    me = driver.learner(driver.rule(0))
    me.states.V[:], me.epoch.prior["worth"] = [1.0, 2.0, 3.0, 4.0], worth
    return me


@pytest.mark.parametrize(
    ("low", "high", "by"),
    [
        (0.1, 0.5, 0.9),  # gamma H low
        (-0.1, -0.05, -0.45),  # gamma H high
        (-0.5, -0.3, -1.0),  # no value below 0
        (1.0, 1.0, 5.0),  # heaven is worth no more than R_max H = 10
        (-0.1, 0.1, 0.0),
        (0.0, 0.1, 0.0),
    ],
)
def test_a_shift_by_hand(low, high, by):
    me = learner(worth=5.0)
    assert shifted(me, low, high) == pytest.approx(by, abs=1e-12)
    np.testing.assert_allclose(me.states.V, np.array([1.0, 2.0, 3.0, 4.0]) + by, atol=1e-12)
    assert me.epoch.prior["worth"][0] == pytest.approx(5.0 + by)


def test_values_that_are_shifted_are_the_limit_of_updates():
    """After an episode they are near the fixed point of the next update, which is one of a max."""
    driver, mdp = driver_in(RANDOM.mdp, seed=2), RANDOM.mdp
    while driver.episodes < 40:
        driver.learn_some(40 - driver.episodes)
    states, prior = driver.states, driver.epoch.prior[0]
    world, counts = driver.simulator, driver.data.counts
    pair = np.repeat(np.arange(mdp.r.size), np.diff(world.first))
    n = np.bincount(pair, counts, mdp.r.size)
    v, V, w = prior["v"], states.V.copy(), prior["worth"]
    for _ in range(3000):
        sums = np.bincount(pair, counts * (V[world.after] - v), mdp.r.size)
        PV = (v + sums / (n + driver.ridge)).reshape(mdp.r.shape)
        Q = (1 - states.p) * (mdp.r + states.CB + 0.98 * PV) + states.p * (mdp.r + 0.98 * w)
        V, w = Q.max(axis=1), Q.max()
    # Changes are below 1e-4 but for a shift of all, so that values are within gamma H 1e-4.
    assert np.abs(states.V - V).max() < 0.98 / 0.02 * 1e-4
    assert V.max() - V.min() > 0.1


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
