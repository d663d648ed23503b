"""Values of a chain, exactly: termination is worth 0, and what is cut off goes on for ever."""

import math
from dataclasses import replace

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from reference.comparison import assert_close
from reference.environments import Episodic
from reference.variants import variant

from optimist import OptimisticVI
from optimist.agents import VariantAgent
from optimist.core import Threshold

N, GAMMA = 5, 0.9
EXACT = variant(math.inf, 0.0, Threshold.after(1, 1e-10), ridge=1e-10, updates=300)


class Chain(Episodic):
    """States 0, ..., N - 1 in a row. Action 1 moves on; action 0 stays, or goes back to the start.

    Moving on from the last pays 1, and terminates, or leads back to the start. Every other step
    pays ``cost``. An episode is cut off after ``limit`` steps.
    """

    n_states = N

    def __init__(self, terminates, limit=10**9, cost=0.0, box=False):
        self.terminates, self.limit, self.cost, self.box = terminates, limit, cost, box

    def move(self, action):
        last = self.x == N - 1 and action == 1
        self.x = (self.x + action) % N
        reward = 1.0 if last else self.cost
        return reward, last and self.terminates, self.t >= self.limit


def by_hand(terminates, cost=0.0):
    """V of the chain, in its own units, by value iteration."""
    V = np.zeros(N)
    for _ in range(2000):
        on = np.append(V[1:], 0.0 if terminates else V[0])
        pay = np.append(np.full(N - 1, cost), 1.0)
        V = np.maximum(pay + GAMMA * on, cost + GAMMA * V)
    return V


TERMS = {"gamma": GAMMA, "geometric": False, "low": 0.0, "high": 1.0}


def learner(env, config=EXACT, features=None, **told):
    return VariantAgent(env, features, config=config, seed=0, **{**TERMS, **told})


def explored(agent, episodes=40):
    """Every pair is seen: as long as one is new it leads to heaven."""
    agent.learn(episodes)
    assert len(agent.transitions.weight) == 2 * N
    return agent


def assert_values(agent, V, observations=None):
    found = agent.believe(np.arange(N) if observations is None else observations).value
    np.testing.assert_allclose(found, V, rtol=1e-6)


@pytest.mark.parametrize(
    ("terminates", "limit", "cost"),
    [(False, 8, 0.0), (False, 14, -0.5), (True, 8, -0.5), (True, 14, 0.0)],
)
def test_values_are_those_of_the_infinite_horizon(terminates, limit, cost):
    """In the units of [0, 1] a reward r is (r - low) / width, and V is (V - low H) / width."""
    low, width = cost, 1.0 - cost
    agent = explored(learner(Chain(terminates, limit, cost), low=low, high=1.0), 60)
    assert_values(agent, (by_hand(terminates, cost) - low / (1 - GAMMA)) / width)
    ended = agent.history.terminated
    assert ended.any() == terminates
    assert not ended.all()  # some were cut off


def test_what_ends_in_the_step_that_cuts_it_off_has_ended():
    """Both are said of the last step: then it is a termination."""
    chain = Chain(True)
    on = gymnasium.wrappers.TransformAction(chain, lambda action: 1, chain.action_space)
    agent = learner(gymnasium.wrappers.TimeLimit(on, N))
    assert agent.learn(5).terminated.all()
    np.testing.assert_allclose(agent.believe([0]).value, GAMMA ** (N - 1), rtol=1e-6)


@pytest.mark.parametrize("mode", AutoresetMode)
def test_values_are_the_same_side_by_side(mode):
    """In a vector an observation after a reset is never taken for what a step led to."""
    for terminates in (False, True):
        makers = [lambda t=terminates: Chain(t, 12), lambda t=terminates: Chain(t, 17)]
        agent = explored(learner(SyncVectorEnv(makers, autoreset_mode=mode)), 80)
        assert_values(agent, by_hand(terminates))


def test_values_on_tiles_are_those_of_the_states():
    agent = explored(learner(Chain(True, 20, box=True), features=f"tiles:{N}"), 60)
    assert_values(agent, by_hand(True), (np.arange(N)[:, None] + 0.5) / N)


@pytest.mark.parametrize("terminates", [False, True])
def test_geometric_resets_change_no_values(terminates):
    """They say how episodes are drawn, and are no discount on top of the discount."""
    agent = explored(learner(Chain(terminates), geometric=True), 900)
    assert_values(agent, by_hand(terminates))


@pytest.mark.parametrize("eta", [50.0, 1e4])
def test_large_eta_is_near_greedy(eta):
    """V = 1/eta log sum pi e^{eta Q} is below max Q by at most log(A) / eta an update."""
    agent = explored(learner(Chain(True, 20), replace(EXACT, eta=eta)), 60)
    V, found = by_hand(True), agent.believe(np.arange(N)).value
    assert (found <= V + 1e-6).all()
    assert_close(found, V, atol=math.log(2) / eta / (1 - GAMMA) + 1e-6)


def test_the_ridge_pulls_values_to_0():
    """With n visits a mean is shrunk to n / (n + ridge) of it: of the last pair, the reward."""
    config = replace(EXACT, ascension=Threshold.after(1, 3.0), ridge=3.0)
    agent = explored(learner(Chain(True, 20), config), 60)
    n = agent.believe([N - 1]).visits[0, 1]
    assert n > 5
    assert n == pytest.approx(round(n))
    np.testing.assert_allclose(agent.believe([N - 1]).value, n / (n + 3), rtol=1e-9)


def test_a_bonus_is_added_at_every_step():
    """V = sum gamma^t (r + beta u): where all pairs were tried alike, beta u H above the rest."""
    agent = OptimisticVI(Chain(False, 20), beta=0.5, ridge=1.0, updates=300, **TERMS)
    explored(agent, 60)
    seen, heaven = agent.believe(np.arange(N)), agent.diagnostics.heaven
    # The last update by hand, from the counts that were kept and the bonuses of the epoch.
    n = seen.visits
    assert np.allclose(n, np.round(n))
    V = np.zeros(N)
    for _ in range(2000):
        on = np.append(V[1:], V[0])
        pay = np.append(np.zeros(N - 1), 1.0)
        Q = np.stack([GAMMA * V, pay + GAMMA * on], axis=1) * n / (n + 1) + seen.bonus
        V = np.minimum(Q, heaven).max(axis=1)
    np.testing.assert_allclose(seen.value, V, rtol=1e-6)
