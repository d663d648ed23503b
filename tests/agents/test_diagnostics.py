"""Diagnostics are read-only copies, of the same names whatever is played."""

import gymnasium
import numpy as np
import pytest
from reference.comparison import assert_sums_agree
from reference.features import Angles

from optimist import RmaxRaviUcb, Ucbvi, envs
from optimist.agents import Optimist, QLearning
from optimist.features import OneHot, PerAction

RIVER = envs.RiverSwim(6, gamma=0.9)


def a_stream(features):
    return Optimist(gymnasium.make("FrozenLake-v1"), features, gamma=0.9)


LEARNERS = {
    "default": lambda: Optimist(RIVER),
    "paper": lambda: RmaxRaviUcb(RIVER),
    "dense": lambda: RmaxRaviUcb(RIVER, features=PerAction(Angles(), 2)),
    "stream": lambda: a_stream(None),
    "dense stream": lambda: a_stream(PerAction(Angles(), 4)),
    "peer": lambda: Ucbvi(RIVER),
}


@pytest.mark.parametrize("name", LEARNERS)
def test_they_are_read_only_copies(name):
    agent = LEARNERS[name]()
    agent.learn(5)
    now = agent.diagnostics
    arrays = [value for value in vars(now).values() if isinstance(value, np.ndarray)]
    before = [array.tobytes() for array in arrays]
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 17
    agent.learn(50)
    assert [array.tobytes() for array in arrays] == before
    assert agent.diagnostics.V.tobytes() != now.V.tobytes()


@pytest.mark.parametrize("episodes", [0, 20])
@pytest.mark.parametrize("name", LEARNERS)
def test_they_are_of_one_shape(name, episodes):
    agent = LEARNERS[name]()
    if episodes:
        agent.learn(episodes)
    now = agent.diagnostics
    X, A = now.pi.shape
    assert now.V.shape == (X,)
    assert now.CB.shape == now.p.shape == (X, A)
    np.testing.assert_allclose(now.pi.sum(axis=1), 1.0)
    assert now.epoch == (agent.history.epoch[-1] if episodes else 0)
    if name == "peer":
        missing = {name for name, value in vars(now).items() if value is None}
        assert missing == {"ridge", "Lambda", "inverse", "log_det", "b", "s", "v", "theta"}
        return
    phi = agent.features
    size = phi.dim // phi.blocks
    assert now.Lambda.shape == now.inverse.shape == (phi.blocks, size, size)
    product = now.Lambda @ now.inverse
    np.testing.assert_allclose(product, np.tile(np.eye(size), (phi.blocks, 1, 1)), atol=1e-8)
    assert now.log_det == pytest.approx(np.linalg.slogdet(now.Lambda)[1].sum())
    assert now.b.shape == (phi.dim,)
    learnt = episodes > 0 and name not in ("paper", "dense")
    assert (now.s is not None, now.v is not None) == (learnt, learnt)


@pytest.mark.parametrize("features", [OneHot(16, 4), PerAction(Angles(), 4)], ids=["own", "shared"])
def test_transitions_are_the_data_of_the_regression(features):
    """Lambda = ridge I + sum phi phi', and b = sum phi (r + gamma V(x'))."""
    agent = a_stream(features)
    agent.learn(30)
    now, kept = agent.diagnostics, agent.transitions
    played = agent.environment
    assert (played.gamma, played.geometric, played.low, played.high) == (0.9, False, 0.0, 1.0)
    assert kept.phi.shape[:2] == kept.block.shape == now.pi.shape
    assert kept.weight.sum() == agent.steps
    assert kept.paid.sum() == agent.history.reward.sum()
    assert_sums_agree(agent)


@pytest.mark.parametrize("kind", [Optimist, RmaxRaviUcb, Ucbvi, QLearning])
def test_a_snapshot_holds_what_was_believed_when_it_was_taken(kind):
    agent = kind(RIVER)
    agent.learn(30)
    taken, now = agent.snapshot, agent.diagnostics
    episodes, steps = agent.episodes, agent.steps
    agent.learn(100)
    found = taken.beliefs
    assert found.value.tobytes() == now.V.tobytes()
    assert found.policy.tobytes() == now.pi.tobytes()
    assert found.bonus.tobytes() == now.CB.tobytes()
    assert found.ascension.tobytes() == now.p.tobytes()
    # Our own learn from all pairs but the last of each episode, and the peers do as well.
    assert found.visits.sum() == steps - episodes
    assert found.visits.sum() < agent.snapshot.beliefs.visits.sum()


def test_a_snapshot_says_where_visits_are_not_counted():
    assert np.isnan(LEARNERS["dense"]().snapshot.beliefs.visits).all()


def test_environments_have_no_snapshot():
    with pytest.raises(AttributeError, match="finite world"):
        _ = LEARNERS["stream"]().snapshot
