"""Estimates by a holdout of episodes."""

import gymnasium
import numpy as np
import pytest

import optimist as opt
from optimist import envs

RIVER = envs.RiverSwim(4, gamma=0.8)


def learner(**given):
    agent = opt.Optimist(RIVER, seed=0, stride=0, **given)
    agent.learn(100)
    return agent


def test_intervals_cover_as_often_as_they_say():
    """In short holdouts of skewed returns; half as wide, or at another level, they would not."""
    agent = learner()
    value, runs = RIVER.mdp.value(agent.diagnostics.pi), 300
    found = [agent.estimate(60, seed=seed) for seed in range(runs)]
    covers = np.mean([e.low <= value <= e.high for e in found])
    halves = np.mean([e.low <= 2 * value - e.value <= e.high for e in found])
    assert 0.92 <= covers <= 0.99
    assert halves < 0.8
    even = [agent.estimate(60, level=0.5, seed=seed) for seed in range(100)]
    assert 0.35 <= np.mean([e.low <= value <= e.high for e in even]) <= 0.65


def test_the_ends_of_the_interval_solve_halls_equation():
    agent = learner()
    found = agent.estimate(30, level=0.9)
    x = found.evaluation.returns
    s = x.std(ddof=1)
    g = ((x - x.mean()) ** 3).mean() / s**3
    assert found.value == pytest.approx(x.mean())
    assert abs(g) > 0.1
    for end, t in ((found.low, 1.6991270), (found.high, -1.6991270)):  # .95 of 29 degrees
        w = (x.mean() - end) / s
        q = w + g * w**2 / 3 + g**2 * w**3 / 27 + g / (6 * 30)
        assert q * np.sqrt(30) == pytest.approx(t, rel=1e-6)


def test_nothing_is_learnt_from_it_and_the_seed_decides_it():
    one, other = learner(), learner()
    first = one.estimate(50)
    np.testing.assert_array_equal(first.evaluation.returns, one.estimate(50).evaluation.returns)
    again = one.estimate(50, seed=1).evaluation.returns
    assert not np.array_equal(first.evaluation.returns, again)
    one.learn(50)
    other.learn(50)
    np.testing.assert_array_equal(one.history.reward, other.history.reward)
    assert one.episodes == other.episodes == 150


def test_the_holdout_is_not_the_episodes_it_learnt_from():
    """Even where the seed is the same number."""
    env = envs.Gym("FrozenLake-v1", gamma=0.9, options="is_slippery=true")
    agent = opt.Optimist(env, seed=0)
    agent.learn(60)
    assert not np.array_equal(agent.estimate(60).evaluation.steps, agent.history.steps)


@pytest.mark.parametrize("kind", ["dense", "environment", "mdp"])
def test_it_is_for_what_has_no_certificate(kind):
    rng = np.random.default_rng(0)
    if kind == "dense":
        agent = opt.RmaxRaviUcb(RIVER, opt.features.Table(rng.random((4, 2, 3))))
    elif kind == "environment":
        agent = opt.Optimist(envs.Gym("FrozenLake-v1", gamma=0.9))
    else:
        agent = opt.RmaxRaviUcb(RIVER.mdp)
    agent.learn(20)
    if kind != "mdp":
        with pytest.raises(ValueError, match=r"keeps none: agent\.estimate\(\)"):
            agent.certificate()
    found = agent.estimate(30)
    assert len(found.evaluation.returns) == 30
    assert found.low <= found.value <= found.high
    assert "not certified" in repr(found)
    assert "not a certificate" in found._repr_html_()
    if kind == "environment":
        assert found.hope is None
        assert "hopes" not in repr(found)
    else:
        assert found.hope == agent.history.optimistic_value[-1]
        assert "no bound" in repr(found)


def test_transition_probabilities_are_not_read():
    """It plays the environment that it is given, whatever the agent's own world has."""
    agent = learner()
    poor = envs.RiverSwim(4, gamma=0.8)
    free = gymnasium.wrappers.TransformReward(poor.make(), lambda reward: 0.0)
    found = agent.estimate(20, env=envs.GeometricReset(free, 0.8))
    assert (found.value, found.low, found.high) == (0.0, 0.0, 0.0)


def test_what_cannot_be_played_is_refused():
    with pytest.raises(ValueError, match="episodes must be at least 2; got 1"):
        learner().estimate(1)
    for level in (0, 1, 1.5):
        with pytest.raises(ValueError, match=r"level must be in \(0, 1\); got"):
            learner().estimate(10, level=level)
    own = opt.Optimist(envs.Gym(gymnasium.make("FrozenLake-v1"), gamma=0.9))
    own.learn(5)
    with pytest.raises(ValueError, match="env must be given: the agent plays an environment"):
        own.estimate(10)
    assert len(own.estimate(10, env="FrozenLake-v1").evaluation.returns) == 10
    agent = learner()
    with pytest.raises(ValueError, match="estimate was called while the agent is learning"):
        agent.learn(1, callback=lambda agent: agent.estimate(5) is None)
